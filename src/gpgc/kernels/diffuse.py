"""Aggregation over many hops: P K Pᵀ for an operator P that is never formed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.kernels.covariance import Both, Covariance, take
from gpgc.kernels.diffusions import Diffusion
from gpgc.kernels.tangent import CarriesTangent

COLUMNS_AT_ONCE = 256
"""Variances that are computed at once, each from a column of N entries."""


class Diffuse(CarriesTangent):
    """P K Pᵀ for a linear operator P that reaches the whole graph, such as PageRank.

    P is never formed: it and its transpose are applied to vectors. All columns of K are needed,
    so this costs N × N evaluations of K, in tiles, whatever is asked; a variance costs as much.

    Parameters
    ----------
    operator : Diffusion
        P.
    inner : Covariance
        K.
    """

    def __init__(self, operator: Diffusion, inner: Covariance) -> None:
        super().__init__(inner.n_nodes, inner.context)
        self.operator, self.inner = operator, inner

    def __repr__(self) -> str:
        return f"{self.operator!r}({self.inner!r})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return P[rows] K P[cols]ᵀ from the narrower side."""
        if rows is None and cols is None:
            return self._around(self.inner.block())
        if self.count(cols) > self.count(rows):
            return self.block(cols, rows).T
        return self.matmul(rows, cols, np.eye(self.count(cols), dtype=self.dtype))

    def diag(self, rows: Index = None) -> Array:
        """Return p_m K p_mᵀ for each row p_m of P."""
        chosen = self.indices(rows)
        out = np.empty(len(chosen), dtype=self.dtype)
        for start in range(0, len(chosen), COLUMNS_AT_ONCE):
            part = chosen[start : start + COLUMNS_AT_ONCE]
            weights = self._reach(part, np.eye(len(part), dtype=self.dtype))
            out[start : start + COLUMNS_AT_ONCE] = (
                weights * self.inner.matmul(None, None, weights)
            ).sum(0)
        return out

    @property
    def rank(self) -> int | None:
        """That of K."""
        return self.inner.rank

    def root(self, rows: Index = None) -> Array:
        """Return P[rows] Φ."""
        return np.asarray(take(self.operator.apply(self.inner.root()), rows))

    def dense(self) -> Array:
        """Return P K Pᵀ."""
        return self._around(self.inner.dense())

    def _around(self, matrix: Array) -> Array:
        return self.operator.apply(self.operator.apply(matrix).T).T

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return P[rows] (K (P[cols]ᵀ V))."""
        product = self.inner.matmul(None, None, self._reach(self.indices(cols), V))
        return np.asarray(take(self.operator.apply(product), rows))

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return P[rows] K P[cols]ᵀ, and the same of Θ, from the narrower side."""
        if rows is None and cols is None:
            K, tangent = self.inner.both()
            return self._around(K), self._around(tangent)
        if self.count(cols) > self.count(rows):
            K, tangent = self.both(cols, rows)
            return K.T, tangent.T
        return self.both_matmul(rows, cols, np.eye(self.count(cols), dtype=self.dtype))

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of both."""
        chosen = self.indices(rows)
        out = np.empty((2, len(chosen)), dtype=self.dtype)
        for start in range(0, len(chosen), COLUMNS_AT_ONCE):
            part = chosen[start : start + COLUMNS_AT_ONCE]
            weights = self._reach(part, np.eye(len(part), dtype=self.dtype))
            products = np.asarray(self.inner.both_matmul(None, None, weights))
            out[:, start : start + COLUMNS_AT_ONCE] = (weights * products).sum(1)
        return out[0], out[1]

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return P[rows] (K (P[cols]ᵀ V)), and the same of Θ."""
        K, tangent = self.inner.both_matmul(None, None, self._reach(self.indices(cols), V))
        apply = self.operator.apply
        return np.asarray(take(apply(K), rows)), np.asarray(take(apply(tangent), rows))

    def both_dense(self) -> Both:
        """Return P K Pᵀ and P Θ Pᵀ."""
        K, tangent = self.inner.both_dense()
        return self._around(K), self._around(tangent)

    def _reach(self, nodes: Integers, V: Any) -> Array:
        """Return P[nodes]ᵀ V."""
        spread = np.zeros((self.n_nodes, V.shape[1]), dtype=self.dtype)
        np.add.at(spread, nodes, V.toarray() if sp.issparse(V) else V)
        return self.operator.apply_transposed(spread)
