"""A covariance that is known as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.kernels.covariance import Covariance, times


class Given(Covariance):
    """An N × N matrix that is there already: computed elsewhere, or a layer that is kept.

    Parameters
    ----------
    matrix : array of shape (N, N)
        Γ, symmetric and positive semi-definite; it is not copied.
    context : Context, optional
        How arithmetic is done; of the matrix's dtype when not given.

    Examples
    --------
    >>> Given(np.eye(2)).block([0], [0, 1])
    array([[1., 0.]])
    """

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
