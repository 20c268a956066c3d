"""A covariance that is known as a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.kernels.covariance import Both, times
from gpgc.kernels.tangent import WithoutWeights


class Given(WithoutWeights):
    """An N × N matrix that is there already: computed elsewhere, or a layer that is kept.

    Parameters
    ----------
    matrix : array of shape (N, N)
        Γ, symmetric and positive semi-definite; it is not copied.
    context : Context, optional
        How arithmetic is done; of the matrix's dtype when not given.
    tangent : array of shape (N, N), optional
        Θ of the same network; 0 when not given.

    Examples
    --------
    >>> Given(np.eye(2)).block([0], [0, 1])
    array([[1., 0.]])
    """

    def __init__(
        self, matrix: Array, context: Context | None = None, tangent: Array | None = None
    ) -> None:
        super().__init__(len(matrix), context or Context(matrix.dtype), tileable=True)
        self.matrix, self.tangent = matrix, tangent

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

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return copies of Γ[rows, cols] and Θ[rows, cols]."""
        if self.tangent is None:
            return super().both(rows, cols)
        return self.block(rows, cols), Given(self.tangent, self.context).block(rows, cols)

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of both."""
        if self.tangent is None:
            return super().both_diag(rows)
        return self.diag(rows), Given(self.tangent, self.context).diag(rows)

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return both times V."""
        block, tangent = self.both(rows, cols)
        return times(block, V), times(tangent, V)

    def both_local(self, groups: Integers) -> Both:
        """Return both within many small groups."""
        if self.tangent is None:
            return super().both_local(groups)
        return self.local(groups), Given(self.tangent, self.context).local(groups)

    def both_dense(self) -> Both:
        """Return copies of both matrices."""
        return self.both()

    def local(self, groups: Integers) -> Array:
        """Return the blocks of small groups."""
        return np.array(self.matrix[groups[:, :, None], groups[:, None, :]])
