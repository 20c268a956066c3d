"""Names of nodes: where tables have them, and a check of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.tables.frames import ID, cells_of, column_names, is_frame, is_missing


def names_of(table: Any, id_column: str = ID) -> NDArray[Any] | None:
    """Return the names of the nodes of a table, None if it has none.

    They are the column ``id``, else the index of a pandas frame or series unless it is the default
    one (0, 1, …).

    Parameters
    ----------
    table : frame, series, or mapping of str to sequence
        A row for each node.
    id_column : str, default "id"
        The column with the names.
    """
    if isinstance(table, Mapping):
        return as_names(list(table[id_column])) if id_column in table else None
    if is_frame(table) and id_column in column_names(table):
        return as_names(cells_of(table, id_column))
    if not (hasattr(table, "iloc") and hasattr(table, "index")):
        return None
    names = list(table.index)
    return None if names == list(range(len(names))) else as_names(names)


def as_names(names: Sequence[Any], what: str = "names of nodes") -> NDArray[Any]:
    """Return names as an array of whole numbers or of objects, refusing what is missing.

    Examples
    --------
    >>> as_names([3, 1]), as_names(["a", 1])
    (array([3, 1]), array(['a', 1], dtype=object))
    """
    if any(is_missing(name) for name in names):
        raise InputError(f"{what} must not be missing, got None or NaN")
    if all(isinstance(name, int | np.integer) and not isinstance(name, bool) for name in names):
        return np.array(names, dtype=np.int64 if len(names) == 0 else None)
    array = np.empty(len(names), dtype=object)
    for place, name in enumerate(names):
        array[place] = name  # one at a time: a tuple is one name
    return array


def positions_of(names: Iterable[Any], what: str) -> dict[Any, int]:
    """Return where each name is, refusing one that is there twice."""
    position: dict[Any, int] = {}
    for place, name in enumerate(names):
        if name in position:
            raise InputError(f"{what} must name each node once, got {name!r:.60} again")
        position[name] = place
    return position
