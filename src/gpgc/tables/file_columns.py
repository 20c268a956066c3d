"""Columns of a file: numbers as they come, strings where a column holds any."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.files import Table
from gpgc.files.cells import is_number, parse_number, shorten
from gpgc.tables.kinds import MISSING_MARKS

FIRST_ROWS = 1000
"""Rows by which a column is taken for numbers or strings."""


def read_columns(
    table: Table, id_column: str, kinds: Mapping[str, str]
) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return the ids of a table and its other columns.

    A column is numbers if most cells of its first thousand rows are; then every cell must be a
    number or missing.

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
    ids: dict[str, None] = {}

    def add_id(place: str, row: list[str]) -> None:
        if not row[key] or row[key] in ids:
            raise InputError(
                f"{place}: expected each id once, got {shorten(row[key])} again or empty"
            )
        ids[row[key]] = None

    first = list(islice(table.rows, FIRST_ROWS))
    columns: dict[int, Any] = {}
    for index, name in names.items():
        given = [row[index] for _, row in first if row[index] not in MISSING_MARKS]
        n_numbers = sum(map(is_number, given))
        is_text = kinds.get(name) in ("category", "text") or 2 * n_numbers < len(given)
        columns[index] = [] if is_text and kinds.get(name) != "number" else array("d")
    for rows in (first, table.rows):
        for place, row in rows:
            add_id(place, row)
            for index, cells in columns.items():
                cells.append(_cell(row[index], place, names[index], isinstance(cells, list)))
    if not ids:
        raise InputError(f"{table.source} line 2: expected at least one node, got none")
    return list(ids), {
        names[index]: np.array(cells, dtype=object if isinstance(cells, list) else np.float64)
        for index, cells in columns.items()
    }


def _cell(text: str, place: str, name: str, is_text: bool) -> str | float | None:
    if text in MISSING_MARKS:
        return None if is_text else np.nan
    return text if is_text else parse_number(text, place, name)
