"""Rows of S X, computed in tiles where they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Columns, inverse_or_zero, take
from gpgc.kernels.rows import DENSE_LIMIT, Rows, StoredRows

DENSE_FROM = 0.15
"""Fraction of non-zeros in S X from which a dense product is cheaper than a sparse one."""

FEATURES_FIRST = 0.25
"""Fraction of non-zeros in X up to which compiled S (X R) is cheaper than a dense (S X) R."""


class PropagatedRows(Rows):
    """The rows of S X: a tile of them never leaves the cache.

    Parameters
    ----------
    matrix : csr_array of shape (M, N)
        S.
    features : array of shape (N, F), or csr_array where loops are compiled
        X, of the same dtype.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, matrix: sp.csr_array, features: Any, context: Context) -> None:
        self.matrix, self.features, self.context = matrix, features, context
        self.shape, self.dtype = (matrix.shape[0], features.shape[1]), features.dtype

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows; asked for all of them, keep them."""
        if index is None or "_stored" in self.__dict__:
            return self._stored.take(index)
        return self._compute(index)

    def stored(self) -> StoredRows:
        """Return all rows, computed once."""
        return self._stored

    def lengths_of_all(self) -> Array:
        """Return the lengths of all rows, computed once."""
        return self._stored.lengths if "_stored" in self.__dict__ else self._lengths

    @computed_once
    def _lengths(self) -> Array:
        lengths = np.empty(self.shape[0], dtype=self.dtype)

        row_bytes = self.shape[1] * self.dtype.itemsize
        self.context.fill(lengths, lambda rows: self._compute(rows)[1], row_bytes)
        return lengths

    @computed_once
    def _stored(self) -> StoredRows:
        size = self.shape[0] * self.shape[1] * self.dtype.itemsize
        self.context.require(size, f"the propagated features of {self.shape[0]:,} nodes")
        directions = np.empty(self.shape, dtype=self.dtype)
        lengths = np.empty(self.shape[0], dtype=self.dtype)

        def tile(rows: slice) -> None:
            directions[rows], lengths[rows] = self._compute(rows)

        tiles = self.context.tiles(self.shape[0], self.shape[1] * self.dtype.itemsize)
        self.context.map(tile, tiles)
        return StoredRows(directions, lengths)

    def _compute(self, index: slice | Integers) -> tuple[Array, Array]:
        product = self.context.primitives(self.shape[0]).rows_times(
            self.matrix, index, self.features
        )
        return self.context.primitives(self.shape[0]).scale_rows(product)


class FeaturesFirstRows(Rows):
    """The rows of S X for a sparse X, whose products with R are S (X R): fewer than (S X) R.

    Parameters
    ----------
    rows : Rows
        Those of S X.
    matrix, features : csr_array of shapes (M, N) and (N, F)
        S and X, of the same dtype.
    context : Context
        How arithmetic is done.
    """

    CACHES = (*Rows.CACHES, "_products")
    _products: tuple[Integers, Array, Array] | None = None

    def __init__(
        self, rows: Rows, matrix: sp.csr_array, features: sp.csr_array, context: Context
    ) -> None:
        self.rows, self.matrix, self.features, self.context = rows, matrix, features, context
        self.shape, self.dtype = rows.shape, rows.dtype

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        return self.rows.take(index)

    def stored(self) -> StoredRows:
        """Return all rows, computed once."""
        return self.rows.stored()

    def lengths_of_all(self) -> Array:
        """Return the lengths of all rows."""
        return self.rows.lengths_of_all()

    def cosines(self, cols: Index, context: Context) -> tuple[Columns, Array]:
        """Return a function of rows that gives their cosines with the columns and their lengths.

        The products X R are kept for the next who asks for the same columns.
        """
        wanted = np.arange(self.shape[0])[cols] if isinstance(cols, slice) else cols
        row_bytes = self.features.shape[0] * self.dtype.itemsize
        if wanted is None or row_bytes * len(wanted) > context.budget(DENSE_LIMIT):
            return self.rows.cosines(cols, context)
        kept = self._products
        if kept is None or not np.array_equal(kept[0], wanted):
            right, right_lengths = self.take(wanted)
            by_feature = (right.toarray() if sp.issparse(right) else right).T
            kept = self._products = wanted, self._times_features(by_feature), right_lengths
        _, products, right_lengths = kept
        lengths, matrix = self.lengths_of_all(), self._unit_matrix

        def columns(rows: Index) -> tuple[Array, Array]:
            index = slice(None) if rows is None else rows
            return self.context.primitives(self.shape[0]).rows_times(matrix, index, products), take(
                lengths, rows
            )

        return columns, right_lengths

    def _times_features(self, right: Array) -> Array:
        """Return X @ right."""
        by_feature = np.ascontiguousarray(right)
        products = np.empty((self.features.shape[0], right.shape[1]), dtype=self.dtype)

        def tile(rows: slice) -> Array:
            return self.context.primitives(self.shape[0]).rows_times(
                self.features, rows, by_feature
            )

        self.context.fill(products, tile, products.strides[0])
        return products

    @computed_once
    def _unit_matrix(self) -> sp.csr_array:
        """S with its rows divided by the lengths of those of S X."""
        counts = np.diff(self.matrix.indptr)
        data = self.matrix.data * np.repeat(inverse_or_zero(self.lengths_of_all()), counts)
        return sp.csr_array((data, self.matrix.indices, self.matrix.indptr), self.matrix.shape)


def propagated_rows(propagation: sp.csr_array, features: Any, context: Context) -> Rows:
    """Return the rows of S X: stored where they are sparse, computed in tiles where dense.

    How dense S X can be at the most is known from the rows' numbers of entries, before the product.

    Parameters
    ----------
    propagation : csr_array of shape (M, N)
        S.
    features : array or sparse matrix of shape (N, F)
        X.
    context : Context
        How arithmetic is done.
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
            rows = StoredRows.of(matrix @ inputs, dtype)
            return FeaturesFirstRows(rows, matrix, inputs, context)
        if context.primitives(n_nodes).multiplies_sparse and features.nnz <= FEATURES_FIRST * size:
            inputs = sp.csr_array(features, dtype=dtype)
            return FeaturesFirstRows(
                PropagatedRows(matrix, inputs, context), matrix, inputs, context
            )
        context.require(size * dtype.itemsize, what)
        return PropagatedRows(matrix, features.astype(dtype).toarray(), context)
    values = np.asarray(features)
    if values.dtype != dtype:
        context.require(values.size * dtype.itemsize, what)
    return PropagatedRows(matrix, values.astype(dtype, copy=False), context)
