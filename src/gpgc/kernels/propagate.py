"""Aggregation over the graph: S K Sᵀ, computed from the neighbourhoods that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.engine.tiles import split
from gpgc.kernels.covariance import Covariance, take
from gpgc.kernels.diffusion import Diffusion

HUB = 256
"""Number of neighbours from which a node's neighbour block is streamed, not stored."""

GROUP_ELEMENTS = 2**17
"""Entries of the neighbour blocks that are evaluated at once."""


class Propagate(Covariance):
    """S K Sᵀ for a sparse N × N matrix S such as Â (equation 14).

    Exact and local: the columns of chosen nodes need only the columns of K at their neighbours,
    and a variance needs only the block of K among one node's neighbours.

    Parameters
    ----------
    matrix : csr_array of shape (N, N)
        S.
    inner : Covariance
        K.
    """

    def __init__(self, matrix: sp.csr_array, inner: Covariance) -> None:
        self.matrix = sp.csr_array(matrix, dtype=inner.dtype)
        self.inner = inner
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine

    def __repr__(self) -> str:
        return f"propagate({self.inner!r})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return S[rows] K S[cols]ᵀ from the narrower side."""
        if self.count(cols) > self.count(rows):
            return self.block(cols, rows).T
        right, reached = self._neighborhood(cols)
        return self._aggregate(rows, reached, right.T)

    def diag(self, rows: Index = None) -> Array:
        """Return s_m K s_mᵀ for each row s_m of S, a batch of nodes of equal degree at a time."""
        chosen = self.indices(rows)
        indptr, indices, data = self.matrix.indptr, self.matrix.indices, self.matrix.data
        degrees = np.diff(indptr)[chosen]
        out = np.zeros(len(chosen), dtype=self.dtype)

        def batch(members: Integers) -> None:
            degree = degrees[members[0]]
            if degree > HUB:
                for member in members:
                    span = slice(*indptr[chosen[member] : chosen[member] + 2])
                    weights = data[span, None]
                    inner = self.inner.matmul(indices[span], indices[span], weights)
                    out[member] = (weights * inner).sum()
                return
            entries = indptr[chosen[members], None] + np.arange(degree)
            weights = data[entries][:, :, None]
            out[members] = (weights * (self.inner.local(indices[entries]) @ weights)).sum((1, 2))

        batches: list[Integers] = []
        for degree in np.unique(degrees[degrees > 0]):
            members = np.flatnonzero(degrees == degree)
            batches += split(members, max(1, GROUP_ELEMENTS // int(degree) ** 2))
        self.engine.each(batch, batches)
        return out

    def dense(self) -> Array:
        """Return S K Sᵀ."""
        return np.asarray(self.matrix @ (self.matrix @ self.inner.dense()).T).T

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return S[rows] (K (S[cols]ᵀ V))."""
        right, reached = self._neighborhood(cols)
        return self._aggregate(rows, reached, right.T @ V)

    def _aggregate(self, rows: Index, reached: Index, V: Any) -> Array:
        left, needed = (self.matrix, None) if rows is None else self._neighborhood(rows)
        return np.asarray(left @ self.inner.matmul(needed, reached, V))

    def _neighborhood(self, nodes: Index) -> tuple[sp.csr_array, Integers | None]:
        """Return S[nodes] over the columns that it reaches, and those columns."""
        if nodes is None:
            return self.matrix, None
        rows = self.matrix[self.indices(nodes)]
        reached, position = np.unique(rows.indices, return_inverse=True)
        shape = (rows.shape[0], len(reached))
        return sp.csr_array((rows.data, position, rows.indptr), shape=shape), reached


class Diffuse(Covariance):
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
        self.operator, self.inner = operator, inner
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine

    def __repr__(self) -> str:
        return f"{self.operator!r}({self.inner!r})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return P[rows] K P[cols]ᵀ from the narrower side."""
        if self.count(cols) > self.count(rows):
            return self.block(cols, rows).T
        return self.matmul(rows, cols, np.eye(self.count(cols), dtype=self.dtype))

    def diag(self, rows: Index = None) -> Array:
        """Return p_m K p_mᵀ for each row p_m of P."""
        chosen = self.indices(rows)
        out = np.empty(len(chosen), dtype=self.dtype)
        for start in range(0, len(chosen), HUB):
            part = chosen[start : start + HUB]
            weights = self._reach(part, np.eye(len(part), dtype=self.dtype))
            out[start : start + HUB] = (weights * self.inner.matmul(None, None, weights)).sum(0)
        return out

    def dense(self) -> Array:
        """Return P K Pᵀ."""
        return self.operator.apply(self.operator.apply(self.inner.dense()).T).T

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return P[rows] (K (P[cols]ᵀ V))."""
        product = self.inner.matmul(None, None, self._reach(self.indices(cols), V))
        return np.asarray(take(self.operator.apply(product), rows))

    def _reach(self, nodes: Integers, V: Any) -> Array:
        """Return P[nodes]ᵀ V."""
        spread = np.zeros((self.n_nodes, V.shape[1]), dtype=self.dtype)
        np.add.at(spread, nodes, V.toarray() if sp.issparse(V) else V)
        return self.operator.apply_transposed(spread)
