"""A fraction that is estimated by counting hits, with its interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from scipy.stats import beta

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
    """Return the Clopper-Pearson interval of a fraction; its coverage is at least the level.

    Examples
    --------
    >>> found = exact_interval(51, 60)
    >>> round(found.low, 2), round(found.high, 2)
    (0.73, 0.93)
    """
    tail = (1 - level) / 2
    low = float(beta.ppf(tail, hits, counted - hits + 1)) if hits else 0.0
    high = float(beta.ppf(1 - tail, hits + 1, counted - hits)) if hits < counted else 1.0
    return Interval(hits / counted if counted else 0.0, low, high)
