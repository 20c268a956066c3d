"""Rows of features as directions of length 1 beside their lengths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.compute.caching import LeavesCachesBehind
from gpgc.compute.primitives import NUMPY
from gpgc.kernels.covariance import Columns, inverse_or_zero, take

DENSE_LIMIT = 2**28
"""Bytes up to which the right-hand side of a sparse product may be made dense."""

KEPT_BYTES = 2**24
"""Size up to which cosines are kept for the next who asks for the same columns."""

KEPT_FRACTION = 1 / 16
"""Fraction of all rows that the columns must be for their cosines to be worth keeping."""


class Rows(LeavesCachesBehind, ABC):
    """N rows of F features each."""

    CACHES: tuple[str, ...] = ("_kept",)

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    _kept: tuple[Integers, Array, Array] | None = None

    @abstractmethod
    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions (of length 1, or 0) and lengths of the rows that an index names."""

    @abstractmethod
    def stored(self) -> StoredRows:
        """Return all rows, computed once, for whoever needs them again and again."""

    @abstractmethod
    def lengths_of_all(self) -> Array:
        """Return the lengths of all rows."""

    def cosines(self, cols: Index, context: Context) -> tuple[Columns, Array]:
        """Return a function of rows that gives their cosines with the columns and their lengths.

        The second answer are the lengths of the columns. Cosines of few bytes are kept: a fit asks
        for the columns at the labels' neighbours twice, for Γ_DD at their own rows, which are a
        good part of a small graph, and for the means at all rows; and a choice among base kernels
        asks once more for each.

        Parameters
        ----------
        cols : index
            Which rows are the columns.
        context : Context
            How arithmetic is done.
        """
        right, lengths = self.take(cols)
        n_rows, n_cols = self.shape[0], len(lengths)
        size = n_rows * n_cols * self.dtype.itemsize
        if size > context.budget(KEPT_BYTES) or n_cols < KEPT_FRACTION * n_rows:
            return self._with(right, context), lengths
        wanted = np.arange(n_rows)[slice(None) if cols is None else cols]
        found = self._kept
        if found is None or not np.array_equal(found[0], wanted):
            computed = self._with(right, context)
            block = np.empty((n_rows, n_cols), dtype=self.dtype)
            all_lengths = np.empty(n_rows, dtype=self.dtype)

            def tile(part: slice) -> None:
                block[part], all_lengths[part] = computed(part)

            context.map(tile, context.tiles(n_rows, n_cols * self.dtype.itemsize))
            found = self._kept = wanted, block, all_lengths
        _, kept, kept_lengths = found
        return lambda rows: (np.array(take(kept, rows)), take(kept_lengths, rows)), lengths

    def _with(self, right: Any, context: Context) -> Columns:
        """Return a function of rows that gives their products with some directions."""
        by_feature = right.T
        if sp.issparse(right):
            fits = right.shape[0] * right.shape[1] * self.dtype.itemsize
            is_small = fits <= context.budget(DENSE_LIMIT)
            by_feature = right.toarray(order="F").T if is_small else right.T.tocsr()

        def columns(rows: Index) -> tuple[Array, Array]:
            unit, lengths = self.take(rows)
            product = unit @ by_feature
            return (product.toarray() if sp.issparse(product) else product), lengths

        return columns


class StoredRows(Rows):
    """Rows whose directions and lengths are known.

    Parameters
    ----------
    directions : array or csr_array of shape (N, F)
        Rows of length 1, or 0.
    lengths : array of shape (N,)
    """

    def __init__(self, directions: Any, lengths: Array) -> None:
        self.directions, self.lengths = directions, lengths
        self.shape, self.dtype = directions.shape, directions.dtype

    @classmethod
    def of(cls, features: Any, dtype: np.dtype[Any], *, overwrite: bool = False) -> StoredRows:
        """Measure and scale the rows of an array or sparse matrix; rows of zeros stay.

        With ``overwrite`` a dense array may be changed, which saves a copy of it.
        """
        return cls(*_directions(features, dtype, overwrite))

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        return take(self.directions, index), take(self.lengths, index)

    def stored(self) -> StoredRows:
        """Return these rows."""
        return self

    def lengths_of_all(self) -> Array:
        """Return the lengths of all rows."""
        return self.lengths


class DirectionsOf(Rows):
    """The directions of dense rows, scaled where they are asked for: no second array is held.

    Every row counts as one of length 1, or 0.

    Parameters
    ----------
    features : array of shape (N, F)
        The rows.
    dtype : numpy dtype
        In which directions are given.
    """

    def __init__(self, features: Array, dtype: np.dtype[Any]) -> None:
        self.features, self.shape, self.dtype = features, features.shape, dtype
        norms = np.sqrt(np.einsum("ij,ij->i", features, features, dtype=np.float64))
        self._scale: Array = inverse_or_zero(norms).astype(dtype)

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        scale = take(self._scale, index)
        directions = take(self.features, index).astype(self.dtype, copy=False)
        return directions * scale[:, None], self._lengths(scale)

    def stored(self) -> StoredRows:
        """Return all directions, as an array."""
        return StoredRows(*self.take(None))

    def lengths_of_all(self) -> Array:
        """Return 1, or 0, for all rows."""
        return self._lengths(self._scale)

    def _lengths(self, scale: Array) -> Array:
        return (scale > 0).astype(self.dtype)


def _directions(features: Any, dtype: np.dtype[Any], overwrite: bool) -> tuple[Any, Array]:
    """Return the rows scaled to length 1 (rows of zeros stay) and their lengths."""
    if sp.issparse(features):
        unit = sp.csr_array(features, dtype=dtype, copy=True)
        squares = sp.csr_array((unit.data**2, unit.indices, unit.indptr), shape=unit.shape)
        norms = np.sqrt(squares.sum(axis=1, dtype=np.float64))
        unit.data *= np.repeat(inverse_or_zero(norms), np.diff(unit.indptr)).astype(dtype)
        return unit, norms.astype(dtype)
    array = np.asarray(features, dtype=dtype)
    is_ours = overwrite or array is not features
    return NUMPY.scale_rows(array if is_ours else array.copy())
