"""Rows of features as directions of length 1 beside their lengths."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.compute.caching import LeavesCachesBehind
from gpgc.compute.primitives import NUMPY
from gpgc.kernels.covariance import GEMM_GAIN, Columns, inverse_or_zero, take

DENSE_LIMIT = 2**28
"""Bytes up to which the right-hand side of a sparse product may be made dense."""


class Rows(LeavesCachesBehind, ABC):
    """N rows of F features each."""

    CACHES: tuple[str, ...] = ("_all",)

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
