"""Squares over nodes, and covariances scaled to unit variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._caching import computed_once
from gpgc._typing import Array, Index, Integers
from gpgc.kernels.covariance import Covariance, inverse_or_zero, scale_rows, take, times

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
        self.inner, self.landmarks = inner, landmarks
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine
        self.n_landmarks = inner.count(landmarks)

    def __repr__(self) -> str:
        return f"square({self.inner!r})"

    @computed_once
    def _columns(self) -> Array | None:
        """K[:, L] where it is small enough to keep."""
        if self.n_nodes * self.n_landmarks * self.dtype.itemsize > self.engine.budget(STORE_BYTES):
            return None
        columns = self.inner.correlation(self.landmarks)
        right = np.sqrt(self.inner.diag(self.landmarks))
        is_scaled = bool((right != 1).any())
        stored = np.empty((self.n_nodes, self.n_landmarks), dtype=self.dtype)

        def tile(part: slice) -> None:
            stored[part], deviation = columns(part)
            if (deviation != 1).any():
                stored[part] *= deviation[:, None]
            if is_scaled:
                stored[part] *= right

        self.engine.rows(self.n_nodes, self.n_landmarks * self.dtype.itemsize, tile)
        return stored

    def _to_landmarks(self, rows: Index, V: Array) -> Array:
        """Return K[rows, L] V."""
        stored = self._columns
        if stored is None:
            return self.inner.matmul(rows, self.landmarks, V)
        chosen = None if rows is None else self.indices(rows)
        out = np.empty((self.count(rows), V.shape[1]), dtype=self.dtype)

        def tile(part: slice) -> None:
            np.matmul(stored[part if chosen is None else chosen[part]], V, out=out[part])

        self.engine.rows(len(out), self.n_landmarks * self.dtype.itemsize, tile)
        return out

    def _from_landmarks(self, cols: Index, V: Any) -> Array:
        """Return K[L, cols] V / |L|."""
        if self._columns is None:
            product = self.inner.matmul(self.landmarks, cols, V)
        else:
            product = times(take(self._columns, cols).T, V)
        product /= self.n_landmarks
        return product

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
        out = np.empty(len(chosen), dtype=self.dtype)

        def tile(part: slice) -> None:
            block, deviation = correlation(chosen[part])
            block *= right
            out[part] = np.einsum("ij,ij->i", block, block) * deviation**2

        self.engine.rows(len(chosen), self.n_landmarks * self.dtype.itemsize, tile)
        return out / self.n_landmarks

    def dense(self) -> Array:
        """Return K[:, L] K[L, :] / |L|."""
        columns = take(self.inner.dense().T, self.landmarks).T
        return np.asarray(columns @ columns.T / self.n_landmarks)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return K[rows, L] (K[L, cols] V) / |L|."""
        return self._to_landmarks(rows, self._from_landmarks(cols, V))


class Unit(Covariance):
    """Γ_mn / √(Γ_mm Γ_nn): a covariance scaled to variance 1 (0 where the variance was 0).

    Parameters
    ----------
    inner : Covariance
        Γ.
    """

    def __init__(self, inner: Covariance) -> None:
        self.inner = inner
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine
        self.tileable = inner.tileable

    def __repr__(self) -> str:
        return f"unit({self.inner!r})"

    @computed_once
    def _inverse(self) -> Array:
        return inverse_or_zero(np.sqrt(self.inner.diag()))

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return the correlations of rows and columns."""
        block = self.inner.block(rows, cols)
        block *= take(self._inverse, rows)[:, None]
        block *= take(self._inverse, cols)
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return 1, or 0 where the inner variance is 0."""
        return np.asarray(take(self._inverse, rows) > 0, dtype=self.dtype)

    def dense(self) -> Array:
        """Return the correlations of all nodes."""
        matrix = self.inner.dense()
        inverse = inverse_or_zero(np.sqrt(np.diagonal(matrix)))
        return np.asarray(matrix * np.outer(inverse, inverse))

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return the correlations times V."""
        out = self.inner.matmul(rows, cols, scale_rows(take(self._inverse, cols), V))
        out *= take(self._inverse, rows)[:, None]
        return out
