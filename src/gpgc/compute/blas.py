"""Threads of BLAS, held to one while several callers share the cores."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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

    def enter(self) -> None:
        with self.lock:
            if self.callers == 0:
                _take_control()
                self.limiter = _blas().limit(limits=1)
            self.callers += 1

    def leave(self) -> None:
        with self.lock:
            self.callers -= 1
            if self.callers == 0:
                _take_control()
                self.limiter.restore_original_limits()
                self.limiter = None
                _take_control()  # and leave it to nobody

    def forget(self) -> None:
        """Begin anew in a forked process, where the other callers do not exist."""
        self.lock, self.callers = threading.Lock(), 0
        if self.limiter is not None:
            _take_control()
            self.limiter.restore_original_limits()
            self.limiter = None


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
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_hold.forget)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread, for as long as any caller in the process is inside."""
    _hold.enter()
    try:
        yield
    finally:
        _hold.leave()


@contextmanager
def small_matrices(order: int) -> Iterator[None]:
    """Hold BLAS to one thread for matrices that are too small to share, which it does not see."""
    if order > SHARED_FROM:
        yield
        return
    with one_blas_thread():
        yield
