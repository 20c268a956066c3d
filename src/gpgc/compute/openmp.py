"""OpenMP in forked processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from threadpoolctl import ThreadpoolController


@dataclass
class _Process:
    is_forked: bool = False


_process = _Process()


def _mark_as_forked() -> None:
    _process.is_forked = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_as_forked)


def is_forked() -> bool:
    """Return whether this process is a fork of one that had imported gpgc."""
    return _process.is_forked


@contextmanager
def openmp_threads(most: int) -> Iterator[None]:
    """Hold OpenMP to so many threads, where it would take more, and to one in a forked process.

    GNU's OpenMP keeps its threads for the next loop. A forked process has none of them and waits
    for them forever, unless its loops want no second thread.

    Parameters
    ----------
    most : int
        Number of threads, at least 1.
    """
    loaded = ThreadpoolController().select(user_api="openmp")
    now = max((library["num_threads"] for library in loaded.info()), default=1)
    with loaded.limit(limits=1 if is_forked() else min(most, now)):
        yield
