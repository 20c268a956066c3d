"""What every covariance answers about the N × N matrix that it describes and never stores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context, split
from gpgc.compute.caching import LeavesCachesBehind
from gpgc.errors import InputError

Columns: TypeAlias = Callable[[Index], tuple[Array, Array]]
"""Function of rows that gives their correlations with some columns, and their stds."""

Both: TypeAlias = tuple[Array, Array]
"""Entries of a covariance Γ, and those of the tangent kernel Θ of the same network."""

CHUNK_BYTES = 2**27
"""Bound on the blocks that a deep covariance holds at once while it streams."""

GEMM_GAIN = 40
"""How many times more arithmetic a dense product does in the time of a sparse one."""


class Covariance(LeavesCachesBehind, ABC):
    """A covariance Γ of N nodes that is computed where it is asked for.

    Rows and columns are integer arrays, or None for all nodes. A subclass gives ``block``,
    ``diag`` and ``dense``; whatever can be answered more cheaply it overrides.

    Parameters
    ----------
    n_nodes : int
        The number N of nodes.
    context : Context
        How arithmetic is done.
    tileable : bool, default False
        Whether a tile of rows costs no more than its fraction of all rows. Covariances with a
        propagation inside are not: the neighbourhoods of tiles overlap.
    """

    def __init__(self, n_nodes: int, context: Context, tileable: bool = False) -> None:
        self.n_nodes, self.context, self.tileable = n_nodes, context, tileable

    @property
    def dtype(self) -> np.dtype[Any]:
        """In which blocks are computed."""
        return self.context.dtype

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
        """Return Φ[rows], of shape (n, r), with Φ[m] · Φ[n] = Γ_mn.

        Only for covariances with a ``rank``.
        """
        raise InputError(f"root needs a covariance of finite rank, got {self!r}")

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return Φ[rows] @ weights for weights of shape (r, k), in tiles of rows.

        Only for covariances with a ``rank``.
        """
        chosen = self.indices(rows)
        right = np.asarray(weights, dtype=self.dtype)
        out = np.empty((len(chosen), right.shape[1]), dtype=self.dtype)

        def tile(part: slice) -> Array:
            return np.asarray(self.root(chosen[part]) @ right)

        self.context.fill(out, tile, (self.rank or 1) * self.dtype.itemsize)
        return out

    def correlation(self, cols: Index = None) -> Columns:
        """Return a function of rows that gives Γ_mn / √(Γ_mm Γ_nn), and √Γ_mm.

        Where a variance is 0 the correlation is a finite number without meaning.
        """
        right = inverse_or_zero(np.sqrt(self.diag(cols)))

        def columns(rows: Index) -> tuple[Array, Array]:
            block, std = self.block(rows, cols), np.sqrt(self.diag(rows))
            block *= inverse_or_zero(std)[:, None]
            block *= right
            return block, std

        return columns

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Γ[rows, cols] @ V, in tiles of rows, or a few columns of Γ at a time."""
        if self.tileable:
            return self._matmul_in_tiles(rows, cols, V)
        chosen = self.indices(cols)
        n_rows = self.count(rows)
        out = np.zeros((n_rows, V.shape[1]), dtype=self.dtype)
        start = 0
        for chunk in split(
            chosen, self.context.budget(CHUNK_BYTES) // max(1, n_rows * self.dtype.itemsize)
        ):
            part = V[start : start + len(chunk)]
            out += times(self.block(rows, chunk), part)
            start += len(chunk)
        return out

    def _matmul_in_tiles(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Γ[rows, cols] @ V from correlations, with the standard deviations put into V."""
        multiply = multiplication_by(scale_rows(np.sqrt(self.diag(cols)), V), self.dtype)
        correlation, chosen = self.correlation(cols), self.indices(rows)
        row_bytes = self.count(cols) * self.dtype.itemsize
        if rows is None and len(self.context.tiles(self.n_nodes, row_bytes)) > 1:
            correlation(slice(0, 1))  # what all tiles share is computed here, by all threads

        def tile(part: slice) -> Array:
            block, std = correlation(part if rows is None else chosen[part])
            product = multiply(block)
            product *= std[:, None]
            return product

        out = np.empty((len(chosen), V.shape[1]), dtype=self.dtype)
        self.context.fill(out, tile, row_bytes)
        return out

    def local(self, groups: Integers) -> Array:
        """Return the blocks Γ[g, g] of many small groups g of equal size.

        Parameters
        ----------
        groups : int array of shape (B, d)
            B groups of d nodes.

        Returns
        -------
        array of shape (B, d, d)
        """
        nodes, position = np.unique(groups, return_inverse=True)
        size = len(nodes) ** 2 * self.dtype.itemsize
        if size > self.context.budget(CHUNK_BYTES) and len(groups) > 1:
            return np.concatenate([self.local(half) for half in np.array_split(groups, 2)])
        position = position.reshape(groups.shape)
        union = self.block(nodes, nodes)
        return union[position[:, :, None], position[:, None, :]]

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return Γ[rows, cols] and Θ[rows, cols], the tangent kernel, from one pass.

        Only for parts of a network; see :mod:`gpgc.kernels.tangent`. A part that says nothing of
        Θ refuses: zeros in its place would be taken for an answer.
        """
        raise self._no_tangent()

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of Γ and Θ at ``rows``."""
        raise self._no_tangent()

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return Γ[rows, cols] @ V and Θ[rows, cols] @ V."""
        raise self._no_tangent()

    def both_local(self, groups: Integers) -> Both:
        """Return the blocks of Γ and Θ within many small groups."""
        raise self._no_tangent()

    def both_dense(self) -> Both:
        """Return the N × N matrices Γ and Θ by the plain formulas."""
        raise self._no_tangent()

    def _no_tangent(self) -> InputError:
        return InputError(
            "Tangent must be of a network of Features, Given, LowRank, DenseLayer, Activate, "
            f"Propagate, Diffuse, Mix, Cross and Deep, got {type(self).__name__}, which is no "
            "layer of weights and has no tangent kernel: use its covariance as it is "
            "(kernel='nngp'), or the Tangent of what is inside it"
        )

    def count(self, index: Index) -> int:
        """Return how many nodes an index names."""
        if index is None:
            return self.n_nodes
        if isinstance(index, slice):
            return len(range(*index.indices(self.n_nodes)))
        return len(index)

    def indices(self, index: Index) -> Integers:
        """Return an index as an integer array."""
        if index is None or isinstance(index, slice):
            return np.arange(self.n_nodes)[index if index is not None else slice(None)]
        return np.asarray(index, dtype=np.intp)


def inverse_or_zero(values: Array) -> Array:
    """Return 1 / values, and 0 where a value is 0."""
    return np.asarray(np.divide(1.0, values, out=np.zeros_like(values), where=values > 0))


def take(values: Any, index: Index) -> Any:
    """Return the entries that an index names."""
    return values if index is None else values[index]


def scale_rows(scale: Array, V: Any) -> Any:
    """Return diag(scale) V for a dense or a sparse V."""
    return V.multiply(scale[:, None]).tocsr() if sp.issparse(V) else scale[:, None] * V


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
