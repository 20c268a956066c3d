"""Squares over nodes: two nodes are alike if they are alike to the same nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance, take, times

STORE_BYTES = 2**27
"""Size of K[:, L] up to which it is kept, so that it is computed once."""


class Square(Covariance):
    """K[:, L] K[L, :] / |L|: two nodes are alike if they are alike to the same nodes.

    With all nodes as landmarks L this is K K / N, which raises each eigenvalue of K to its square
    and so trusts the directions in which the whole graph varies most. A sample of landmarks
    estimates the same sum at a cost that is linear in N.

    Parameters
    ----------
    inner : Covariance
        K.
    landmarks : int array, optional
        L; all nodes when not given.
    """

    def __init__(self, inner: Covariance, landmarks: Integers | None = None) -> None:
        super().__init__(inner.n_nodes, inner.context)
        self.inner, self.landmarks = inner, landmarks
        self.n_landmarks = inner.count(landmarks)

    def __repr__(self) -> str:
        return f"square({self.inner!r})"

    @property
    def is_streamed(self) -> bool:
        """Whether K[:, L] is too large to keep, and computed where it is asked for."""
        size = self.n_nodes * self.n_landmarks * self.dtype.itemsize
        return size > self.context.budget(STORE_BYTES)

    @computed_once
    def _columns(self) -> Array | None:
        """K[:, L] where it is small enough to keep."""
        return None if self.is_streamed else self._columns_at(None)

    def _columns_at(self, rows: Index) -> Array:
        """Compute K[rows, L] in tiles."""
        columns = self.column_function()
        start = rows.start or 0 if isinstance(rows, slice) else 0
        chosen = None if rows is None or isinstance(rows, slice) else self.indices(rows)

        def tile(part: slice) -> Array:
            here = slice(part.start + start, part.stop + start)
            return columns(here if chosen is None else chosen[part])

        out = np.empty((self.count(rows), self.n_landmarks), dtype=self.dtype)
        self.context.fill(out, tile, self.n_landmarks * self.dtype.itemsize)
        return out

    def column_function(self) -> Callable[[Index], Array]:
        """Return a function of rows that gives K[rows, L], √∣L∣ times the root.

        What the landmarks take is prepared once; the caller may not change the answer.
        """
        stored = self.__dict__.get("_columns")
        if stored is not None:
            return lambda rows: np.asarray(take(stored, rows))
        columns = self.inner.correlation(self.landmarks)
        right = np.sqrt(self.inner.diag(self.landmarks))
        is_scaled = bool((right != 1).any())

        def at(rows: Index) -> Array:
            block, std = columns(rows)
            if (std != 1).any():
                block *= std[:, None]
            if is_scaled:
                block *= right
            return block

        return at

    def _to_landmarks(self, rows: Index, V: Array) -> Array:
        """Return K[rows, L] V."""
        stored = self._columns
        if stored is None:
            return self.inner.matmul(rows, self.landmarks, V)
        chosen = None if rows is None else self.indices(rows)

        def tile(part: slice) -> Array:
            return np.asarray(stored[part if chosen is None else chosen[part]] @ V)

        out = np.empty((self.count(rows), V.shape[1]), dtype=self.dtype)
        self.context.fill(out, tile, self.n_landmarks * self.dtype.itemsize)
        return out

    def _from_landmarks(self, cols: Index, V: Any) -> Array:
        """Return K[L, cols] V / |L|."""
        if self._columns is None:
            product = self.inner.matmul(self.landmarks, cols, V)
        else:
            product = times(take(self._columns, cols).T, V)
        product /= self.n_landmarks
        return product

    @property
    def rank(self) -> int:
        """The number of landmarks."""
        return self.n_landmarks

    def root(self, rows: Index = None) -> Array:
        """Return K[rows, L] / √|L|."""
        if "_columns" in self.__dict__ and self._columns is not None:
            columns = np.array(take(self._columns, rows))
        else:
            columns = self._columns_at(rows)
        columns *= self.dtype.type(self.n_landmarks**-0.5)
        return columns

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return K[rows, L] K[L, cols] / |L| from the narrower side."""
        if self.count(cols) > self.count(rows):
            return self.block(cols, rows).T
        if self._columns is None:
            right = self.inner.block(self.landmarks, cols)
            right /= self.n_landmarks
        else:
            right = take(self._columns, cols).T / self.n_landmarks
        return self._to_landmarks(rows, right)

    def diag(self, rows: Index = None) -> Array:
        """Return the row sums of K[rows, L]² / |L|, in tiles of rows."""
        if self._columns is not None:
            stored = take(self._columns, rows)
            return np.asarray(np.einsum("ij,ij->i", stored, stored) / self.n_landmarks)
        chosen = self.indices(rows)
        correlation = self.inner.correlation(self.landmarks)
        right = np.sqrt(self.inner.diag(self.landmarks))

        def tile(part: slice) -> Array:
            block, std = correlation(chosen[part])
            block *= right
            return np.asarray(np.einsum("ij,ij->i", block, block) * std**2)

        out = np.empty(len(chosen), dtype=self.dtype)
        self.context.fill(out, tile, self.n_landmarks * self.dtype.itemsize)
        return out / self.n_landmarks

    def dense(self) -> Array:
        """Return K[:, L] K[L, :] / |L|."""
        columns = take(self.inner.dense().T, self.landmarks).T
        return np.asarray(columns @ columns.T / self.n_landmarks)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return K[rows, L] (K[L, cols] V) / |L|."""
        return self._to_landmarks(rows, self._from_landmarks(cols, V))
