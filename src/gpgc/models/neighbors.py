r"""A view by what a node has around it, told apart and not summed up: for unlike neighbors.

With :math:`\hat A_0`, Â without its diagonal, a node is described by its own features, those of its
neighbors and those of their neighbors side by side,
:math:`[\bar X,\; \mathrm{unit}(\hat A_0 \bar X),\; \mathrm{unit}(\hat A_0^2 \bar X)]`, so that what
a node is and what it has around it are two things. Rows are computed where they are asked for.
Sparse features whose sums over neighbors would be too large are projected first
(:mod:`gpgc.models.projection`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.compute.caching import computed_once
from gpgc.graph.nodes import JoinedNodes, Nodes, stack
from gpgc.graph.normalize import without_loops
from gpgc.kernels.covariance import GEMM_GAIN, inverse_or_zero, take
from gpgc.kernels.propagate import around
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.projection import Projection, projection_for
from gpgc.models.view import Description, Layers, Need, View, row_lengths, unit_rows

FEW = 64
"""How many times more nodes there are than few of them, whose neighborhoods are looked up."""

DENSE_BYTES = 2**28
"""Size up to which sparse rows may be made dense where products gain by it."""

WIDE_BYTES = 2**28
"""Size of sums over neighbors, and over theirs, from which on singular vectors stand for columns.
"""

ENTRY_BYTES = 12
"""Of an entry of a sparse matrix: a number and its column."""


class NeighborsView(View):
    """Own features, the neighbors' and those of theirs, side by side."""

    name: ClassVar[str] = "neighbors"
    needs: ClassVar[tuple[Need, ...]] = ("features", "links")

    def describe(self, nodes: Nodes, model: Layers, context: Context) -> Description:
        """Return [X̄, unit(Â₀X̄), unit(Â₀²X̄)]."""
        links, features = nodes.propagation_without_loops, nodes.features
        projection = projection_around(nodes, model.seed, context)
        if projection is not None:
            features = projection.apply(unit_rows(features))

        precise = replace(context, dtype=np.dtype(np.float64))
        few = NeighborRows(links, features, precise)

        def joined(nodes: JoinedNodes, known: Integers, context: Context) -> Description:
            to_old, among = nodes.split_rows()
            rows = NeighborRows(links, features, context) if len(known) else few
            own, between = nodes.new_features, without_loops(among)
            own = unit_rows(own if projection is None else projection.apply(unit_rows(own)))
            near = np.unique(to_old.indices)
            to_near = sp.csr_array(to_old[:, near])
            first = _sum(to_near @ rows.own(near), between @ own)
            second = _sum(to_near @ rows.first(near), between @ first)
            both = stack(rows.take(known)[0], side_by_side(own, first, second))
            return Description([StoredRows.of(unit_rows(both), context.dtype)])

        said = () if projection is None else projection.approximations
        rows = NeighborRows(links, features, context)
        return Description([rows], joined, approximations=said)


class NeighborRows(Rows):
    """The rows of [X̄, unit(Â₀ X̄), unit(Â₀² X̄)], from the neighborhoods of those asked for."""

    def __init__(self, links: sp.csr_array, features: Any, context: Context) -> None:
        self.links = links.astype(context.dtype, copy=False)
        self.features, self.context = features, context
        self.shape, self.dtype = (features.shape[0], 3 * features.shape[1]), context.dtype

    def own(self, index: Index) -> Any:
        """Return rows of X̄."""
        features = take(self.features, index)
        if sp.issparse(features):
            return unit_rows(features).astype(self.dtype, copy=False)
        return features.astype(self.dtype, copy=False) * take(self._scale, index)[:, None]

    def first(self, nodes: Integers) -> Any:
        """Return rows of Â₀ X̄."""
        links, near = self._links_of(nodes)
        return self._first[nodes] if near is None else links @ self.own(near)

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        if index is None or isinstance(index, slice):
            tile = slice(None) if index is None else index
            first = self._first[tile]
            if sp.issparse(self.features):
                second = self.links[tile] @ self._first
            else:
                rows_times = self.context.primitives(self.shape[0]).rows_times
                second = rows_times(self.links, tile, self._first)
        else:
            links, near = self._links_of(index)
            first = self.first(index)
            second = links @ (self._first if near is None else self.first(near))
        return neighbor_directions(self.own(index), first, second).take(None)

    def _links_of(self, nodes: Integers) -> tuple[sp.csr_array, Integers | None]:
        """Return rows of Â₀ over the few nodes that they reach, and these; None if many."""
        links = self.links[nodes]
        reached, near = around(links)
        return (reached, near) if FEW * len(near) <= self.shape[0] else (links, None)

    @computed_once
    def _scale(self) -> Array:
        return inverse_or_zero(row_lengths(self.features)).astype(self.dtype)

    @computed_once
    def _first(self) -> Any:
        if sp.issparse(self.features):
            return self.links @ self.own(None)
        # Â₀ X̄ = (Â₀ diag(1 / ‖x‖)) X: the directions of all rows are not held.
        scaled = sp.csr_array(self.links, copy=True)
        scaled.data *= self._scale[scaled.indices]
        features = np.ascontiguousarray(self.features, dtype=self.dtype)
        return self.context.multiply(scaled, features)


def neighbor_directions(own: Any, first: Any, second: Any) -> StoredRows:
    """Return the directions of rows of [X̄, unit(Â₀ X̄), unit(Â₀² X̄)], each part (n, F).

    Examples
    --------
    >>> own, first, second = np.array([[[1.0, 0]], [[0, 5.0]], [[0, 0]]])
    >>> rows, lengths = neighbor_directions(own, first, second).take(None)
    >>> rows.round(2), lengths.round(2)
    (array([[0.71, 0.  , 0.  , 0.71, 0.  , 0.  ]]), array([1.]))
    """
    parts = (own, first, second)
    if any(sp.issparse(part) for part in parts):
        return StoredRows.of(unit_rows(side_by_side(*parts)), own.dtype)
    lengths = np.array([row_lengths(part) for part in parts])
    # Each part that is not 0 has length 1, so that they have √(number of such parts) together.
    scales = inverse_or_zero(lengths) * inverse_or_zero(np.sqrt((lengths > 0).sum(axis=0) + 0.0))
    scaled = [
        part * scale[:, None] for part, scale in zip(parts, scales.astype(own.dtype), strict=True)
    ]
    return StoredRows(np.hstack(scaled), np.asarray(lengths.any(axis=0), own.dtype))


def side_by_side(own: Any, first: Any, second: Any) -> Any:
    """Return [X̄, unit(first), unit(second)], sparse if all are, and large or this is faster."""
    parts = [own, unit_rows(first), unit_rows(second)]
    if all(sp.issparse(part) for part in parts):
        entries, size = sum(part.nnz for part in parts), 3 * own.shape[0] * own.shape[1]
        if entries * GEMM_GAIN < size or size * own.dtype.itemsize > DENSE_BYTES:
            return sp.hstack(parts, format="csr")
    return np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])


def projection_around(nodes: Nodes, seed: int, context: Context) -> Projection | None:
    """Return the singular vectors of sparse features whose sums over neighbors are too large.

    Like those of features that are too wide to diffuse, they depend on the data alone.
    """
    links, features = nodes.propagation_without_loops, nodes.features
    if not sp.issparse(features):
        return None
    pattern = sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), links.shape)
    own = np.diff(features.indptr).astype(np.float64)
    near = np.minimum(pattern @ own, features.shape[1])
    far = np.minimum(pattern @ near, features.shape[1])
    if ENTRY_BYTES * float(own.sum() + near.sum() + far.sum()) <= WIDE_BYTES:
        return None
    return projection_for(features, nodes.keys(seed), seed, context)


def _sum(left: Any, right: Any) -> Any:
    """Return the sum of two matrices of which both or none are sparse."""
    return sp.csr_array(left + right) if sp.issparse(left) else np.asarray(left + right)
