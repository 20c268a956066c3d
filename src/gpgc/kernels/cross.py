"""What two independent summands with means of their own have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index
from gpgc.compute import Context
from gpgc.kernels.covariance import take, times
from gpgc.kernels.tangent import WithoutWeights


class Cross(WithoutWeights):
    """u vᵀ + v uᵀ: E[(g + h)(g + h)ᵀ] − E[g gᵀ] − E[h hᵀ] of independent g, h with means u, v.

    Not positive semi-definite by itself: a summand of a :class:`Mix`, with no weights below it.

    Parameters
    ----------
    left, right : arrays of shape (N,)
        u and v.
    context : Context
        How arithmetic is done.

    Examples
    --------
    >>> Cross(np.array([1.0, 2.0]), np.array([0.5, 0.5]), Context()).block()
    array([[1. , 1.5],
           [1.5, 2. ]])
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
