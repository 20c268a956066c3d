"""Aggregation over many hops: P K Pᵀ for an operator P that is never formed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.kernels.covariance import Covariance, take

COLUMNS_AT_ONCE = 256
"""Variances that are computed at once, each from a column of N entries."""


@dataclass(frozen=True, eq=False)
class PageRank:
    """Personalised PageRank P of S: Z ← (1 − a) S Z + a X, ``steps`` times from Z = X.

    The first terms of a (I − (1 − a) S)⁻¹: a mean over walks of all lengths, shorter ones weighing
    more; the smaller the teleport a, the farther it reaches.
    """

    matrix: sp.csr_array
    teleport: float = 0.1
    steps: int = 10

    def __post_init__(self) -> None:
        if int(self.steps) != self.steps or self.steps < 1:
            raise InputError(f"steps must be a whole number of at least 1, got {self.steps!r}")
        if not 0 < self.teleport <= 1:
            raise InputError(f"teleport must lie above 0 and up to 1, got {self.teleport!r}")

    def __repr__(self) -> str:
        return f"pagerank({self.teleport:g})"

    def apply(self, values: Any, transposed: bool = False) -> Array:
        """Return P X, or Pᵀ X, for values X of shape (N, k)."""
        current = np.asarray(values.toarray() if sp.issparse(values) else values)
        restart = self.teleport * current
        matrix = sp.csr_array(self.matrix.T) if transposed else self.matrix
        step = sp.csr_array((1 - self.teleport) * matrix).astype(restart.dtype)
        for _ in range(self.steps):
            current = step @ current
            current += restart
        return np.asarray(current)


class Diffuse(Covariance):
    """P K Pᵀ for a linear operator P that reaches the whole graph: PageRank.

    P is never formed: it and its transpose are applied to vectors. All columns of K are needed,
    so this costs N × N evaluations of K, in tiles, whatever is asked; a variance costs as much.
    """

    def __init__(self, operator: PageRank, inner: Covariance) -> None:
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

    def _reach(self, nodes: Integers, V: Any) -> Array:
        """Return P[nodes]ᵀ V."""
        spread = np.zeros((self.n_nodes, V.shape[1]), dtype=self.dtype)
        np.add.at(spread, nodes, V.toarray() if sp.issparse(V) else V)
        return self.operator.apply(spread, transposed=True)
