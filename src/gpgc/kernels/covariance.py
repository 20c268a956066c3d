"""What every covariance answers about the N × N matrix that it describes and never stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context, split
from gpgc.compute.caching import LeavesCachesBehind, computed_once
from gpgc.errors import InputError

RootFunction: TypeAlias = Callable[..., Any]
"""Of rows of a root, and of values that have a row for each of them."""

CHUNK_BYTES = 2**27
"""Bound on the blocks that a deep covariance holds at once while it streams."""

GEMM_GAIN = 40
"""How many times more arithmetic a dense product does in the time of a sparse one."""


class Columns(NamedTuple):
    """A function of rows: their correlations with some columns, and their stds; ``std`` of those.

    What the columns take is prepared once; the function is called for tiles of rows.
    """

    at: Callable[[Index], tuple[Array, Array]]
    std: Array

    def __call__(self, rows: Index) -> tuple[Array, Array]:
        """Return correlations (n, m) that the caller may change, and stds (n,)."""
        return self.at(rows)


class Covariance(LeavesCachesBehind, ABC):
    """A covariance Γ of N nodes that is computed where it is asked for.

    Rows and columns are integer arrays, or None for all nodes. A subclass gives ``block``,
    ``diag`` and ``dense``; whatever can be answered more cheaply it overrides.

    Parameters
    ----------
    n_nodes : int
        The number N of nodes.
    context : Context
        How arithmetic is done; its ``dtype`` is that of the blocks.
    tileable : bool, default False
        Whether a tile of rows costs no more than its fraction of all rows. Covariances with a
        propagation inside are not: the neighborhoods of tiles overlap.
    """

    def __init__(self, n_nodes: int, context: Context, tileable: bool = False) -> None:
        self.n_nodes, self.context, self.tileable = n_nodes, context, tileable
        self.dtype = context.dtype

    @abstractmethod
    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Γ[rows, cols] as a dense array that the caller may change."""

    @abstractmethod
    def diag(self, rows: Index = None) -> Array:
        """Return the diagonal of Γ at ``rows``."""

    @abstractmethod
    def dense(self) -> Array:
        """Return the N × N matrix, computed by the plain formula: the reference for small N."""

    @property
    def rank(self) -> int | None:
        """Number r of columns of the root Φ, Γ = ΦΦᵀ; None where no finite root is known."""
        return None

    def root(self, rows: Index = None) -> Array:
        """Return Φ[rows], of shape (n, r), with Φ[m] · Φ[n] = Γ_mn."""
        raise InputError(f"root needs a covariance of finite rank, got {self!r}")

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return Φ[rows] @ weights for weights of shape (r, k), in tiles of rows."""
        right = np.asarray(weights, dtype=self.dtype)
        return self.in_tiles(lambda some: self.root(some) @ right, rows, right.shape[1], len(right))

    def in_tiles(
        self, answer: Callable[[Index], Array], rows: Index, width: int, n_scratch: int
    ) -> Array:
        """Return answer(rows), (n, width), in tiles of rows that take ``n_scratch`` numbers."""
        chosen = self.indices(rows)
        out = np.empty((len(chosen), width), dtype=self.dtype)

        def tile(part: slice) -> Array:
            return answer(part if rows is None else chosen[part])

        self.context.fill(out, tile, n_scratch * self.dtype.itemsize)
        return out

    def map_root(
        self, rows: Integers, function: RootFunction, values: Sequence[Array], row_bytes: int
    ) -> list[Any]:
        """Return function(Φ[tile], values[tile], …) over tiles of rows, side by side."""

        def of_tile(part: slice) -> Any:
            return function(self.root(rows[part]), *(value[part] for value in values))

        return self.context.map(of_tile, self.context.tiles(len(rows), row_bytes) or [slice(0)])

    def sum_root(
        self, rows: Integers, function: RootFunction, values: Sequence[Array], n_at_once: int
    ) -> list[Array]:
        """Return the sums over tiles of rows of the arrays function(Φ[tile], values[tile], …)."""
        sums: list[Array] = []
        for start in range(0, max(1, len(rows)), n_at_once):
            part = slice(start, start + n_at_once)
            found = function(self.root(rows[part]), *(value[part] for value in values))
            known = zip(sums, found, strict=True)
            sums = [one + other for one, other in known] if sums else list(found)
        return sums

    def std(self, index: Index = None) -> Array:
        """Return √Γ_mm; where those of few nodes cost as much, all are computed once."""
        if self.tileable and index is not None:
            return np.sqrt(self.diag(index))
        return np.asarray(take(self._all_stds, index))

    @computed_once
    def _all_stds(self) -> Array:
        return np.sqrt(self.diag())

    def correlation(self, cols: Index = None) -> Columns:
        """Return a function of rows that gives Γ_mn / √(Γ_mm Γ_nn), and √Γ_mm.

        Where a variance is 0 the correlation is a finite number without meaning.
        """
        right = self.std(cols)
        inverse = inverse_or_zero(right)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, std = self.block(rows, cols), self.std(rows)
            block *= inverse_or_zero(std)[:, None]
            block *= inverse
            return block, std

        return Columns(columns, right)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Γ[rows, cols] @ V, in tiles of rows, or a few columns of Γ at a time."""
        chosen, n_cols = self.indices(rows), self.count(cols)
        row_bytes = n_cols * self.dtype.itemsize
        if not self.tileable:
            out = np.zeros((len(chosen), V.shape[1]), dtype=self.dtype)
            column_bytes = max(1, len(chosen) * self.dtype.itemsize)
            few, every = self.context.budget(CHUNK_BYTES) // column_bytes, self.indices(cols)
            for part in split(np.arange(n_cols), few):
                out += times(self.block(rows, every[part]), V[part])
            return out
        # The columns' standard deviations go into V, and those of rows into the product.
        columns = self.correlation(cols)
        scale = columns.std[:, None]
        scaled = V.multiply(scale).tocsr() if sp.issparse(V) else scale * V
        multiply = multiplication_by(scaled, self.dtype)
        if rows is None and len(self.context.tiles(self.n_nodes, row_bytes)) > 1:
            columns(slice(0, 1))  # what all tiles share is computed here, by all threads

        def products(some: Index) -> Array:
            block, std = columns(some)
            product = multiply(block)
            product *= std[:, None]
            return product

        return self.in_tiles(products, rows, V.shape[1], n_cols)

    def local(self, groups: Integers) -> Array:
        """Return the blocks Γ[g, g], of shape (B, d, d), of groups g given as a (B, d) array."""
        nodes, position = np.unique(groups, return_inverse=True)
        size = len(nodes) ** 2 * self.dtype.itemsize
        if size > self.context.budget(CHUNK_BYTES) and len(groups) > 1:
            return np.concatenate([self.local(half) for half in np.array_split(groups, 2)])
        position = position.reshape(groups.shape)
        union = self.block(nodes, nodes)
        return union[position[:, :, None], position[:, None, :]]

    def count(self, index: Index) -> int:
        """Return how many nodes an index names."""
        if index is None or isinstance(index, slice):
            return len(range(self.n_nodes)[index or slice(None)])
        return len(index)

    def indices(self, index: Index) -> Integers:
        """Return an index as an integer array."""
        if index is None or isinstance(index, slice):
            return np.arange(self.n_nodes)[index or slice(None)]
        return np.asarray(index, dtype=np.intp)


def inverse_or_zero(values: Array) -> Array:
    """Return 1 / values, and 0 where a value is 0."""
    return np.asarray(np.divide(1.0, values, out=np.zeros_like(values), where=values > 0))


def take(values: Any, index: Index) -> Any:
    """Return the entries that an index names."""
    return values if index is None else values[index]


def multiplication_by(V: Any, dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """Return the function block ↦ block @ V for a dense or a sparse V, which it prepares once."""
    if not sp.issparse(V):
        dense = np.asarray(V, dtype=dtype)
    elif V.shape[0] * V.shape[1] <= GEMM_GAIN * (V.nnz + 3 * V.shape[0]):
        dense = V.toarray().astype(dtype)
    else:
        transposed = sp.csr_array(V.T, dtype=dtype)
        return lambda block: np.asarray((transposed @ block.T).T)
    return lambda block: np.asarray(block @ dense)


def times(block: Array, V: Any) -> Array:
    """Return block @ V for a dense or a sparse V."""
    return multiplication_by(V, block.dtype)(block)
