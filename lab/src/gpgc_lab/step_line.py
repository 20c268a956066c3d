"""The line that says how far a command is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gpgc.compute.progress import progress


@contextmanager
def step_line() -> Iterator[Callable[[str], None]]:
    """Show the current step, which the function that is given is told."""
    with progress("working") as meter:
        yield meter.announce
