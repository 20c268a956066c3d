"""Cells of a table as numbers and names."""

from __future__ import annotations

import math
from typing import Any

from gpgc.errors import InputError

LARGEST = 1e150
"""Magnitude of a feature or weight from which on its square is no number any more."""


def parse_number(text: str, place: str, name: str) -> float:
    """Return a cell as a finite number; `place` and `name` are its row and column."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{place}: expected a finite number as {name}, got {shorten(text)}")
    if abs(value) > LARGEST:
        raise InputError(
            f"{place}: expected a number of at most {LARGEST:g} as {name}, got {shorten(text)}"
        )
    return value


def as_text(value: Any) -> str:
    """Return a stored value as a cell of text; whole numbers alike whatever their type.

    Examples
    --------
    >>> as_text(3.0), as_text("  red "), as_text(None)
    ('3', 'red', '')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def is_number(text: str) -> bool:
    """Return whether a cell reads as a number, NaN and infinity included."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def shorten(text: str) -> str:
    """Return a cell in quotes, cut where it is long."""
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
