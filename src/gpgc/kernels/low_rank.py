"""A covariance that is known by its root."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context, split
from gpgc.kernels.covariance import Both, take
from gpgc.kernels.tangent import WithoutWeights

LOCAL_ELEMENTS = 2**22
"""Entries of the root that are gathered at once for blocks of small groups."""


class LowRank(WithoutWeights):
    """ΦΦᵀ for a root Φ that is there already.

    Parameters
    ----------
    factor : array of shape (N, r)
        Φ; it is not copied.
    context : Context, optional
        How arithmetic is done; of the factor's dtype when not given.
    tangent : LowRank, optional
        Θ of the same network; 0 when not given.

    Examples
    --------
    >>> LowRank(np.array([[1.0], [2.0]])).block()
    array([[1., 2.],
           [2., 4.]])
    """

    def __init__(
        self, factor: Array, context: Context | None = None, tangent: LowRank | None = None
    ) -> None:
        super().__init__(len(factor), context or Context(factor.dtype), tileable=True)
        self.factor, self.tangent = factor, tangent

    def __repr__(self) -> str:
        return f"low_rank({self.n_nodes} x {self.rank})"

    @property
    def rank(self) -> int:
        """Number of columns of the root."""
        return int(self.factor.shape[1])

    def root(self, rows: Index = None) -> Array:
        """Return a copy of Φ[rows]."""
        return np.array(take(self.factor, rows))

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Φ[rows] Φ[cols]ᵀ."""
        return np.asarray(take(self.factor, rows) @ take(self.factor, cols).T)

    def diag(self, rows: Index = None) -> Array:
        """Return the squared lengths of the root's rows."""
        root = take(self.factor, rows)
        return np.asarray(np.einsum("ij,ij->i", root, root))

    def dense(self) -> Array:
        """Return ΦΦᵀ."""
        return np.asarray(self.factor @ self.factor.T)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Φ[rows] (Φ[cols]ᵀ V)."""
        right = take(self.factor, cols)
        product = (V.T @ right).T if hasattr(V, "tocsr") else right.T @ V
        return np.asarray(take(self.factor, rows) @ np.asarray(product, dtype=self.dtype))

    def local(self, groups: Integers) -> Array:
        """Return ΦΦᵀ within many small groups."""
        if not len(groups):
            return np.empty((0, groups.shape[1], groups.shape[1]), dtype=self.dtype)
        size = max(1, LOCAL_ELEMENTS // max(1, groups.shape[1] * self.rank))
        roots = (self.factor[groups[part]] for part in split(np.arange(len(groups)), size))
        return np.concatenate([root @ root.transpose(0, 2, 1) for root in roots])

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return both covariances at rows and columns."""
        if self.tangent is None:
            return super().both(rows, cols)
        return self.block(rows, cols), self.tangent.block(rows, cols)

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of both."""
        if self.tangent is None:
            return super().both_diag(rows)
        return self.diag(rows), self.tangent.diag(rows)

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return both times V."""
        if self.tangent is None:
            return super().both_matmul(rows, cols, V)
        return self.matmul(rows, cols, V), self.tangent.matmul(rows, cols, V)

    def both_local(self, groups: Integers) -> Both:
        """Return both within many small groups."""
        if self.tangent is None:
            return super().both_local(groups)
        return self.local(groups), self.tangent.local(groups)

    def both_dense(self) -> Both:
        """Return both N × N matrices."""
        return self.both()
