"""Aggregation over the graph: S K Sᵀ, computed from the neighborhoods that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import split
from gpgc.kernels.covariance import Covariance

HUB = 256
"""Number of neighbors from which a node's neighbor block is streamed, not stored."""

GROUP_ELEMENTS = 2**17
"""Entries of the neighbor blocks that are evaluated at once."""


class Propagate(Covariance):
    """S K Sᵀ for a sparse N × N matrix S such as Â (equation 14).

    Exact and local: the columns of chosen nodes need only the columns of K at their neighbors,
    and a variance needs only the block of K among one node's neighbors.
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
        ones = sp.eye_array(self.count(cols), format="csr", dtype=self.dtype)
        return self.matmul(rows, cols, ones)

    def diag(self, rows: Index = None) -> Array:
        """Return s_m K s_mᵀ for each row s_m of S, a batch of nodes of equal degree at a time."""
        chosen = self.indices(rows)
        indptr, indices, data = self.matrix.indptr, self.matrix.indices, self.matrix.data
        degrees = np.diff(indptr)[chosen]
        out = np.zeros(len(chosen), dtype=self.dtype)

        def batch(members: Integers) -> Array:
            degree = degrees[members[0]]
            if degree > HUB:
                return np.array([self._hub_variance(chosen[at]) for at in members])
            # diag(S K Sᵀ)_m = Σ_ij S_mi K_ij S_mj over the neighbors i, j of m (equation 14)
            entries = indptr[chosen[members], None] + np.arange(degree)
            weights = data[entries][:, :, None]
            block = self.inner.local(indices[entries])
            return np.asarray((weights * (block @ weights)).sum((1, 2)))

        batches: list[Integers] = []
        for degree in np.unique(degrees[degrees > 0]):
            members = np.flatnonzero(degrees == degree)
            batches += split(members, max(1, GROUP_ELEMENTS // int(degree) ** 2))
        for part, variances in zip(batches, self.context.map(batch, batches), strict=True):
            out[part] = variances
        return out

    def _hub_variance(self, node: int) -> float:
        """Return s K sᵀ for the row s of a node with many neighbors, streamed."""
        span = slice(*self.matrix.indptr[node : node + 2])
        reached, weights = self.matrix.indices[span], self.matrix.data[span, None]
        return float((weights * self.inner.matmul(reached, reached, weights)).sum())

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
        left, needed = (self.matrix, None) if rows is None else self._neighborhood(rows)
        return np.asarray(left @ self.inner.matmul(needed, reached, right.T @ V))

    def _neighborhood(self, nodes: Index) -> tuple[sp.csr_array, Integers | None]:
        """Return S[nodes] over the columns that it reaches, and those columns."""
        if nodes is None:
            return self.matrix, None
        return around(self.matrix[self.indices(nodes)])


def around(rows: sp.csr_array) -> tuple[sp.csr_array, Integers]:
    """Return rows over the columns that they reach, and those columns."""
    near, position = np.unique(rows.indices, return_inverse=True)
    shape = (rows.shape[0], len(near))
    return sp.csr_array((rows.data, position, rows.indptr), shape=shape), near
