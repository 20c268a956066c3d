"""A fraction that is estimated by counting hits, with its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from scipy.special import betaincinv

LEAST = 5
"""Counted items from which on a number is shown."""


@dataclass(frozen=True)
class Interval:
    """A fraction with an interval."""

    mean: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Return it for JSON."""
        return asdict(self)


def exact_interval(hits: int, counted: int, level: float = 0.95) -> Interval:
    """Return the Clopper-Pearson interval of a fraction; its coverage is at least the level."""
    tail = (1 - level) / 2
    low = float(betaincinv(hits, counted - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, counted - hits, 1 - tail)) if hits < counted else 1.0
    return Interval(hits / counted if counted else 0.0, low, high)
