r"""What a node has around it, told apart and not summed up: views for graphs of unlike neighbours.

With :math:`\hat A_0`, Â without its diagonal, a node is described by

- *neighbours*: its own features, those of its neighbours and those of their neighbours side by
  side, :math:`[\bar X,\; \mathrm{unit}(\hat A_0 \bar X),\; \mathrm{unit}(\hat A_0^2 \bar X)]`, so
  that what a node is and what it has around it are two things;
- *structure*: whom it is linked with, the rows of :math:`\hat A_0`, which are those of
  :math:`A \tilde D^{-1/2}` up to their lengths;
- *degrees*: :mod:`gpgc.models.degrees`.

Only directions count. Rows are computed where they are asked for. Sparse features whose sums over
neighbours would be too large are projected first (:mod:`gpgc.models.projection`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.compute.caching import computed_once
from gpgc.compute.primitives import Primitives
from gpgc.graph.nodes import JoinedNodes, Nodes, stack
from gpgc.graph.normalize import without_loops
from gpgc.kernels.covariance import GEMM_GAIN, Columns, inverse_or_zero, take
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.described import Description, KnownRows, row_lengths, unit_rows
from gpgc.models.projection import WIDE, Projection, projection_for

FEW = 64
"""How many times more nodes there are than few of them, whose neighbourhoods are looked up."""

DENSE_BYTES = 2**28
"""Size up to which sparse rows may be made dense where products gain by it."""

ENTRY_BYTES = 12
"""Of an entry of a sparse matrix: a number and its column."""


class Neighbours(Description):
    """Own features, neighbours' and theirs, side by side.

    Parameters
    ----------
    nodes : Nodes
        The graph with its features.
    context : Context
        How arithmetic is done.
    seed : int, default 0
        Of the projection of features that are too wide.
    """

    def __init__(self, nodes: Nodes, context: Context, seed: int = 0) -> None:
        self.links = nodes.propagation_without_loops
        self.projection = _projection_around(self.links, nodes.features, seed, context)
        self.approximations = self.projection.approximations
        self.features = self._narrow(nodes.features)
        self.rows = (NeighbourRows(self.links, self.features, context),)

    def _narrow(self, features: Any) -> Any:
        """Return features as they are, or the projection of their directions."""
        if self.projection.matrix is None:
            return features
        return self.projection.apply(unit_rows(features)).toarray()

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the rows of both; new nodes change nothing around the fitted ones."""
        to_old, among = nodes.split_rows()
        own, links = unit_rows(self._narrow(nodes.new_features)), without_loops(among)
        near = np.unique(to_old.indices)
        to_near = sp.csr_array(to_old[:, near])
        rows = NeighbourRows(self.links, self.features, context)
        first = _sum(to_near @ rows.own(near), links @ own)
        second = _sum(to_near @ rows.first(near), links @ first)
        fitted, _ = rows.take(known)
        both = stack(fitted, side_by_side(own, first, second))
        return KnownRows((StoredRows.of(unit_rows(both), context.dtype),))


class NeighbourRows(Rows):
    """The rows of [X̄, unit(Â₀ X̄), unit(Â₀² X̄)], from the neighbourhoods of those asked for.

    Parameters
    ----------
    links : csr_array of shape (N, N)
        Â₀.
    features : array or csr_array of shape (N, F)
        X.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, links: sp.csr_array, features: Any, context: Context) -> None:
        self.links, self.features, self.context = links, features, context
        self.shape, self.dtype = (features.shape[0], 3 * features.shape[1]), context.dtype

    def own(self, index: Index) -> Any:
        """Return rows of X̄."""
        if "_inverse_lengths" in self.__dict__:
            scale = take(self._inverse_lengths, index)[:, None]
            return take(self.features, index).astype(self.dtype, copy=False) * scale
        return unit_rows(take(self.features, index)).astype(self.dtype, copy=False)

    def first(self, index: Index) -> Any:
        """Return rows of Â₀ X̄."""
        if "_first" in self.__dict__ or index is None:
            return take(self._first, index)
        links, near = around(take(self.links, index).astype(self.dtype))
        return links @ self.own(near)

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        is_tile = index is None or isinstance(index, slice)
        if is_tile and not sp.issparse(self.features):
            second = self._primitives.rows_times(self._links, index or slice(None), self._first)
        else:
            links, near = take(self.links, index).astype(self.dtype), None
            if not (is_tile or "_first" in self.__dict__):
                reached, columns = around(links)
                if FEW * len(columns) <= self.shape[0]:
                    links, near = reached, columns
            second = links @ self.first(near)
        return neighbour_directions(self.own(index), self.first(index), second).take(None)

    @computed_once
    def _first(self) -> Any:
        if sp.issparse(self.features):
            return self.links.astype(self.dtype) @ self.own(None)
        # Â₀ X̄ = (Â₀ diag(1 / ‖x‖)) X: the directions of all rows are not held.
        scaled = sp.csr_array(self._links, copy=True)
        scaled.data *= self._inverse_lengths[scaled.indices]
        features = np.ascontiguousarray(self.features, dtype=self.dtype)
        out = np.empty(features.shape, dtype=self.dtype)
        rows_times = self._primitives.rows_times
        self.context.fill(out, lambda tile: rows_times(scaled, tile, features), out.strides[0])
        return out

    @computed_once
    def _links(self) -> sp.csr_array:
        return self.links.astype(self.dtype)

    @computed_once
    def _inverse_lengths(self) -> Array:
        return inverse_or_zero(row_lengths(self.features)).astype(self.dtype)

    @property
    def _primitives(self) -> Primitives:
        return self.context.primitives(self.shape[0])

    @computed_once
    def _stored(self) -> StoredRows:
        return StoredRows(*self.take(None))

    def stored(self) -> StoredRows:
        """Return all rows, computed once."""
        return self._stored

    def lengths_of_all(self) -> Array:
        """Return the lengths of all rows."""
        return self._stored.lengths

    def cosines(self, cols: Index, context: Context) -> tuple[Columns, Array]:
        """Return a function of rows that gives their cosines with the columns and their lengths.

        Nothing is kept: mostly these rows are asked for at labels alone, to see what they say.
        """
        right, lengths = self.take(cols)
        return self._with(right, context), lengths


class Links(Description):
    """Whom each node is linked with.

    Parameters
    ----------
    nodes : Nodes
        The graph.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, nodes: Nodes, context: Context) -> None:
        self.links = nodes.propagation_without_loops
        self.rows = (LinkRows(self.links, context.dtype),)

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the links of both to fitted nodes; those among new nodes do not count."""
        both = sp.vstack([self.links[known], nodes.split_rows()[0]], format="csr")
        return KnownRows((LinkRows(both, context.dtype),))


class LinkRows(Rows):
    """The directions of sparse rows with as many columns as there are nodes, which stay sparse.

    Parameters
    ----------
    links : csr_array of shape (N, M)
        The rows.
    dtype : numpy dtype
        In which directions are given.
    """

    def __init__(self, links: sp.csr_array, dtype: np.dtype[Any]) -> None:
        self.links, self.shape, self.dtype = links, links.shape, dtype

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows: 1, or 0 without links."""
        if "_stored" in self.__dict__:
            return self._stored.take(index)
        return link_directions(take(self.links, index), self.dtype).take(None)

    @computed_once
    def _stored(self) -> StoredRows:
        return StoredRows(*self.take(None))

    def stored(self) -> StoredRows:
        """Return all rows, computed once."""
        return self._stored

    def lengths_of_all(self) -> Array:
        """Return the lengths of all rows."""
        return self._stored.lengths

    def cosines(self, cols: Index, context: Context) -> tuple[Columns, Array]:
        """Return a function of rows that gives their cosines with the columns and their lengths."""
        return sparse_cosines(self, cols)


class SparseRows(StoredRows):
    """Known directions that are sparse, such as those of links to some of the nodes."""

    def cosines(self, cols: Index, context: Context) -> tuple[Columns, Array]:
        """Return a function of rows that gives their cosines with the columns and their lengths."""
        return sparse_cosines(self, cols)


def sparse_cosines(rows: Rows, cols: Index) -> tuple[Columns, Array]:
    """Return what :meth:`gpgc.kernels.rows.Rows.cosines` does, by products of sparse rows."""
    right, lengths = rows.take(cols)
    by_column = sp.csr_array(right.T)

    def columns(index: Index) -> tuple[Array, Array]:
        unit, of_rows = rows.take(index)
        return (unit @ by_column).toarray(), of_rows

    return columns, lengths


def link_directions(links: sp.csr_array, dtype: np.dtype[Any]) -> StoredRows:
    """Return the directions of some rows of Â₀, and their lengths: 1, or 0 without links."""
    return StoredRows.of(unit_rows(links), dtype)


def neighbour_directions(own: Any, first: Any, second: Any) -> StoredRows:
    """Return the directions of some rows of [X̄, unit(Â₀ X̄), unit(Â₀² X̄)].

    Parameters
    ----------
    own, first, second : arrays or csr_arrays of shape (n, F)
        Rows of X̄, Â₀ X̄ and Â₀² X̄, in the number format of the answer.

    Examples
    --------
    >>> own, first, second = np.array([[[1.0, 0]], [[0, 5.0]], [[0, 0]]])
    >>> rows, lengths = neighbour_directions(own, first, second).take(None)
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


def _projection_around(
    links: sp.csr_array, features: Any, seed: int, context: Context
) -> Projection:
    """Return the projection of sparse features whose sums over neighbours are too large, or none.

    Like that of features that are too wide to diffuse, it depends on the data alone.
    """
    n_columns = features.shape[1]
    if sp.issparse(features):
        pattern = sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), links.shape)
        entries = [np.diff(features.indptr).astype(np.float64)]
        for _ in range(2):
            entries.append(np.minimum(pattern @ entries[-1], n_columns))
        size = ENTRY_BYTES * float(np.sum(entries))
        if size > WIDE.n_bytes:
            return projection_for(features, seed, context)
    return Projection(None, n_columns)


def around(rows: sp.csr_array) -> tuple[sp.csr_array, Integers]:
    """Return rows over the columns that they reach, and those columns.

    Examples
    --------
    >>> links, near = around(sp.csr_array([[0.0, 0, 1], [0, 0, 2]]))
    >>> links.toarray().tolist(), near.tolist()
    ([[1.0], [2.0]], [2])
    """
    near, position = np.unique(rows.indices, return_inverse=True)
    shape = (rows.shape[0], len(near))
    return sp.csr_array((rows.data, position, rows.indptr), shape=shape), near


def _sum(left: Any, right: Any) -> Any:
    """Return the sum of two matrices of which both or none are sparse."""
    return sp.csr_array(left + right) if sp.issparse(left) else np.asarray(left + right)
