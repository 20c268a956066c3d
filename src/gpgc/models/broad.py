r"""*broad*: a network that looks near and far, and judges nodes by what they are alike to.

For each of three reaches a, features diffuse by personalised PageRank from rows of length
:math:`\tilde d^{-1/2}` (hubs speak softly), pass an infinitely wide ReLU layer on their directions,
and the covariance is squared over all nodes and scaled to unit variance; their mean is Γ:

.. math::
    Z_a = \mathrm{PageRank}_a(\hat A)\, \tilde D^{-1/2} \bar X, \qquad
    k_a = \hat\kappa(\cos(Z_a, Z_a)), \qquad
    \Gamma = \delta_W\, \tfrac13 \sum_a \mathrm{unit}(k_a k_a)

where the rows of :math:`\bar X` have length 1. On larger graphs the square runs over a seeded
sample of landmarks, so that cost stays linear in N.

Where neighbours are unlike each other the graph misleads. The same covariance without the graph,
:math:`k_1` on :math:`\bar X` alone, is therefore at hand to be mixed in or to take over if
leave-one-out says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
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
from gpgc.kernels.covariance import inverse_or_zero, take
from gpgc.kernels.diffusion import pageranks
from gpgc.kernels.rows import StoredRows
from gpgc.models.architecture import Architecture

REACHES = (0.05, 0.1, 0.3)
"""Teleports of the PageRanks, far to near."""

STEPS = 20

FEATURE_FRACTIONS = (0.0, 1 / 3, 1.0)
"""Fractions of the features' own covariance, from trust in the graph to none."""

EXACT_NODES = 2000
"""Number of nodes up to which every node is a landmark."""

N_LANDMARKS = 1000

SKETCH_BYTES = 2**30
"""Size of the diffused features from which they are projected to ``SKETCH_COLUMNS`` columns."""

SKETCH_COLUMNS = 1024
SKETCH_ENTRIES = 8


class BroadNetwork:
    """*broad* on one graph; see :func:`gpgc.models.build` for the parameters."""

    usual_noise = 10**-2.25

    def __init__(
        self,
        architecture: Architecture,
        propagation: sp.csr_array,
        features: Any,
        dtype: Any,
        engine: Engine,
    ) -> None:
        self.architecture, self._features = architecture, features
        self._dtype, self._engine = np.dtype(dtype), engine
        n_nodes = propagation.shape[0]
        start = sp.eye_array(n_nodes, format="csr") if features is None else features
        self._sketch = self._draw_sketch(*start.shape)
        columns = start.shape[1] if self._sketch is None else SKETCH_COLUMNS
        engine.require(
            (len(REACHES) + 1) * n_nodes * columns * self._dtype.itemsize,
            f"the diffused features of {n_nodes:,} nodes",
        )
        restart = self._dense(_unit_rows(start, propagation.diagonal() ** 0.5))
        diffused = pageranks(propagation, restart, REACHES, STEPS, engine)
        self._lengths = [_scale_to_unit(rows) for rows in diffused]
        self._rows = [self._unit(rows) for rows in diffused]
        self.landmarks: Integers | None = None
        if n_nodes > EXACT_NODES:
            rng = np.random.default_rng(architecture.seed)
            self.landmarks = np.sort(rng.choice(n_nodes, N_LANDMARKS, replace=False))
        self._by_graph = self._mean(self._rows, self.landmarks)
        self.covariance = self.covariance_at(0.0)

    def variant(self, architecture: Architecture) -> Self:
        """Return another architecture on the same graph, with the same diffused features."""
        other = copy(self)
        other.architecture = architecture
        other._by_graph = other._mean(self._rows, self.landmarks)
        other.covariance = other.covariance_at(0.0)
        return other

    def candidates(self, rows: Integers, columns: Integers) -> Iterator[tuple[float, Array]]:
        """Give fractions of the features' own covariance with the Γ[rows, columns] they lead to."""
        by_graph = self._by_graph.block(rows, columns)
        weight = self.architecture.weight_variance
        yield 0.0, weight * by_graph
        if self._features is None:
            return
        known = self._known(np.union1d(rows, columns))
        index = (np.searchsorted(known, nodes) for nodes in (rows, columns))
        by_features = self._feature_view(known, self._landmarks_in(known)).block(*index)
        for fraction in FEATURE_FRACTIONS[1:]:
            yield fraction, weight * ((1 - fraction) * by_graph + fraction * by_features)

    def covariance_at(self, fraction: float) -> Covariance:
        """Return Γ of all nodes with this fraction of the features' own covariance."""
        by_features = self._feature_view(None, self.landmarks) if fraction else None
        return self._mixed(self._by_graph, by_features, fraction)

    def by_features(self) -> Covariance | None:
        """Return k k of the features alone, at unit variance."""
        return None if self._features is None else self._feature_view(None, self.landmarks)

    def for_planning(self) -> Covariance:
        """Return k of the farthest reach, not squared.

        The square sees few directions, which a handful of labels exhausts; where to begin is seen
        better in all of them.
        """
        return self._layers(self._leaf(self._rows[0]))

    def join(
        self, rows: sp.csr_array, features: Any, labelled: Integers, fraction: float
    ) -> tuple[Covariance, Integers, Integers]:
        """Return the covariance of landmarks, labelled and new nodes.

        The fitted nodes' diffused features stay; the new nodes' are the fixed point given those.
        Without features a new node is known by its links alone.
        """
        n_new, n_all = rows.shape
        n_old = n_all - n_new
        to_old, among = sp.csr_array(rows[:, :n_old]), sp.csr_array(rows[:, n_old:])
        restart = np.zeros((n_new, self._rows[0].shape[1]), dtype=self._dtype)
        if features is not None:
            restart = self._dense(_unit_rows(features, among.diagonal() ** 0.5))
        known = self._known(labelled)
        joined = []
        for teleport, fitted, lengths in zip(REACHES, self._rows, self._lengths, strict=True):
            reached = sp.csr_array(to_old @ sp.diags_array(lengths)).astype(self._dtype)
            inflow = (1 - teleport) * (reached @ fitted.directions) + teleport * restart
            new = inflow
            for _ in range(STEPS):
                new = (1 - teleport) * (among @ new) + inflow
            new = new.astype(self._dtype)
            _scale_to_unit(new)
            joined.append(self._unit(np.vstack([fitted.directions[known], new])))
        landmarks = self._landmarks_in(known)
        by_features = self._feature_view(known, landmarks, features) if fraction else None
        covariance = self._mixed(self._mean(joined, landmarks), by_features, fraction)
        fresh = np.arange(len(known), len(known) + n_new)
        return covariance, fresh, np.searchsorted(known, labelled)

    def _known(self, labelled: Integers) -> Integers:
        """Return the sorted nodes that a covariance with the labelled ones is made of."""
        if self.landmarks is None:
            return np.arange(self._rows[0].shape[0])
        return np.union1d(self.landmarks, labelled)

    def _landmarks_in(self, known: Integers) -> Integers:
        return known if self.landmarks is None else np.searchsorted(known, self.landmarks)

    def _unit(self, directions: Array) -> StoredRows:
        """Return directions as rows of length 1, or 0."""
        return StoredRows(directions, np.asarray(directions.any(axis=1), self._dtype))

    def _mean(self, rows: list[StoredRows], landmarks: Integers | None) -> Covariance:
        return Mix([self._view(self._leaf(part), landmarks) for part in rows])

    def _leaf(self, rows: StoredRows) -> Covariance:
        kernel = base_kernel_from(self.architecture.base_kernel)
        return Features.of_rows(kernel, rows, self._engine)

    def _feature_view(
        self, known: Index, landmarks: Integers | None, new: Any = None
    ) -> Covariance:
        rows = take(self._features, known)
        if new is not None:
            both = [sp.csr_array(rows), sp.csr_array(new)]
            rows = sp.vstack(both, format="csr") if sp.issparse(rows) else np.vstack([rows, new])
        kernel = base_kernel_from(self.architecture.base_kernel)
        return self._view(Features(kernel, _unit_rows(rows), self._dtype, self._engine), landmarks)

    def _view(self, leaf: Covariance, landmarks: Integers | None) -> Covariance:
        return Unit(Square(self._layers(leaf), landmarks))

    def _layers(self, layer: Covariance) -> Covariance:
        for _ in range(self.architecture.depth - 1):
            layer = Activate(Affine(layer, bias_variance=self.architecture.bias_variance))
        return layer

    def _mixed(
        self, by_graph: Covariance, by_features: Covariance | None, fraction: float
    ) -> Covariance:
        inner = by_graph
        if by_features is not None:
            inner = Mix([by_graph, by_features], [1 - fraction, fraction])
        return Affine(inner, self.architecture.weight_variance)

    def _draw_sketch(self, n_nodes: int, n_features: int) -> sp.csr_array | None:
        """Return a sparse random projection (F, k) where diffused features would not fit."""
        size = n_nodes * n_features * self._dtype.itemsize
        if n_features <= SKETCH_COLUMNS or size <= self._engine.budget(SKETCH_BYTES):
            return None
        rng = np.random.default_rng(self.architecture.seed)
        shape = (n_features, SKETCH_ENTRIES)
        columns = rng.integers(SKETCH_COLUMNS, size=shape)
        signs = rng.choice([-1.0, 1.0], size=shape) / np.sqrt(SKETCH_ENTRIES)
        features = np.repeat(np.arange(n_features), SKETCH_ENTRIES)
        entries = (signs.ravel(), (features, columns.ravel()))
        return sp.csr_array(entries, shape=(n_features, SKETCH_COLUMNS))

    def _dense(self, rows: Any) -> Array:
        """Return rows as a dense array, projected where they would not fit."""
        product = rows if self._sketch is None else rows @ self._sketch
        product = product.astype(self._dtype, copy=False)
        return np.asarray(product.toarray() if sp.issparse(product) else product)


def _unit_rows(rows: Any, lengths: Any = 1.0) -> Any:
    """Return rows scaled to the given lengths; rows of zeros stay."""
    if sp.issparse(rows):
        norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64))
        return sp.csr_array(sp.diags_array(inverse_or_zero(norms) * lengths) @ rows)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return rows * (inverse_or_zero(norms) * lengths)[:, None].astype(rows.dtype)


def _scale_to_unit(rows: Array) -> Array:
    """Scale rows to length 1 in place, rows of zeros but for those, and return their lengths."""
    lengths: Array = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows *= inverse_or_zero(lengths)[:, None]
    return lengths
