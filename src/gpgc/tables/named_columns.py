"""Labels in two dimensions whose columns have names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.tables.frames import cells_of, column_names, is_frame
from gpgc.tables.node_names import as_names


@dataclass(frozen=True, eq=False)
class NamedColumns:
    """An array of two dimensions that keeps the names of its columns wherever it goes.

    Attributes
    ----------
    rows : array of shape (N, k)
        A row for each node.
    columns : array of shape (k,)
        What the columns are called.
    """

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
    """Return a table of any form with the names of its columns, 0 … k − 1 where it has none.

    Parameters
    ----------
    table : frame, NamedColumns, array or sparse matrix of shape (N, k)

    Examples
    --------
    >>> named_columns(np.eye(2)).columns
    array([0, 1])
    """
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
