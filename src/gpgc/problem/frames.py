"""Frames of any library, through narwhals: what they are, their columns, and new ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.files.cells import as_text
from gpgc.problem.text_cells import column_of_texts

ID = "id"
"""The column of a frame that holds the names of nodes."""

BACKENDS = ("pandas", "polars", "pyarrow")


def is_frame(value: Any) -> bool:
    """Return whether something is a table of columns: pandas, polars, Arrow and their like."""
    if type(value).__name__ == "LazyFrame":
        raise InputError("a frame must be in memory, got a LazyFrame: call its collect() first")
    if isinstance(value, np.ndarray) or not (hasattr(value, "columns") and hasattr(value, "shape")):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(value))


def columns_of(
    table: Any,
    name: str = "X",
    *,
    drop: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> dict[str, NDArray[Any]]:
    """Return the columns of a frame or mapping: numbers as float64, times, and strings or None."""
    known = kinds or {}
    if isinstance(table, Mapping):
        columns = {
            str(key): _column(values, f"{name}[{key!r}]", known.get(str(key)))
            for key, values in table.items()
            if str(key) not in drop
        }
    else:
        frame = _narwhal(table)
        names = [str(column) for column in frame.columns]
        if len(set(names)) < len(names):
            twice = next(column for column in names if names.count(column) > 1)
            raise InputError(f"{name} must have each column once, got {twice!r:.60} again")
        columns = {
            key: _frame_column(series, f"{name}[{key!r}]", known.get(key))
            for key, series in zip(names, frame.iter_columns(), strict=True)
            if key not in drop
        }
    if len({len(values) for values in columns.values()}) > 1:
        sizes = ", ".join(f"{key} {len(values)}" for key, values in list(columns.items())[:5])
        raise InputError(f"{name} must have columns of one length, got {sizes}")
    return columns


def column_names(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame or mapping."""
    if isinstance(frame, Mapping):
        return list(frame)
    return list(_narwhal(frame).columns)


def id_of(table: Any, wanted: str = ID) -> Any | None:
    """Return the column that names nodes, else one of that name in other letters, as in files.

    >>> id_of({"ID": [1], "x": [2]}), id_of({"x": [2]})
    ('ID', None)
    """
    names = column_names(table)
    alike = [name for name in names if str(name).casefold() == wanted.casefold()]
    return wanted if wanted in names else next(iter(alike), None)


def without_id(frame: Any) -> Any:
    """Return a frame without the column that names nodes, if it has one."""
    called = id_of(frame)
    return frame if called is None else without_column(frame, called)


def cells_of(frame: Any, column: Any) -> list[Any]:
    """Return one column of a frame as a list."""
    whole = _narwhal(frame)
    found = zip(whole.columns, whole.iter_columns(), strict=True)
    return list(next(series for name, series in found if name == column).to_list())


def take_rows(frame: Any, index: Any) -> Any:
    """Return rows of a frame or series in a given order, in its own library."""
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True, allow_series=True)
    return whole[np.asarray(index)].to_native()


def without_column(frame: Any, column: str) -> Any:
    """Return a frame without one of its columns."""
    return _narwhal(frame).drop(column).to_native()


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Return a new frame of columns, in a library or in the first that is installed."""
    if backend is not None and backend not in BACKENDS:
        raise InputError(f"backend must be one of {', '.join(BACKENDS)}, got {backend!r:.60}")
    installed = [name for name in BACKENDS if find_spec(name) is not None]
    if not installed or (backend is not None and backend not in installed):
        wanted = backend or "pandas"
        raise InputError(
            f"backend must be installed, got {backend or 'none of ' + ', '.join(BACKENDS)}: "
            f"pip install {wanted}"
        )
    import narwhals as nw

    library = import_module(backend or installed[0])
    return nw.from_dict(dict(columns), backend=library).to_native()


def _narwhal(frame: Any) -> Any:
    import narwhals as nw

    names = list(frame.columns) if hasattr(frame, "iloc") else []  # pandas allows it
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"a frame must have each column once, got {twice!r:.60} again")
    return nw.from_native(frame, eager_only=True)


def _frame_column(series: Any, name: str, kind: str | None) -> NDArray[Any]:
    import narwhals as nw

    if series.dtype.is_integer():
        return np.asarray(series.to_numpy(), dtype=np.float64)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return _finite(np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64), name)
    if series.dtype in (nw.Date, nw.Datetime):
        since = np.asarray(series.dt.timestamp("us").cast(nw.Float64).to_numpy(), dtype=np.float64)
        return _times(since)
    return _column(series.to_list(), name, kind)


def _column(values: Any, name: str, kind: str | None = None) -> NDArray[Any]:
    """Return a column as float64 with NaN, as times with NaT, or as strings with None."""
    array = values if isinstance(values, np.ndarray) else np.asarray(list(values), dtype=object)
    if array.ndim != 1:
        raise InputError(f"{name} must be a column, got an array of shape {array.shape}")
    if array.dtype.kind in "biuf":
        return _finite(array.astype(np.float64), name)
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    cells = [None if is_missing(cell) else cell for cell in array.tolist()]
    given = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, bool | int | float | np.number) for cell in given):
        numbers = [np.nan if cell is None else cell for cell in cells]
        return _finite(np.array(numbers, dtype=np.float64), name)
    if all(isinstance(cell, str) for cell in given):
        return np.array([None if cell is None else cell.strip() or None for cell in cells], object)
    if all(isinstance(cell, date) for cell in given):
        return column_of_texts(map(as_text, cells), name)
    kinds = sorted({type(cell).__name__ for cell in given})
    if set(kinds) <= {"str", "bool", "int", "float"}:
        return column_of_texts(map(as_text, cells), name, kind)
    raise InputError(f"{name} must hold numbers, strings or dates, got {', '.join(kinds)}")


def is_missing(cell: Any) -> bool:
    """Return whether a value is None, masked, or one that does not equal itself: NaN, NaT, NA."""
    if cell is None or cell is np.ma.masked:
        return True
    try:
        return not isinstance(cell, str) and bool(cell != cell)
    except (TypeError, ValueError):  # pandas' NA refuses to be true or false
        return type(cell).__name__ == "NAType"


def _times(microseconds: NDArray[np.float64]) -> NDArray[Any]:
    """Return times since 1970, NaT where they are NaN."""
    known = ~np.isnan(microseconds)
    times = np.full(len(known), np.datetime64("NaT", "us"), dtype="datetime64[us]")
    times[known] = microseconds[known].astype(np.int64).view("datetime64[us]")
    return times


def _finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if np.isinf(values).any():
        raise InputError(f"{name} must hold finite numbers, got infinity")
    return values
