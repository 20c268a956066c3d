"""Columns of text: numbers, true and false, dates, or strings, by their first cells."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.files.cells import is_number, parse_number, shorten
from gpgc.problem.columns import MISSING_MARKS

FIRST_ROWS = 1000
"""Rows by which a column of text is taken for numbers, flags, dates, or strings."""

FLAGS = {"true": 1.0, "false": 0.0}
"""Cells, whatever their case, of a column that holds no others: numbers, as in a frame."""

_CODE = re.compile(r"[+-]?0\d+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_A_TIME = int(np.datetime64("NaT", "us").astype(np.int64))


class CellReader:
    """The cells of one column of text, which become an array of numbers, times or strings.

    Most of its first cells decide, unless somebody said of what kind it is.
    """

    def __init__(self, name: str, first: Sequence[str], kind: str | None = None) -> None:
        self._name, self._may_be_code = name, kind == "number"
        given = [text for text in first if text not in MISSING_MARKS]
        self._cells: Any = array("d")
        self._read: Callable[[str, str], str | float | None]
        if kind in ("category", "text"):
            self._read, self._cells = self._string, []
        elif given and all(text.casefold() in FLAGS for text in given):
            self._read = self._flag
        elif given and all(map(_DATE.fullmatch, given)):
            self._read, self._cells = self._date, array("q")
        elif kind == "number" or (
            2 * sum(map(is_number, given)) >= len(given) and not any(map(_CODE.fullmatch, given))
        ):
            self._read = self._number
        else:
            self._read, self._cells = self._string, []

    def append(self, text: str, place: str) -> None:
        """Add a cell that stands at a place, such as ``x.csv line 3``."""
        self._cells.append(self._read(text, place))

    def values(self) -> NDArray[Any]:
        """Return numbers with NaN, times with NaT, or strings with None."""
        if isinstance(self._cells, list):
            return np.array(self._cells, dtype=object)
        numbers = np.array(self._cells)
        return numbers.view("datetime64[us]") if numbers.dtype == np.int64 else numbers

    def _string(self, text: str, place: str) -> str | None:
        return text or None

    def _number(self, text: str, place: str) -> float:
        if text in MISSING_MARKS:
            return np.nan
        if _CODE.fullmatch(text) and not self._may_be_code:
            raise InputError(
                f"{place}: expected a number as {self._name}, got {shorten(text)}, which begins "
                f"with 0: say {self._name}=category or {self._name}=number"
            )
        return parse_number(text, place, self._name)

    def _flag(self, text: str, place: str) -> float:
        if text in MISSING_MARKS:
            return np.nan
        if text.casefold() not in FLAGS:
            raise InputError(
                f"{place}: expected true or false as {self._name}, got {shorten(text)}"
            )
        return FLAGS[text.casefold()]

    def _date(self, text: str, place: str) -> int:
        if text in MISSING_MARKS:
            return _NOT_A_TIME
        try:
            time = datetime.fromisoformat(text if _DATE.fullmatch(text) else "")
        except ValueError as error:
            raise InputError(
                f"{place}: expected a date such as 2024-01-31 as {self._name}, got {shorten(text)}"
            ) from error
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        return (time - _EPOCH) // timedelta(microseconds=1)


def column_of_texts(cells: Iterable[str], name: str, kind: str | None = None) -> NDArray[Any]:
    """Return a column of cells that are all known, as a file that holds them is read.

    Examples
    --------
    >>> column_of_texts(["1", "NA", "2.5"], "size")
    array([1. , nan, 2.5])
    >>> column_of_texts(["02139", "10001"], "zip")
    array(['02139', '10001'], dtype=object)
    """
    texts = list(cells)
    column = CellReader(name, texts[:FIRST_ROWS], kind)
    for row, text in enumerate(texts):
        column.append(text, f"{name} row {row}")
    return column.values()
