"""Names of nodes, where tables have them, and of the columns of labels in two dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.problem.frames import ID, cells_of, column_names, id_of, is_frame, is_missing


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


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """An array (N, k) that keeps the names of its k columns wherever it goes."""

    rows: NDArray[Any]
    columns: NDArray[Any]

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return self.rows.shape[0], self.rows.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.rows, dtype=dtype)

    def take(self, index: NDArray[Any]) -> Self:
        """Return the same columns with the rows in another order."""
        return self.with_rows(self.rows[index])

    def with_rows(self, rows: NDArray[Any]) -> Self:
        """Return the same columns with other rows."""
        return replace(self, rows=rows)


def named_columns(table: Any) -> NamedColumns:
    """Return a table of any form with the names of its columns, 0 … k − 1 where it has none."""
    if isinstance(table, NamedColumns):
        return table
    if hasattr(table, "iloc"):
        return NamedColumns(np.asarray(table), as_names(list(table.columns), "columns"))
    if is_frame(table):
        return columns_of_frame(table, column_names(table))
    rows = table.toarray() if sp.issparse(table) else table
    return NamedColumns(rows, np.arange(rows.shape[1]))


def columns_of_frame(frame: Any, names: list[Any]) -> NamedColumns:
    """Return some columns of a frame, by their names."""
    rows = np.empty((frame.shape[0], len(names)), dtype=object)
    for place, name in enumerate(names):
        rows[:, place] = cells_of(frame, name)
    return NamedColumns(rows, as_names(names, "columns"))
