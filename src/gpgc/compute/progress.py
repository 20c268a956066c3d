"""What long work says about itself: nothing for two seconds, then a line with the time left.

Whoever starts the work opens a :func:`progress`; what runs inside reports to it, wherever it is,
by :func:`announce` and :func:`tracked`, and runners count their pieces. Without an open one
nothing is counted and nothing is said.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

DELAY = 2.0
"""Seconds before anything is said."""

REDRAW, REPEAT = 0.25, 60.0
"""Seconds between two states of the line in a terminal, and between two lines elsewhere."""

_open: ContextVar[Meter | None] = ContextVar("progress", default=None)


class Meter:
    """How far a task is: what it is doing, and how many pieces of that are done."""

    def __init__(self, task: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.task, self.step, self.is_outer = task, "", False
        self._clock, self._lock = clock, threading.Lock()
        self._started = self._step_started = self._advanced = clock()
        self._done = self._total = 0

    def announce(self, step: str) -> None:
        """Say what is being done from now on."""
        self.step = step

    def begin(self, total: int) -> None:
        """Begin with pieces that are to be counted."""
        with self._lock:
            self._done, self._total, self._step_started = 0, total, self._clock()
            self._advanced = self._step_started

    def advance(self, pieces: int = 1) -> None:
        """Count pieces that are done."""
        with self._lock:
            self._done, self._advanced = self._done + pieces, self._clock()

    def done(self, done: int, total: int) -> None:
        """Say how many of how many pieces of the whole are done."""
        with self._lock:
            self.is_outer, self._done, self._total = True, done, total
            self._advanced = self._clock()

    def line(self) -> str:
        """Return the state in a line: the share that is done, and the time left."""
        with self._lock:
            done, total = self._done, self._total
            taken, advanced = self._advanced - self._step_started, self._advanced
        now = self._clock()
        said = self.task + (f", {self.step}" if self.step else "")
        if not 0 < done < total:
            return f"{said}: {duration(now - self._started)} so far"
        left = duration(max(0.0, taken / done * (total - done) - (now - advanced)))
        where = "left" if self.is_outer else "left in this step"
        return f"{said}: {100 * done // total} %, about {left} {where}"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


@contextmanager
def progress(task: str, wanted: bool = True, stream: TextIO | None = None) -> Iterator[Meter]:
    """Show how far the work inside is, if it takes more than two seconds."""
    outer = _open.get()
    if outer is not None or not wanted:
        yield outer or Meter(task)
        return
    meter = Meter(task)
    finished = threading.Event()
    shown_on = sys.stderr if stream is None else stream
    shower = threading.Thread(target=_show, args=(meter, finished, shown_on), daemon=True)
    token = _open.set(meter)
    shower.start()
    try:
        yield meter
    finally:
        _open.reset(token)
        finished.set()
        shower.join()


@contextmanager
def silent() -> Iterator[None]:
    """Show no progress of the work inside."""
    token = _open.set(Meter("silent"))
    try:
        yield
    finally:
        _open.reset(token)


def announce(step: str) -> None:
    """Tell an open progress, if there is one, what is being done from now on."""
    meter = _open.get()
    if meter is not None:
        meter.announce(step)


def count_done(done: int, total: int) -> None:
    """Tell an open progress, if there is one, how many of how many pieces of the whole are done."""
    meter = _open.get()
    if meter is not None:
        meter.done(done, total)


def tracked(items: Sequence[Item]) -> Iterator[Item]:
    """Give the items one by one, and count them where a progress is open."""
    meter = _open.get()
    if meter is None or meter.is_outer:
        yield from items
        return
    meter.begin(len(items))
    meter.is_outer = True
    try:
        for item in items:
            yield item
            meter.advance()
    finally:
        meter.is_outer = False


def counted(function: Callable[[Item], Result], total: int) -> Callable[[Item], Result]:
    """Return a function that counts its calls where a progress is open; for runners."""
    meter = _open.get()
    if meter is None or meter.is_outer or total < 2:
        return function
    meter.begin(total)

    def count(item: Item) -> Result:
        result = function(item)
        meter.advance()
        return result

    return count


def _show(meter: Meter, finished: threading.Event, stream: TextIO) -> None:
    if finished.wait(DELAY):
        return
    if not stream.isatty():
        while True:
            stream.write(f"gpgc: {meter.line()}\n")
            stream.flush()
            if finished.wait(REPEAT):
                return
    while True:
        stream.write(f"\r{meter.line()}\x1b[K")
        stream.flush()
        if finished.wait(REDRAW):
            stream.write("\r\x1b[K")
            stream.flush()
            return
