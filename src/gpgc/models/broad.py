r"""*broad*: a network that looks near and far, and judges nodes by what they are alike to.

For each of two reaches a, features diffuse by personalised PageRank from rows of length
:math:`\tilde d^{-1/2}` (hubs speak softly), pass an infinitely wide ReLU layer on their directions,
and the covariance is squared over all nodes and scaled to unit variance; the mean of the two
reaches is Γ:

.. math::
    Z_a = \mathrm{PageRank}_a(\hat A)\, \tilde D^{-1/2} \bar X, \qquad
    k_a = \hat\kappa(\cos(Z_a, Z_a)), \qquad
    \Gamma = \delta_W\, \tfrac12 \sum_a \mathrm{unit}(k_a k_a)

where the rows of :math:`\bar X` have length 1. On large graphs the square runs over a seeded sample
of landmarks, so that cost stays linear in N.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.engine import Engine
from gpgc.kernels import (
    Activate,
    Affine,
    Covariance,
    Features,
    Mix,
    Square,
    Unit,
    base_kernel_from,
)
from gpgc.kernels.covariance import inverse_or_zero
from gpgc.kernels.diffusion import PageRank
from gpgc.models.architecture import Architecture

REACHES = ((0.05, 20), (0.2, 10))
"""Teleport and steps of the two PageRanks: far and near."""

EXACT_NODES = 4000
"""Number of nodes up to which every node is a landmark."""

N_LANDMARKS = 2500

SKETCH_BYTES = 2**30
"""Size of the diffused features from which they are projected to ``SKETCH_COLUMNS`` columns."""

SKETCH_COLUMNS = 512
SKETCH_ENTRIES = 8


class BroadNetwork:
    """*broad* on one graph; see :func:`gpgc.models.build` for the parameters."""

    def __init__(
        self,
        architecture: Architecture,
        propagation: sp.csr_array,
        features: Any,
        dtype: Any,
        engine: Engine,
    ) -> None:
        self.architecture = architecture
        self._dtype, self._engine = np.dtype(dtype), engine
        n_nodes = propagation.shape[0]
        start = sp.eye_array(n_nodes, format="csr") if features is None else features
        self._n_features = start.shape[1]
        self._sketched = n_nodes * self._n_features * self._dtype.itemsize > SKETCH_BYTES
        degrees = 1 / propagation.diagonal()
        restart = self._project(_unit_rows(start, degrees**-0.5))
        self._diffused = [
            PageRank(propagation, teleport, steps).apply(restart) for teleport, steps in REACHES
        ]
        self.landmarks: Integers | None = None
        if n_nodes > EXACT_NODES:
            rng = np.random.default_rng(architecture.seed)
            self.landmarks = np.sort(rng.choice(n_nodes, N_LANDMARKS, replace=False))
        self.covariance = self._layers(self._diffused, self.landmarks)

    def join(
        self, rows: sp.csr_array, features: Any, labelled: Integers
    ) -> tuple[Covariance, Integers, Integers]:
        """Return the covariance of landmarks, labelled and new nodes.

        The fitted nodes' diffused features stay; the new nodes' are the fixed point given those.
        Without features a new node is known by its links alone.
        """
        n_new, n_all = rows.shape
        n_old = n_all - n_new
        to_old, among = sp.csr_array(rows[:, :n_old]), sp.csr_array(rows[:, n_old:])
        restart = np.zeros((n_new, self._diffused[0].shape[1]), dtype=self._dtype)
        if features is not None:
            degrees = 1 / among.diagonal()
            restart = self._project(_unit_rows(features, degrees**-0.5))
        kept = np.arange(n_old) if self.landmarks is None else np.union1d(self.landmarks, labelled)
        diffused = []
        for (teleport, steps), fitted in zip(REACHES, self._diffused, strict=True):
            inflow = (1 - teleport) * (to_old @ fitted) + teleport * restart
            new = inflow
            for _ in range(steps):
                new = (1 - teleport) * (among @ new) + inflow
            diffused.append(np.vstack([fitted[kept], new]).astype(self._dtype))
        landmarks = kept if self.landmarks is None else np.searchsorted(kept, self.landmarks)
        covariance = self._layers(diffused, landmarks)
        return covariance, np.arange(len(kept), len(kept) + n_new), np.searchsorted(kept, labelled)

    def _layers(self, diffused: list[Array], landmarks: Integers | None) -> Covariance:
        network = self.architecture
        kernel = base_kernel_from(network.base_kernel)
        views: list[Covariance] = []
        for inputs in diffused:
            layer: Covariance = Features(kernel, _unit_rows(inputs), self._dtype, self._engine)
            for _ in range(network.depth - 1):
                layer = Activate(Affine(layer, bias_variance=network.bias_variance))
            views.append(Unit(Square(layer, landmarks)))
        return Affine(Mix(views), network.weight_variance)

    def _project(self, rows: Any) -> Array:
        """Return rows as a dense array, projected to fewer columns where it would not fit."""
        if not self._sketched:
            return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=self._dtype)
        rng = np.random.default_rng(self.architecture.seed)
        shape = (self._n_features, SKETCH_ENTRIES)
        columns = rng.integers(SKETCH_COLUMNS, size=shape)
        signs = rng.choice([-1.0, 1.0], size=shape) / np.sqrt(SKETCH_ENTRIES)
        features = np.repeat(np.arange(self._n_features), SKETCH_ENTRIES)
        sketch = sp.csr_array(
            (signs.ravel(), (features, columns.ravel())), shape=(self._n_features, SKETCH_COLUMNS)
        )
        product = rows @ sketch
        return np.asarray(product.toarray() if sp.issparse(product) else product, self._dtype)


def _unit_rows(rows: Any, lengths: Any = 1.0) -> Any:
    """Return rows scaled to the given lengths; rows of zeros stay."""
    if sp.issparse(rows):
        norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64))
        return sp.csr_array(sp.diags_array(inverse_or_zero(norms) * lengths) @ rows)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return rows * (inverse_or_zero(norms) * lengths)[:, None].astype(rows.dtype)
