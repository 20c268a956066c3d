"""Threads of native libraries, BLAS and OpenMP, while several callers share the cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import threadpoolctl
from threadpoolctl import ThreadpoolController

SHARED_FROM = 600
"""Order of a matrix from which its factorisation gains from threads."""


class _Hold:
    """How many callers want one thread in BLAS: the first sets it, the last restores it.

    The limit belongs to the process. If each caller saved and restored it alone, the second would
    save the limit of the first, and restore it after the first had gone.

    Recent versions of threadpoolctl let one thread control OpenBLAS and ignore all others without
    a word. The hold therefore takes the control over before it sets or restores the limit.
    """

    lock = threading.Lock()
    callers = 0
    limiter: Any = None

    def count(self, change: int) -> None:
        with self.lock:
            self.callers += change
            if self.limiter is None:
                _take_control()
                self.limiter = _blas().limit(limits=1)
            elif self.callers == 0:
                self.restore()

    def restore(self) -> None:
        if self.limiter is not None:
            _take_control()
            self.limiter.restore_original_limits()
            self.limiter = None
            _take_control()  # and leave it to nobody

    def forget(self) -> None:
        """Begin anew in a forked process, where the other callers do not exist."""
        self.lock, self.callers = threading.Lock(), 0
        self.restore()


def _take_control() -> None:
    """Make whichever thread next sets the limit of OpenBLAS the one that may."""
    clear = getattr(
        getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None
    )
    if clear is not None:
        clear(force=True)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


_hold = _Hold()
_forked = threading.Event()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_hold.forget)
    os.register_at_fork(after_in_child=_forked.set)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, for as long as any caller in the process is inside."""
    _hold.count(1)
    try:
        yield
    finally:
        _hold.count(-1)


def small_matrices(order: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread for matrices that are too small to share, which it does not see."""
    return nullcontext() if order > SHARED_FROM else one_blas_thread()


def is_forked() -> bool:
    """Return whether this process is a fork of one that had imported gpgc."""
    return _forked.is_set()


@contextmanager
def openmp_threads(most: int) -> Iterator[None]:
    """Hold OpenMP to so many threads, where it would take more, and to one in a forked process.

    A forked process has none of the threads that GNU's OpenMP keeps, and would wait for them.
    """
    loaded = ThreadpoolController().select(user_api="openmp")
    now = max((library["num_threads"] for library in loaded.info()), default=1)
    with loaded.limit(limits=1 if is_forked() else min(most, now)):
        yield
