"""Which items lie before whom."""

from __future__ import annotations

import time
from collections.abc import Callable

LEASE = 120.0
"""Seconds after which items of somebody who went away are free for others."""


class Desks:
    """The items that were shown to each person and are not decided yet.

    An item lies on one desk at most. Somebody who asked for nothing for two minutes keeps their
    items only until somebody else asks.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> desks = Desks()
    >>> desks.of("anna").append(7)
    >>> desks.hold(7), desks.of("ben")
    (True, [])
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._desks: dict[str, list[int]] = {}
        self._asked: dict[str, float] = {}

    def of(self, by: str) -> list[int]:
        """Return a person's desk, to be changed in place."""
        now = self._clock()
        gone = [name for name, at in self._asked.items() if name != by and now - at > LEASE]
        for name in gone:
            del self._desks[name], self._asked[name]
        self._asked[by] = now
        return self._desks.setdefault(by, [])

    def hold(self, node: int) -> bool:
        """Return whether an item lies on any desk."""
        return any(node in desk for desk in self._desks.values())

    def items(self) -> list[int]:
        """Return all items on all desks."""
        return [node for desk in self._desks.values() for node in desk]

    def keep(self, is_open: Callable[[int], bool]) -> None:
        """Take away what needs no decision any more."""
        for desk in self._desks.values():
            desk[:] = [node for node in desk if is_open(node)]
