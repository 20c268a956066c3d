"""Tiles and threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

from gpgc._typing import Integers
from gpgc.engine.blas import one_blas_thread
from gpgc.errors import InputError

Item = TypeVar("Item")

TILE_BYTES = 2**20
"""Size of one tile of results, so that a tile and its scratch stay in a core's cache."""

TILE_ROWS = 512
"""Rows that make a matrix product fast: wide tiles have so many, up to eight times the size."""

_inside = threading.local()


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the helpers of the whole process, at most one a core.

    They stay: starting a thread anew takes as long as a small piece of work. Callers that find all
    of them busy do their work themselves.
    """
    return ThreadPoolExecutor(_n_cores(), thread_name_prefix="gpgc")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


@dataclass(frozen=True)
class Engine:
    """Runs independent pieces of work in threads, with BLAS held to one thread in each.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads, at most one for each core that this process may use; None or -1
        stands for that many.
    memory_limit : int, optional
        Bytes that the work may take beside its input. Buffers and tiles are cut to it; what
        cannot be cut is refused. None stands for the memory that the machine has.
    """

    n_jobs: int | None = None
    memory_limit: int | None = None

    def __post_init__(self) -> None:
        if self.n_jobs is not None and (self.n_jobs == 0 or self.n_jobs < -1):
            raise InputError(
                f"n_jobs must be None, -1 or a positive whole number, got {self.n_jobs!r}"
            )

        if self.memory_limit is not None and not self.memory_limit > 0:
            raise InputError(
                f"memory_limit must be None or a positive number of bytes, "
                f"got {self.memory_limit!r}"
            )

    def require(self, needed: int, what: str) -> None:
        """Refuse work whose arrays cannot fit, before any of it is done."""
        limit = self.memory_limit or _physical_memory()
        if needed > limit:
            raise InputError(
                f"memory_limit is {limit / 2**20:,.0f} MiB, but {what} alone needs "
                f"{needed / 2**20:,.0f} MiB"
            )

    def budget(self, wanted: int) -> int:
        """Return the size of a buffer: what is wanted, cut to a share of the memory limit."""
        if self.memory_limit is None:
            return wanted
        return max(2**14, min(wanted, self.memory_limit // (8 * self.n_threads)))

    def whole(self, wanted: int) -> int:
        """Return the size of a buffer of which there is one at a time, not one in each thread."""
        return wanted if self.memory_limit is None else min(wanted, self.memory_limit // 4)

    @property
    def n_threads(self) -> int:
        """The number of threads that will be used."""
        if self.n_jobs is None or self.n_jobs == -1:
            return _n_cores()
        return min(self.n_jobs, _n_cores())

    def each(self, work: Callable[[Item], None], items: Iterable[Item]) -> None:
        """Call ``work`` on every item, in threads; inside such a call, one after the other."""
        pieces = list(items)
        if getattr(_inside, "worker", False):
            for piece in pieces:
                work(piece)
            return

        waiting = iter(pieces)

        def help_out() -> None:
            _inside.worker = True
            try:
                for piece in waiting:
                    work(piece)
            finally:
                _inside.worker = False

        helpers = min(self.n_threads, len(pieces)) - 1
        with one_blas_thread():
            asked = [_pool().submit(help_out) for _ in range(helpers)]
            try:
                help_out()
            finally:
                running = [helper for helper in asked if not helper.cancel()]
                wait(running)
            for helper in running:
                helper.result()

    def rows(self, n_rows: int, row_bytes: int, work: Callable[[slice], None]) -> None:
        """Cut ``n_rows`` rows of ``row_bytes`` each into tiles and call ``work`` on each tile."""
        wanted = min(max(TILE_BYTES, TILE_ROWS * row_bytes), 8 * TILE_BYTES)
        size = max(16, self.budget(wanted) // max(row_bytes, 1))
        tiles = [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
        self.each(work, tiles)


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _physical_memory() -> int:
    if not hasattr(os, "sysconf"):
        return 2**62
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def split(items: Integers, size: int) -> list[Integers]:
    """Cut an array into pieces of at most ``size`` elements."""
    return [items[start : start + size] for start in range(0, len(items), max(size, 1))]
