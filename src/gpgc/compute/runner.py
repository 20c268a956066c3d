"""Who runs independent pieces of work: one thread, or several."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from gpgc._typing import Integers
from gpgc.compute.native import one_blas_thread
from gpgc.compute.numbers import is_whole
from gpgc.compute.progress import counted
from gpgc.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

_inside = threading.local()


@dataclass(frozen=True)
class Threads:
    """Threads that stay, the calling one among them; None or -1 stands for all usable cores."""

    n_jobs: int | None = None

    def __post_init__(self) -> None:
        if not (self.n_jobs in (None, -1) or is_whole(self.n_jobs, 1)):
            raise InputError(
                f"n_jobs must be None, -1 or a positive whole number, got {self.n_jobs!r}"
            )

    @property
    def n_threads(self) -> int:
        """The number of threads that will be used."""
        if self.n_jobs is None or self.n_jobs == -1:
            return _n_cores()
        return min(self.n_jobs, _n_cores())

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Return function(item) for every item; inside such a call, one after the other."""
        pieces = list(items)
        if getattr(_inside, "worker", False):
            return [function(piece) for piece in pieces]
        function = counted(function, len(pieces))
        results: list[Any] = [None] * len(pieces)
        waiting = iter(range(len(pieces)))

        def work() -> None:
            _inside.worker = True
            try:
                for index in waiting:
                    results[index] = function(pieces[index])
            finally:
                _inside.worker = False

        n_helpers = min(self.n_threads, len(pieces)) - 1
        with one_blas_thread():
            asked = [_pool().submit(work) for _ in range(n_helpers)]
            try:
                work()
            except BaseException:  # also of Ctrl-C: nothing more is begun
                for _ in waiting:
                    pass
                raise
            finally:
                running = [helper for helper in asked if not helper.cancel()]
                wait(running)
            for helper in running:
                helper.result()
        return results


def split(items: Integers, size: int) -> Sequence[Integers]:
    """Cut an array into pieces of at most ``size`` elements, and of one at least."""
    step = max(size, 1)
    return [items[start : start + step] for start in range(0, len(items), step)]


@cache
def _pool() -> ThreadPoolExecutor:
    """Return threads that stay: starting them anew takes as long as a small piece of work."""
    return ThreadPoolExecutor(_n_cores(), thread_name_prefix="gpgc")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _n_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
