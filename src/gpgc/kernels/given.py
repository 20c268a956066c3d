"""Covariances that are known: a matrix, or what two means add."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.kernels.covariance import Covariance, take, times


class Given(Covariance):
    """An N × N matrix that is there already: computed elsewhere, or a layer that is kept."""

    def __init__(self, matrix: Array, context: Context | None = None) -> None:
        super().__init__(len(matrix), context or Context(matrix.dtype), tileable=True)
        self.matrix = matrix

    def __repr__(self) -> str:
        return f"given({self.n_nodes} x {self.n_nodes})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return a copy of Γ[rows, cols]."""
        if isinstance(rows, slice) and cols is None:
            return self.matrix[rows].copy()
        return np.array(self.matrix[np.ix_(self.indices(rows), self.indices(cols))])

    def diag(self, rows: Index = None) -> Array:
        """Return the diagonal; rounding below 0 is taken as 0."""
        return np.maximum(np.diagonal(self.matrix)[self.indices(rows)], 0)

    def dense(self) -> Array:
        """Return a copy of the matrix."""
        return self.matrix.copy()

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Γ[rows, cols] @ V."""
        return times(self.block(rows, cols), V)

    def local(self, groups: Integers) -> Array:
        """Return the blocks of small groups."""
        return np.array(self.matrix[groups[:, :, None], groups[:, None, :]])


class Cross(Covariance):
    """u vᵀ + v uᵀ: E[(g + h)(g + h)ᵀ] − E[g gᵀ] − E[h hᵀ] of independent g, h with means u, v.

    Not positive semi-definite by itself: a summand of a :class:`Mix`, with no weights below it.
    """

    def __init__(self, left: Array, right: Array, context: Context) -> None:
        super().__init__(len(left), context, tileable=True)
        self.left, self.right = left.astype(self.dtype), right.astype(self.dtype)

    def __repr__(self) -> str:
        return f"cross({self.n_nodes})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return u[rows] v[cols]ᵀ + v[rows] u[cols]ᵀ."""
        u, v = take(self.left, rows), take(self.right, rows)
        return np.asarray(np.outer(u, take(self.right, cols)) + np.outer(v, take(self.left, cols)))

    def diag(self, rows: Index = None) -> Array:
        """Return 2 u v."""
        return np.asarray(2 * take(self.left, rows) * take(self.right, rows))

    def dense(self) -> Array:
        """Return u vᵀ + v uᵀ."""
        return self.block()

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return the block times V."""
        return times(self.block(rows, cols), V)
