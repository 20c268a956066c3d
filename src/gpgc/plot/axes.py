"""Axes to draw on, and colours that people with other eyes can tell apart."""

from __future__ import annotations

from typing import Any

from gpgc.errors import InputError

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#f0e442", "#000000")
"""The colours of Okabe and Ito; after the eighth class they begin anew with other marks."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
GREY = "#999999"


def axes_or_new(ax: Any, size: tuple[float, float] = (6.0, 4.5)) -> Any:
    """Return the given axes, or new ones of this size in inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise InputError(
            "pictures need matplotlib, which is not installed: run `pip install 'gpgc[plot]'`"
        ) from error
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def plain(text: object) -> str:
    """Return text that matplotlib shows as it is, without a formula between dollar signs."""
    return str(text).replace("$", r"\$")


def colour_of(code: int) -> str:
    """Return the colour of a class."""
    return COLOURS[code % len(COLOURS)]


def mark_of(code: int) -> str:
    """Return the mark of a class."""
    return MARKS[(code + code // len(COLOURS)) % len(MARKS)]
