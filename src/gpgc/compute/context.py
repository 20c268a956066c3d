"""One value that says how arithmetic is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute.primitives import Primitives, primitives_for
from gpgc.compute.runner import Threads
from gpgc.errors import InputError
from gpgc.files import physical_memory

Item = TypeVar("Item")
Result = TypeVar("Result")

TILE_BYTES = 2**20
"""Size of one tile of results, so that a tile and its scratch stay in a core's cache."""

TILE_ROWS = 512
"""Rows that make a matrix product fast: wide tiles have so many, up to eight times the size."""

LEAST_ROWS = 16
"""Rows of a tile however small the memory limit is."""


@dataclass(frozen=True)
class Context:
    """How arithmetic is done: passed once to the leaf of a covariance, which hands it on.

    ``memory_limit`` is in bytes, for what the work takes beside its input; None: the machine's.
    """

    dtype: np.dtype[Any] = field(default=np.dtype(np.float64))
    threads: Threads = field(default=Threads())
    memory_limit: int | None = None

    @classmethod
    def of(
        cls, dtype: Any = np.float64, n_jobs: int | None = None, memory_limit: int | None = None
    ) -> Self:
        """Return a context of threads from the parameters of an estimator."""
        return cls(np.dtype(dtype), Threads(n_jobs), memory_limit)

    def primitives(self, n_nodes: int) -> Primitives:
        """Return the innermost loops for a graph of this size."""
        return primitives_for(n_nodes, self.dtype)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return function(item) for every item, run side by side."""
        return self.threads.map(function, items)

    def tiles(self, n_rows: int, row_bytes: int) -> list[slice]:
        """Cut ``n_rows`` rows of ``row_bytes`` bytes each into tiles that stay in a cache."""
        wanted = min(max(TILE_BYTES, TILE_ROWS * row_bytes), 8 * TILE_BYTES)
        size = max(LEAST_ROWS, self.budget(wanted) // max(row_bytes, 1))
        return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]

    def fill(self, out: Array, function: Callable[[slice], Any], row_bytes: int) -> None:
        """Write function(tile) into the rows of every tile of ``out``."""

        def write(tile: slice) -> None:
            out[tile] = function(tile)

        self.map(write, self.tiles(len(out), row_bytes))

    def multiply(
        self,
        matrix: sp.csr_array,
        right: Array,
        rows: Integers | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return ``out``, with S @ right in all its rows or in some, computed in tiles."""
        shape = matrix.shape[0], right.shape[1]
        written = np.empty(shape, dtype=right.dtype) if out is None else out
        product = self.primitives(len(right)).rows_times

        def tile(part: slice) -> None:
            index = part if rows is None else rows[part]
            written[index] = product(matrix, index, right)

        n_rows = matrix.shape[0] if rows is None else len(rows)
        self.map(tile, self.tiles(n_rows, right.shape[1] * right.itemsize))
        return written

    def budget(self, wanted: int) -> int:
        """Return the size of a buffer: what is wanted, cut to a thread's part of the limit."""
        if self.memory_limit is None:
            return wanted
        return max(2**14, min(wanted, self.memory_limit // (8 * self.threads.n_threads)))

    def whole(self, wanted: int) -> int:
        """Return the size of a buffer of which there is one at a time, not one in each thread."""
        return wanted if self.memory_limit is None else min(wanted, self.memory_limit // 4)

    def fits(self, needed: int) -> bool:
        """Tell whether arrays of so many bytes fit."""
        return needed <= (self.memory_limit or physical_memory())

    def require(self, needed: int, what: str) -> None:
        """Refuse work whose arrays cannot fit, before any of it is done."""
        if not self.fits(needed):
            limit = self.memory_limit or physical_memory()
            raise InputError(
                f"memory_limit is {limit / 2**20:,.0f} MiB, but {what} alone needs "
                f"{needed / 2**20:,.0f} MiB"
            )
