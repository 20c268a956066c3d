"""Aggregation over the graph: S K Sᵀ, computed from the neighbourhoods that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import split
from gpgc.kernels.covariance import Both, Covariance
from gpgc.kernels.tangent import CarriesTangent

HUB = 256
"""Number of neighbours from which a node's neighbour block is streamed, not stored."""

GROUP_ELEMENTS = 2**17
"""Entries of the neighbour blocks that are evaluated at once."""


class Propagate(CarriesTangent):
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
        super().__init__(inner.n_nodes, inner.context)
        self.matrix = sp.csr_array(matrix, dtype=inner.dtype)
        self.inner = inner

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
        return np.asarray(self._quadratic_forms(rows, lambda g: (self.inner.local(g),))[0])

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of S K Sᵀ and S Θ Sᵀ."""
        K, tangent = self._quadratic_forms(rows, self.inner.both_local, both=True)
        return K, tangent

    def _quadratic_forms(
        self, rows: Index, local: Callable[[Integers], tuple[Array, ...]], both: bool = False
    ) -> Array:
        """Return s_m M s_mᵀ for each row s_m of S and each of the matrices M whose blocks come."""
        chosen = self.indices(rows)
        indptr, indices, data = self.matrix.indptr, self.matrix.indices, self.matrix.data
        degrees = np.diff(indptr)[chosen]
        out = np.zeros((1 + both, len(chosen)), dtype=self.dtype)

        def batch(members: Integers) -> Array:
            degree = degrees[members[0]]
            if degree > HUB:
                return np.array([self._hub_variance(chosen[at], both) for at in members]).T
            # diag(S K Sᵀ)_m = Σ_ij S_mi K_ij S_mj over the neighbours i, j of m (equation 14)
            entries = indptr[chosen[members], None] + np.arange(degree)
            weights = data[entries][:, :, None]
            blocks = local(indices[entries])
            return np.array([(weights * (block @ weights)).sum((1, 2)) for block in blocks])

        batches: list[Integers] = []
        for degree in np.unique(degrees[degrees > 0]):
            members = np.flatnonzero(degrees == degree)
            batches += split(members, max(1, GROUP_ELEMENTS // int(degree) ** 2))
        for part, variances in zip(batches, self.context.map(batch, batches), strict=True):
            out[:, part] = variances
        return out

    def _hub_variance(self, node: int, both: bool) -> list[float]:
        """Return s K sᵀ, and s Θ sᵀ, for the row s of a node with many neighbours, streamed."""
        span = slice(*self.matrix.indptr[node : node + 2])
        reached, weights = self.matrix.indices[span], self.matrix.data[span, None]
        ask = self.inner.both_matmul if both else self.inner.matmul
        products = np.asarray(ask(reached, reached, weights)).reshape(1 + both, -1, 1)
        return [float((weights * product).sum()) for product in products]

    @property
    def rank(self) -> int | None:
        """That of K."""
        return self.inner.rank

    def root(self, rows: Index = None) -> Array:
        """Return S[rows] Φ."""
        left, needed = (self.matrix, None) if rows is None else self._neighborhood(rows)
        return np.asarray(left @ self.inner.root(needed))

    def dense(self) -> Array:
        """Return S K Sᵀ."""
        return np.asarray(self.matrix @ (self.matrix @ self.inner.dense()).T).T

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return S[rows] (K (S[cols]ᵀ V))."""
        right, reached = self._neighborhood(cols)
        return self._aggregate(rows, reached, right.T @ V)

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return S[rows] K S[cols]ᵀ and S[rows] Θ S[cols]ᵀ from the narrower side."""
        if self.count(cols) > self.count(rows):
            K, tangent = self.both(cols, rows)
            return K.T, tangent.T
        right, reached = self._neighborhood(cols)
        return self._aggregate_both(rows, reached, right.T)

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return S[rows] (K (S[cols]ᵀ V)), and the same of Θ."""
        right, reached = self._neighborhood(cols)
        return self._aggregate_both(rows, reached, right.T @ V)

    def both_dense(self) -> Both:
        """Return S K Sᵀ and S Θ Sᵀ."""
        K, tangent = self.inner.both_dense()
        return self.matrix @ (self.matrix @ K).T, self.matrix @ (self.matrix @ tangent).T

    def _aggregate_both(self, rows: Index, reached: Index, V: Any) -> Both:
        left, needed = (self.matrix, None) if rows is None else self._neighborhood(rows)
        K, tangent = self.inner.both_matmul(needed, reached, V)
        return np.asarray(left @ K), np.asarray(left @ tangent)

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
