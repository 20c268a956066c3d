"""Rows of features, stored or propagated: directions of length 1 beside their lengths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.compute.caching import LeavesCachesBehind, computed_once
from gpgc.compute.primitives import NUMPY
from gpgc.kernels.covariance import GEMM_GAIN, Columns, inverse_or_zero, take

DENSE_LIMIT = 2**28
"""Bytes up to which the right-hand side of a sparse product may be made dense."""

DENSE_FROM = 0.15
"""Fraction of non-zeros in S X from which a dense product is cheaper than a sparse one."""

FEATURES_FIRST = 0.25
"""Fraction of non-zeros in X up to which compiled S (X R) is cheaper than a dense (S X) R."""


class Rows(LeavesCachesBehind, ABC):
    """N rows of F features each."""

    CACHES: ClassVar[tuple[str, ...]] = ("_all",)

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    _all: StoredRows | None = None

    @abstractmethod
    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions (of length 1, or 0) and lengths of the rows that an index names."""

    def stored(self) -> StoredRows:
        """Return all rows, computed once, for whoever needs them again and again."""
        if self._all is None:
            self._all = StoredRows(*self.take(None))
        return self._all

    def gathered(self, nodes: Integers) -> tuple[Any, Array]:
        """Return the rows of nodes for whoever asks for many groups of them, again and again."""
        return self.stored().take(nodes)

    def cosines(self, cols: Index, context: Context) -> Columns:
        """Return the cosines of rows with some of them, the columns, and lengths."""
        right, lengths = self.take(cols)
        return Columns(partial(self.times, right_hand_side(right, context)), lengths)

    def times(self, right: Any, rows: Index) -> tuple[Array, Array]:
        """Return directions of rows times a right-hand side, and the lengths of rows."""
        unit, lengths = self.take(rows)
        product = unit @ right
        return (product.toarray() if sp.issparse(product) else product), lengths


class StoredRows(Rows):
    """Rows whose directions (N, F), before they are scaled if a scale is given, are stored."""

    def __init__(self, directions: Any, lengths: Array, scale: Array | None = None) -> None:
        self.directions, self.lengths, self.scale = directions, lengths, scale
        self.shape, self.dtype = directions.shape, lengths.dtype

    @classmethod
    def of(cls, features: Any, dtype: np.dtype[Any], *, overwrite: bool = False) -> StoredRows:
        """Measure and scale the rows of an array or sparse matrix; rows of zeros stay.

        With ``overwrite`` a dense array may be changed, which saves a copy of it.
        """
        if sp.issparse(features):
            unit = sp.csr_array(features, dtype=dtype, copy=True)
            squares = sp.csr_array((unit.data**2, unit.indices, unit.indptr), shape=unit.shape)
            norms = np.sqrt(squares.sum(axis=1, dtype=np.float64))
            unit.data *= np.repeat(inverse_or_zero(norms), np.diff(unit.indptr)).astype(dtype)
            return cls(unit, norms.astype(dtype))
        array = np.asarray(features, dtype=dtype)
        is_ours = overwrite or array is not features
        return cls(*NUMPY.scale_rows(array if is_ours else array.copy()))

    @classmethod
    def directions_of(cls, features: Any, dtype: np.dtype[Any]) -> StoredRows:
        """Return rows of length 1, or 0, scaled where they are asked for: no second array."""
        if sp.issparse(features):
            norms = np.sqrt(features.multiply(features).sum(axis=1, dtype=np.float64))
        else:
            norms = np.sqrt(np.einsum("ij,ij->i", features, features, dtype=np.float64))
        own = np.result_type(features, np.float32)
        norms[norms < np.finfo(own).tiny] = 0.0  # whose inverse would not be a number
        return cls(features, (norms > 0).astype(dtype), inverse_or_zero(norms).astype(own))

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        directions = take(self.directions, index)
        if self.scale is not None:
            scale = take(self.scale, index)
            if sp.issparse(directions):
                directions = sp.csr_array(sp.diags_array(scale) @ directions, dtype=self.dtype)
            else:
                directions = (directions * scale[:, None]).astype(self.dtype, copy=False)
        return directions, take(self.lengths, index)

    def stored(self) -> StoredRows:
        """Return these rows."""
        return self


def right_hand_side(directions: Any, context: Context) -> Any:
    """Return the transpose of directions, dense where it fits and products are faster so."""
    if not sp.issparse(directions):
        return directions.T
    size = directions.shape[0] * directions.shape[1]
    is_dense = directions.nnz * GEMM_GAIN >= size
    if is_dense and size * directions.dtype.itemsize <= context.budget(DENSE_LIMIT):
        return directions.toarray(order="F").T
    return directions.T.tocsr()


class PropagatedRows(Rows):
    """The rows of S X, of which a tile never leaves the cache, or ``known`` where S X is sparse.

    For a sparse X products with directions R are S (X R), which are fewer than those of (S X) R.
    """

    CACHES = (*Rows.CACHES, "_kept", "_n_gathered")
    _n_gathered = 0
    _kept: tuple[Integers, Array, Array] | None = None

    def __init__(
        self,
        matrix: sp.csr_array,
        features: Any,
        context: Context,
        known: StoredRows | None = None,
    ) -> None:
        self.matrix, self.features, self.context, self.known = matrix, features, context, known
        self.shape, self.dtype = (matrix.shape[0], features.shape[1]), features.dtype
        self.features_first = sp.issparse(features)

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows; asked for all of them, keep them."""
        found = self.known or self._all
        if found is not None or index is None:
            return (found or self.stored()).take(index)
        primitives = self.context.primitives(self.shape[0])
        return primitives.scale_rows(primitives.rows_times(self.matrix, index, self.features))

    def stored(self) -> StoredRows:
        """Return all rows, computed once."""
        if self.known is None and self._all is None:
            row_bytes = self.shape[1] * self.dtype.itemsize
            what = f"the propagated features of {self.shape[0]:,} nodes"
            self.context.require(self.shape[0] * row_bytes, what)
            directions = np.empty(self.shape, dtype=self.dtype)
            lengths = np.empty(self.shape[0], dtype=self.dtype)

            def tile(rows: slice) -> Array:
                directions[rows], of_rows = self.take(rows)
                return of_rows

            self.context.fill(lengths, tile, row_bytes)
            self._all = StoredRows(directions, lengths)
        return self.known or super().stored()

    def gathered(self, nodes: Integers) -> tuple[Any, Array]:
        """Return rows, which are stored once as many were asked for as there are nodes."""
        self._n_gathered += len(nodes)
        stored = self._n_gathered > self.shape[0]
        return self.stored().take(nodes) if stored else self.take(nodes)

    def cosines(self, cols: Index, context: Context) -> Columns:
        """Return the cosines of rows with some of them, the columns, and lengths.

        X R is kept where it fits: a fit asks for the columns at the labels' neighbors twice.
        """
        wanted = np.arange(self.shape[0])[cols] if isinstance(cols, slice) else cols
        row_bytes = self.dtype.itemsize * (0 if wanted is None else len(wanted))
        size = self.features.shape[0] * row_bytes
        if wanted is None or not self.features_first or size > context.budget(DENSE_LIMIT):
            return super().cosines(cols, context)
        kept = self._kept
        if kept is None or not np.array_equal(kept[0], wanted):
            right, lengths = self.take(wanted)
            by_feature = np.ascontiguousarray((right.toarray() if sp.issparse(right) else right).T)
            self._kept = kept = wanted, context.multiply(self.features, by_feature), lengths
        return Columns(partial(self._from_features, kept[1]), kept[2])

    def _from_features(self, products: Array, rows: Index) -> tuple[Array, Array]:
        """Return directions of rows times R from X R, and the lengths of rows."""
        lengths, matrix = self._lengths_and_scaled
        multiply = self.context.primitives(self.shape[0]).rows_times
        return multiply(matrix, slice(None) if rows is None else rows, products), take(
            lengths, rows
        )

    @computed_once
    def _lengths_and_scaled(self) -> tuple[Array, sp.csr_array]:
        """The lengths of the rows of S X, and S with its rows divided by them."""
        found = self.known or self._all
        if found is None:
            lengths = np.empty(self.shape[0], dtype=self.dtype)
            row_bytes = self.shape[1] * self.dtype.itemsize
            self.context.fill(lengths, lambda rows: self.take(rows)[1], row_bytes)
        else:
            lengths = found.lengths
        indices, indptr = self.matrix.indices, self.matrix.indptr
        data = self.matrix.data * np.repeat(inverse_or_zero(lengths), np.diff(indptr))
        return lengths, sp.csr_array((data, indices, indptr), self.matrix.shape)


def propagated_rows(propagation: sp.csr_array, features: Any, context: Context) -> Rows:
    """Return the rows of S X: stored where they are sparse, computed in tiles where dense.

    How dense S X can be at the most is known from the rows' numbers of entries, before the product.
    """
    dtype = context.dtype
    matrix = propagation.astype(dtype)
    n_nodes, size = propagation.shape[0], propagation.shape[0] * features.shape[1]
    what = f"the features of {n_nodes:,} nodes"
    if sp.issparse(features):
        entries = int(np.diff(features.indptr)[propagation.indices].sum())
        if entries < DENSE_FROM * size or size * dtype.itemsize > context.budget(4 * DENSE_LIMIT):
            context.require(2 * min(entries, size) * (dtype.itemsize + 4), what)
            inputs = sp.csr_array(features, dtype=dtype)
            known = StoredRows.of(matrix @ inputs, dtype)
            return PropagatedRows(matrix, inputs, context, known)
        if context.primitives(n_nodes).multiplies_sparse and features.nnz <= FEATURES_FIRST * size:
            return PropagatedRows(matrix, sp.csr_array(features, dtype=dtype), context)
        context.require(size * dtype.itemsize, what)
        return PropagatedRows(matrix, features.astype(dtype).toarray(), context)
    values = np.asarray(features)
    if values.dtype != dtype:
        context.require(values.size * dtype.itemsize, what)
    return PropagatedRows(matrix, values.astype(dtype, copy=False), context)
