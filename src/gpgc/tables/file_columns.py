"""Columns of a file: numbers as they come, strings where a column holds any."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.files import Table
from gpgc.files.cells import as_text, is_number, parse_number, shorten
from gpgc.tables.frames import columns_of
from gpgc.tables.kinds import MISSING_MARKS

FIRST_ROWS = 1000
"""Rows by which a column of text is taken for numbers, for true and false, or for strings."""

FLAGS = {"true": 1.0, "false": 0.0}
"""Cells, whatever their case, of a column that holds no others: numbers, as in a frame."""


def read_columns(
    table: Table, id_column: str, kinds: Mapping[str, str]
) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return the ids of a table and its other columns.

    Columns of a file that stores types are those of a frame of the same types. In a file of text a
    column is numbers if most cells of its first thousand rows are; then every cell must be a number
    or missing. A column of true and false is numbers too.

    Parameters
    ----------
    table : Table
        The file.
    id_column : str
        The column with the ids.
    kinds : mapping of str to str
        Column → "number", "category", "text" or "drop" where somebody said so.

    Returns
    -------
    ids : list of str
    columns : dict of str to array of shape (N,)
        Numbers with NaN, or strings with None, where cells are missing.

    Raises
    ------
    InputError
        Of the line with an empty or repeated id, or with a cell that is no number.
    """
    key = table.columns.index(id_column)
    names = {
        index: name
        for index, name in enumerate(table.columns)
        if index != key and kinds.get(name) != "drop"
    }
    if table.typed is not None:
        frame = table.typed()
        texts = map(as_text, frame.column(key).to_pylist())
        named_rows = ((f"{table.source} row {row}", text) for row, text in enumerate(texts, 1))
        chosen = frame.select(list(names)).rename_columns(list(names.values()))
        return _checked_ids(named_rows, table.source), columns_of(chosen, table.source)
    first = list(islice(table.rows, FIRST_ROWS))
    read = {
        index: _reader([row[index] for _, row in first], name, kinds.get(name))
        for index, name in names.items()
    }
    columns: dict[int, Any] = {
        index: [] if reader is _string else array("d") for index, reader in read.items()
    }

    def named() -> Iterator[tuple[str, str]]:
        for place, row in chain(first, table.rows):
            yield place, row[key]
            for index, cells in columns.items():
                cells.append(read[index](row[index], place))

    ids = _checked_ids(named(), table.source)  # reads the rows, so that columns is full
    return ids, {
        names[index]: np.array(cells, dtype=object if isinstance(cells, list) else np.float64)
        for index, cells in columns.items()
    }


def _checked_ids(named: Iterable[tuple[str, str]], source: str) -> list[str]:
    """Return the ids of rows, given with their places, or refuse one that is empty or repeated."""
    ids: dict[str, None] = {}
    for place, text in named:
        if not text or text in ids:
            raise InputError(f"{place}: expected each id once, got {shorten(text)} again or empty")
        ids[text] = None
    if not ids:
        raise InputError(f"{source} line 2: expected at least one node, got none")
    return list(ids)


def _reader(
    first: list[str], name: str, kind: str | None
) -> Callable[[str, str], str | float | None]:
    """Return what makes a number, NaN, a string or None of a cell of a column and its place."""
    given = [text for text in first if text not in MISSING_MARKS]
    if kind in ("category", "text"):
        return _string
    if given and all(text.casefold() in FLAGS for text in given):
        return partial(_flag, name=name)
    if 2 * sum(map(is_number, given)) < len(given) and kind != "number":
        return _string
    return partial(_number, name=name)


def _string(text: str, place: str) -> str | None:
    return None if text in MISSING_MARKS else text


def _number(text: str, place: str, name: str) -> float:
    return np.nan if text in MISSING_MARKS else parse_number(text, place, name)


def _flag(text: str, place: str, name: str) -> float:
    if text in MISSING_MARKS:
        return np.nan
    if text.casefold() not in FLAGS:
        raise InputError(f"{place}: expected true or false as {name}, got {shorten(text)}")
    return FLAGS[text.casefold()]
