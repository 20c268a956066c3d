"""Labels in two dimensions whose columns have names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.problem.frames import cells_of, column_names, is_frame
from gpgc.problem.node_names import as_names


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
