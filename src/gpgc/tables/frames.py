"""Frames of any library, through narwhals: what they are, their columns, and new ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError

ID = "id"
"""The column of a frame that holds the names of nodes."""

BACKENDS = ("pandas", "polars", "pyarrow")


def is_frame(value: Any) -> bool:
    """Return whether something is a table of columns: pandas, polars, Arrow and their like.

    Examples
    --------
    >>> is_frame([[1, 2]]), is_frame(np.eye(2))
    (False, False)
    """
    if type(value).__name__ == "LazyFrame":
        raise InputError("a frame must be in memory, got a LazyFrame: call its collect() first")
    if isinstance(value, np.ndarray) or not (hasattr(value, "columns") and hasattr(value, "shape")):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(value))


def columns_of(
    table: Any, name: str = "X", *, drop: Collection[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return the columns of a frame or mapping: numbers as float64, all else as strings or None.

    Parameters
    ----------
    table : frame, or mapping of str to sequence
        Columns of one length.
    name : str
        How to call the argument in error messages.
    drop : collection of str
        Columns that are left out, whatever they hold.

    Examples
    --------
    >>> columns_of({"size": [1, None], "colour": ["red", "blue"]})
    {'size': array([ 1., nan]), 'colour': array(['red', 'blue'], dtype=object)}
    """
    if isinstance(table, Mapping):
        columns = {
            str(key): _column(values, f"{name}[{key!r}]")
            for key, values in table.items()
            if str(key) not in drop
        }
    else:
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        names = [str(column) for column in frame.columns]
        if len(set(names)) < len(names):
            twice = next(column for column in names if names.count(column) > 1)
            raise InputError(f"{name} must have each column once, got {twice!r:.60} again")
        columns = {
            key: _frame_column(series, f"{name}[{key!r}]")
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
    import narwhals as nw

    return list(nw.from_native(frame, eager_only=True).columns)


def cells_of(frame: Any, column: Any) -> list[Any]:
    """Return one column of a frame as a list."""
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True)
    found = zip(whole.columns, whole.iter_columns(), strict=True)
    return list(next(series for name, series in found if name == column).to_list())


def take_rows(frame: Any, index: Any) -> Any:
    """Return rows of a frame or series in a given order, in its own library."""
    import narwhals as nw

    whole = nw.from_native(frame, eager_only=True, allow_series=True)
    return whole[np.asarray(index)].to_native()


def without_column(frame: Any, column: str) -> Any:
    """Return a frame without one of its columns."""
    import narwhals as nw

    return nw.from_native(frame, eager_only=True).drop(column).to_native()


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Return a new frame of columns.

    Parameters
    ----------
    columns : mapping of str to sequence
        The columns.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library; when not given, the first of them that is installed.
    """
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


def _frame_column(series: Any, name: str) -> NDArray[Any]:
    import narwhals as nw

    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        return _finite(np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64), name)
    if series.dtype.is_temporal():
        raise InputError(
            f"{name} must hold numbers, strings or categories, got times: make numbers of the "
            "column, or say that its kind is drop"
        )
    return _column(series.to_list(), name)


def _column(values: Any, name: str) -> NDArray[Any]:
    """Return a column as float64 with NaN, or as strings with None."""
    array = values if isinstance(values, np.ndarray) else np.asarray(list(values), dtype=object)
    if array.ndim != 1:
        raise InputError(f"{name} must be a column, got an array of shape {array.shape}")
    if array.dtype.kind in "biuf":
        return _finite(array.astype(np.float64), name)
    cells = [None if is_missing(cell) else cell for cell in array.tolist()]
    given = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, bool | int | float | np.number) for cell in given):
        numbers = [np.nan if cell is None else cell for cell in cells]
        return _finite(np.array(numbers, dtype=np.float64), name)
    if all(isinstance(cell, str) for cell in given):
        return np.array(cells, dtype=object)
    kinds = sorted({type(cell).__name__ for cell in given})
    raise InputError(f"{name} must hold numbers or strings, got {', '.join(kinds)}")


def is_missing(cell: Any) -> bool:
    """Return whether a value is None, masked, or one that does not equal itself: NaN, NaT, NA."""
    if cell is None or cell is np.ma.masked:
        return True
    try:
        return not isinstance(cell, str) and bool(cell != cell)
    except (TypeError, ValueError):  # pandas' NA refuses to be true or false
        return type(cell).__name__ == "NAType"


def _finite(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    if np.isinf(values).any():
        raise InputError(f"{name} must hold finite numbers, got infinity")
    return values
