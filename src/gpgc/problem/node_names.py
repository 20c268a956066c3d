"""Names of nodes: where tables have them, and a check of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.problem.frames import ID, cells_of, id_of, is_frame, is_missing


def names_of(table: Any, id_column: str = ID) -> NDArray[Any] | None:
    """Return the column ``id``, else an index of pandas unless it is 0, 1, …, else None."""
    if isinstance(table, Mapping):
        called = id_of(table, id_column)
        return None if called is None else as_names(list(table[called]))
    if is_frame(table) and (called := id_of(table, id_column)) is not None:
        return as_names(cells_of(table, called))
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
    return np.fromiter(names, dtype=object, count=len(names))  # a tuple is one name


def positions_of(names: Iterable[Any], what: str) -> dict[Any, int]:
    """Return where each name is, refusing one that is there twice."""
    position: dict[Any, int] = {}
    for place, name in enumerate(names):
        if name in position:
            raise InputError(f"{what} must name each node once, got {name!r:.60} again")
        position[name] = place
    return position
