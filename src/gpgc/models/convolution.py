r"""The paper's networks *small* and *big*.

.. math::
    \Gamma^{(1)} = \sigma_b^2 + \delta_W K_\theta(\hat A X), \qquad
    \Gamma^{(l)} = \sigma_b^2 + \delta_W P\, \kappa(\Gamma^{(l-1)})\, P^\top

with P = Â for *big* and P = I for *small* (section "GPs with Two-Layer GCNs").
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.engine import Engine
from gpgc.errors import InputError
from gpgc.kernels import Activate, Affine, Covariance, Features, Propagate, base_kernel_from
from gpgc.kernels.propagated_rows import propagated_rows
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.architecture import Architecture

MOST_ENTRIES = 10**10
"""Entries of one layer's covariance that a deep network may need."""


class ConvolutionNetwork:
    """*small* or *big* on one graph; see :func:`gpgc.models.build` for the parameters."""

    usual_noise = 0.2

    def __init__(
        self,
        architecture: Architecture,
        propagation: sp.csr_array,
        features: Any,
        dtype: Any,
        engine: Engine,
    ) -> None:
        self.architecture, self.propagation, self.features = architecture, propagation, features
        self._dtype, self._engine = dtype, engine
        self._rows = self._input(propagation, features)
        self.covariance = self._layers(propagation, self._rows)

    def variant(self, architecture: Architecture) -> Self:
        """Return another architecture on the same graph, with the same propagated rows."""
        other = copy(self)
        other.architecture = architecture
        other.covariance = other._layers(self.propagation, self._rows)
        return other

    def candidates(self, rows: Integers, columns: Integers) -> Iterator[tuple[float, Array]]:
        """Give Γ[rows, columns]; these networks have no choice of trust."""
        self._check_field(columns)
        yield 0.0, self.covariance.block(rows, columns)

    def _check_field(self, labelled: Integers) -> None:
        """Refuse depths whose receptive field makes the exact covariance hopeless."""
        depth, field = self.architecture.depth, np.asarray(labelled)
        if self.architecture.model != "big" or depth < 3:
            return
        for _ in range(depth - 1):
            field = np.unique(self.propagation[field].indices)
        n_nodes = self.propagation.shape[0]
        if len(field) * n_nodes > MOST_ENTRIES:
            raise InputError(
                f"depth={depth} is too deep for this graph: {depth - 1} hops from the labels reach "
                f"{len(field):,} of {n_nodes:,} nodes, so the exact covariance needs "
                f"{len(field) * n_nodes:.1e} entries a layer where {MOST_ENTRIES:.0e} are allowed; "
                "use depth=2, model='small' or model='broad'"
            )

    def covariance_at(self, fraction: float) -> Covariance:
        """Return Γ, whatever the fraction: these networks have no choice of trust."""
        return self.covariance

    def by_features(self) -> Covariance | None:
        """Return Γ of the same layers where no node has a neighbour."""
        if self.features is None:
            return None
        alone = sp.eye_array(self.covariance.n_nodes, format="csr")
        return self._layers(alone, self._input(alone, self.features))

    def for_planning(self) -> Covariance:
        """Return Γ itself."""
        return self.covariance

    def join(
        self, rows: sp.csr_array, features: Any, labelled: Integers, fraction: float
    ) -> tuple[Covariance, Integers, Integers]:
        """Return the covariance of the receptive field of the new and the labelled nodes."""
        n_new, n_all = rows.shape
        n_old = n_all - n_new
        wide = self.propagation.copy()
        wide.resize((n_old, n_all))
        propagation = sp.vstack([wide, rows], format="csr")
        fresh = np.arange(n_old, n_all)
        field = np.union1d(labelled, fresh)
        if self.architecture.model == "big":
            for _ in range(self.architecture.depth - 1):
                field = np.unique(propagation[field].indices)
        rows = propagation[field]
        stacked = None if features is None else _stack(self.features, features)
        covariance = self._layers(sp.csr_array(rows[:, field]), self._input(rows, stacked))
        return covariance, np.searchsorted(field, fresh), np.searchsorted(field, labelled)

    def _input(self, propagation: sp.csr_array, features: Any) -> Rows:
        """Return the rows of ÂX."""
        if features is None:
            return StoredRows.of(propagation, np.dtype(self._dtype))
        return propagated_rows(propagation, features, np.dtype(self._dtype), self._engine)

    def _layers(self, propagation: sp.csr_array, rows: Rows) -> Covariance:
        """Return Γ for given input rows and hidden layers that propagate by a matrix."""
        network = self.architecture
        kernel = base_kernel_from(network.base_kernel)
        layer: Covariance = Features.of_rows(kernel, rows, self._engine)
        layer = Affine(layer, network.weight_variance, network.bias_variance)
        for _ in range(network.depth - 1):
            layer = Activate(layer)
            if network.model == "big":
                layer = Propagate(propagation, layer)
            layer = Affine(layer, network.weight_variance, network.bias_variance)
        return layer


def _stack(fitted: Any, new: Any) -> Any:
    if sp.issparse(fitted) or sp.issparse(new):
        return sp.vstack([sp.csr_array(fitted), sp.csr_array(new)], format="csr")
    return np.vstack([fitted, new])
