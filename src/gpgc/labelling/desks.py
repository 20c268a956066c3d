"""Which items lie before whom."""

from __future__ import annotations

import time
from collections.abc import Callable

LEASE = 120.0
"""Seconds after which items of somebody who went away are free for others."""


class Desks:
    """The items that were shown to each person and are not decided yet."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._desks: dict[str, tuple[int, ...]] = {}
        self._asked: dict[str, float] = {}

    def of(self, by: str) -> tuple[int, ...]:
        """Return the items on a person's desk, who is there now."""
        now = self._clock()
        self._asked = {
            name: at for name, at in self._asked.items() if name == by or now - at <= LEASE
        } | {by: now}
        self._desks = {name: self._desks.get(name, ()) for name in self._asked}
        return self._desks[by]

    def put(self, by: str, node: int, *, first: bool = False) -> None:
        """Put an item on a person's desk, last or first of all; it leaves all others."""
        others = tuple(each for each in self.of(by) if each != node)
        self.keep(lambda _, each: each != node)
        self._desks = self._desks | {by: (node, *others) if first else (*others, node)}

    def hold(self, node: int) -> bool:
        """Return whether an item lies on any desk."""
        return any(node in desk for desk in self._desks.values())

    def items(self) -> list[int]:
        """Return all items on all desks."""
        return [node for desk in self._desks.values() for node in desk]

    def keep(self, is_open: Callable[[str, int], bool]) -> None:
        """Take away what needs no decision any more, by a person and an item."""
        self._desks = {
            by: tuple(node for node in desk if is_open(by, node))
            for by, desk in self._desks.items()
        }
