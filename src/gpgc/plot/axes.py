"""Axes to draw on, and colours that people with other eyes can tell apart."""

from __future__ import annotations

from typing import Any

from gpgc.errors import InputError

# fmt: off
COLOURS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#92dadd", "#a96b59", "#e76300", "#b9ac70",
    "#2f8f4e", "#e377c2", "#1b3f8b", "#9bd770", "#5c1a33", "#00a88f", "#f7d154", "#7f6bf2",
    "#5b5a00", "#ff9c8a", "#0b5d6b", "#c9007a",
)
# fmt: on
"""Those of the page to label on; after the twentieth class they begin anew with other marks."""

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
