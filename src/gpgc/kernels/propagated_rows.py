"""Rows of S X, computed in tiles where they are asked for."""

from __future__ import annotations

from functools import partial
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
