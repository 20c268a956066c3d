"""Covariances of finite rank, ΦΦᵀ, which answer by their root Φ."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context, split
from gpgc.kernels.covariance import CHUNK_BYTES, Covariance, take, times

LOCAL_ELEMENTS = 2**22
"""Entries of the root that are gathered at once for blocks of small groups."""


class Rooted(Covariance):
    """ΦΦᵀ, of which a subclass gives the rank, the rows of Φ and the plain formula."""

    @abstractmethod
    def rows_of_root(self, n_rows: int) -> Callable[[Index], Array]:
        """Return a function of rows that gives Φ[rows]; what ``n_rows`` share is prepared once."""

    def root(self, rows: Index = None) -> Array:
        """Return Φ[rows], computed in tiles."""
        rank = self.rank or 0
        return self.in_tiles(self.rows_of_root(self.count(rows)), rows, rank, rank)

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return Φ[rows] @ weights: of Φ no more than tiles is held."""
        at, right = self.rows_of_root(self.count(rows)), np.asarray(weights, dtype=self.dtype)
        return self.in_tiles(lambda some: at(some) @ right, rows, right.shape[1], len(right))

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Φ[rows] Φ[cols]ᵀ from the narrower side."""
        if self.count(cols) > self.count(rows):
            return self.block(cols, rows).T
        return self.root_times(rows, self.root(cols).T)

    def diag(self, rows: Index = None) -> Array:
        """Return the squared lengths of the root's rows."""
        at = self.rows_of_root(self.count(rows))

        def squares(some: Index) -> Array:
            root = at(some)
            return np.asarray(np.einsum("ij,ij->i", root, root)[:, None])

        return self.in_tiles(squares, rows, 1, self.rank or 0)[:, 0]

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Φ[rows] (Φ[cols]ᵀ V)."""
        every, rank = self.indices(cols), self.rank or 0
        few = self.context.budget(CHUNK_BYTES) // max(1, rank * self.dtype.itemsize)
        total = np.zeros((rank, V.shape[1]), dtype=self.dtype)
        for part in split(np.arange(len(every)), few):
            total += times(self.root(every[part]).T, V[part])
        return self.root_times(rows, total)

    def local(self, groups: Integers) -> Array:
        """Return ΦΦᵀ within many small groups."""
        nodes, position = np.unique(groups, return_inverse=True)
        root, position = self.root(nodes), position.reshape(groups.shape)
        few = LOCAL_ELEMENTS // max(1, groups.shape[1] * root.shape[1])
        blocks = np.empty((*groups.shape, groups.shape[1]), dtype=self.dtype)
        for part in split(np.arange(len(groups)), few):
            near = root[position[part]]
            blocks[part] = near @ near.transpose(0, 2, 1)
        return blocks


class LowRank(Rooted):
    """ΦΦᵀ for a root Φ (N, r) that is there already; it is not copied."""

    def __init__(self, factor: Array, context: Context | None = None) -> None:
        super().__init__(len(factor), context or Context(factor.dtype), tileable=True)
        self.factor = factor

    def __repr__(self) -> str:
        return f"low_rank({self.n_nodes} x {self.rank})"

    @property
    def rank(self) -> int:
        """Number of columns of the root."""
        return int(self.factor.shape[1])

    def rows_of_root(self, n_rows: int) -> Callable[[Index], Array]:
        """Return the function that takes rows of Φ."""
        return lambda rows: np.asarray(take(self.factor, rows))

    def dense(self) -> Array:
        """Return ΦΦᵀ."""
        return np.asarray(self.factor @ self.factor.T)
