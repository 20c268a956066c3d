"""One value that says how arithmetic is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import numpy as np

from gpgc._typing import Array
from gpgc.compute.memory import Memory
from gpgc.compute.primitives import Primitives, primitives_for
from gpgc.compute.runner import Runner, Threads

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

    Parameters
    ----------
    dtype : numpy dtype, default float64
        Of the blocks; float64 is the reference.
    runner : Runner
        Who runs tiles; by default threads on all cores.
    memory : Memory
        What the work may take; by default what the machine has.

    Examples
    --------
    >>> context = Context.of("float64", n_jobs=1)
    >>> out = np.empty((3, 1))
    >>> context.fill(out, lambda rows: np.arange(3.0)[rows, None] ** 2, row_bytes=8)
    >>> out.ravel()
    array([0., 1., 4.])
    """

    dtype: np.dtype[Any] = field(default=np.dtype(np.float64))
    runner: Runner = field(default=Threads())
    memory: Memory = field(default=Memory())

    @classmethod
    def of(
        cls, dtype: Any = np.float64, n_jobs: int | None = None, memory_limit: int | None = None
    ) -> Self:
        """Return a context of threads from the parameters of an estimator."""
        return cls(np.dtype(dtype), Threads(n_jobs), Memory(memory_limit))

    def primitives(self, n_nodes: int) -> Primitives:
        """Return the innermost loops for a graph of this size."""
        return primitives_for(n_nodes, self.dtype)

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return function(item) for every item, run side by side."""
        return self.runner.map(function, items)

    def tiles(self, n_rows: int, row_bytes: int) -> list[slice]:
        """Cut ``n_rows`` rows of ``row_bytes`` bytes each into tiles that stay in a cache."""
        wanted = min(max(TILE_BYTES, TILE_ROWS * row_bytes), 8 * TILE_BYTES)
        size = max(LEAST_ROWS, self.budget(wanted) // max(row_bytes, 1))
        return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]

    def fill(self, out: Array, function: Callable[[slice], Any], row_bytes: int) -> None:
        """Write function(tile) into the rows of every tile of ``out``.

        Parameters
        ----------
        out : array of shape (n, ...)
            Where the results go.
        function : callable
            Returns the rows of a tile, from arrays that it does not change.
        row_bytes : int
            What a row takes while it is computed.
        """

        def write(tile: slice) -> None:
            out[tile] = function(tile)

        self.map(write, self.tiles(len(out), row_bytes))

    def budget(self, wanted: int) -> int:
        """Return the size of a buffer: what is wanted, cut to the memory limit."""
        return self.memory.budget(wanted, self.runner.n_threads)

    def whole(self, wanted: int) -> int:
        """Return the size of a buffer of which there is one at a time, not one in each thread."""
        return self.memory.whole(wanted)

    def require(self, needed: int, what: str) -> None:
        """Refuse work whose arrays cannot fit, before any of it is done."""
        self.memory.require(needed, what)
