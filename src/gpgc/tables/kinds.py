"""What a column of a table is: numbers, categories or text."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal, get_args

from numpy.typing import NDArray

from gpgc.errors import InputError

Kind = Literal["number", "category", "text", "drop"]

TEXT_WORDS = 3.0
"""Mean number of words of a cell from which on a column of strings can be text."""

TEXT_DISTINCT = 0.5
"""Fraction of different values among its cells above which such a column is text."""

MISSING_MARKS = ("", "nan", "NaN", "NA", "None", "null")
"""Cells of a file that stand for a missing value."""


def kind_of(values: NDArray[Any]) -> Kind:
    """Return what a column is that nobody has said anything about.

    Parameters
    ----------
    values : array of shape (N,)
        Numbers, or strings with None where a value is missing.

    Returns
    -------
    {"number", "category", "text"}
        Strings are text where most of them differ and they have three words or more on average.

    Examples
    --------
    >>> import numpy as np
    >>> kind_of(np.array(["red", "blue", "red", None], dtype=object))
    'category'
    >>> kind_of(np.array(["a graph of words", "words in a graph"], dtype=object))
    'text'
    """
    if values.dtype.kind == "f":
        return "number"
    given = [value for value in values if value is not None]
    if not given:
        return "category"
    words = sum(len(value.split()) for value in given) / len(given)
    is_text = words >= TEXT_WORDS and len(set(given)) > TEXT_DISTINCT * len(given)
    return "text" if is_text else "category"


def check_kinds(
    kinds: Mapping[str, str] | None, columns: Collection[str], source: str
) -> dict[str, Kind]:
    """Return the wanted kinds of columns, refusing unknown columns and kinds.

    Parameters
    ----------
    kinds : mapping of str to str, optional
        Column → "number", "category", "text" or "drop".
    columns : collection of str
        The columns that there are.
    source : str
        How to call the argument or option in error messages.
    """
    checked: dict[str, Kind] = {}
    for column, kind in (kinds or {}).items():
        if column not in columns:
            shown = ", ".join(list(columns)[:20])
            raise InputError(f"{source} must name columns among {shown:.300}, got {column!r:.60}")
        known: dict[str, Kind] = {name: name for name in get_args(Kind)}
        if kind not in known:
            raise InputError(
                f"{source} must be one of {', '.join(get_args(Kind))} for the column "
                f"{column!r:.60}, got {kind!r:.60}"
            )
        checked[column] = known[kind]
    return checked
