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
from gpgc.kernels import (
    Activate,
    Affine,
    Covariance,
    DenseLayers,
    Features,
    GraphLayers,
    Propagate,
    base_kernel_from,
)
from gpgc.kernels.propagated_rows import propagated_rows
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.architecture import Architecture

MOST_ENTRIES = 10**10
"""Entries of one layer's covariance that a deep network may need."""

STORED_BYTES = 2**29
"""Size of the N × N matrices up to which a network of three layers stores them."""


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
        self.covariance = self._layers(self._hidden(propagation), self._rows)

    def variant(self, architecture: Architecture) -> Self:
        """Return another architecture on the same graph, with the same propagated rows."""
        other = copy(self)
        other.architecture = architecture
        other.covariance = other._layers(other._hidden(self.propagation), self._rows)
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
        field = _field(self.propagation, field, depth - 1)
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
        return self._layers(None, self._input(alone, self.features))

    def for_planning(self) -> Covariance:
        """Return Γ itself."""
        return self.covariance

    def join(
        self, rows: sp.csr_array, features: Any, labelled: Integers, fraction: float
    ) -> tuple[Covariance, Integers, Integers]:
        """Return the covariance of the receptive field of the new and the labelled nodes.

        It is computed in float64 whatever the fit was computed in: products of float32 differ in
        their last digits with the number of rows, and a node's answer must not depend on which
        others join with it.
        """
        n_new, n_all = rows.shape
        n_old = n_all - n_new
        wide = self.propagation.copy()
        wide.resize((n_old, n_all))
        propagation = sp.vstack([wide, rows], format="csr")
        fresh = np.arange(n_old, n_all)
        field = np.union1d(labelled, fresh)
        if self.architecture.model == "big":
            field = _field(propagation, field, self.architecture.depth - 1)
        rows = sp.csr_array(propagation[field])
        hidden = sp.csr_array(rows[:, field])
        if features is None:
            inputs: Rows = StoredRows.of(rows, np.dtype(np.float64))
        else:
            reached = np.unique(rows.indices)
            known = reached[reached < n_old]
            stacked = _stack(self.features[known], features[reached[len(known) :] - n_old])
            inputs = propagated_rows(
                sp.csr_array(rows[:, reached]), stacked, np.dtype(np.float64), self._engine
            )
        covariance = self._layers(self._hidden(hidden), inputs)
        return covariance, np.searchsorted(field, fresh), np.searchsorted(field, labelled)

    def _hidden(self, propagation: sp.csr_array) -> sp.csr_array | None:
        """Return the matrix that hidden layers propagate by; None for *small*."""
        return propagation if self.architecture.model == "big" else None

    def _input(self, propagation: sp.csr_array, features: Any) -> Rows:
        """Return the rows of ÂX."""
        if features is None:
            return StoredRows.of(propagation, np.dtype(self._dtype))
        return propagated_rows(propagation, features, np.dtype(self._dtype), self._engine)

    def _layers(self, propagation: sp.csr_array | None, rows: Rows) -> Covariance:
        """Return Γ for given input rows and hidden layers that propagate by a matrix or not."""
        network = self.architecture
        variances = network.weight_variance, network.bias_variance
        kernel = base_kernel_from(network.base_kernel)
        layer: Covariance = Features.of_rows(kernel, rows, self._engine)
        layer = Affine(layer, *variances)
        n_hidden = network.depth - 1
        while n_hidden and (n_hidden == network.depth - 1 or self._is_streamed(layer)):
            layer = Activate(layer)
            if propagation is not None:
                layer = Propagate(propagation, layer)
            layer = Affine(layer, *variances)
            n_hidden -= 1
        if not n_hidden:
            return layer
        if propagation is None:
            return DenseLayers(layer, n_hidden, *variances)
        return GraphLayers(layer, propagation, n_hidden, *variances)

    def _is_streamed(self, layer: Covariance) -> bool:
        """Return whether two hidden layers of *big* are better streamed than stored."""
        if self.architecture.model != "big" or self.architecture.depth != 3:
            return False
        size = GraphLayers.bytes_for(layer.n_nodes, layer.dtype)
        return size > self._engine.budget(STORED_BYTES)


def _field(propagation: sp.csr_array, nodes: Integers, hops: int) -> Integers:
    """Return the sorted nodes within some hops of given ones; Â has self-loops."""
    field = np.unique(nodes)
    for _ in range(hops):
        wider = np.unique(propagation[field].indices)
        if len(wider) == len(field):
            break
        field = wider
    return field


def _stack(fitted: Any, new: Any) -> Any:
    if sp.issparse(fitted) or sp.issparse(new):
        return sp.vstack([sp.csr_array(fitted), sp.csr_array(new)], format="csr")
    return np.vstack([fitted, new])
