"""A table of numbers, categories and texts as features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, GPGCWarning, InputError
from gpgc.problem.columns import ENCODERS, ColumnEncoder, NumberColumn, check_kinds, kind_of
from gpgc.problem.frames import ID, column_names, columns_of, id_of
from gpgc.problem.names import names_of
from gpgc.problem.node_table import NodeTable


@dataclass(frozen=True, eq=False)
class TableEncoder:
    """What was done with each column, so that later rows are encoded the same way.

    Attributes
    ----------
    columns : tuple of ColumnEncoder
        One for each column in use, in the order of the features.
    """

    columns: tuple[ColumnEncoder, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns in use."""
        return tuple(column.name for column in self.columns)

    @property
    def feature_names(self) -> list[str]:
        """A name for each feature."""
        return [name for column in self.columns for name in column.feature_names]

    @property
    def said(self) -> tuple[str, ...]:
        """What is done with the columns, a phrase each, complete numbers in one phrase."""
        numbers = [column for column in self.columns if isinstance(column, NumberColumn)]
        complete = [c.name for c in numbers if not c.n_missing and not c.is_time]
        if len(complete) < 3:
            return tuple(column.said for column in self.columns)
        others = [column.said for column in self.columns if column.name not in complete]
        is_raw = all(column.unit is not None for column in numbers)
        what = "columns of numbers" if is_raw else "columns of numbers, standardized"
        return (f"{len(complete):,} {what}", *others)

    @property
    def flags(self) -> NDArray[np.float64]:
        """How large a flag is in each feature that tells where numbers are missing, else 0."""
        sizes: list[float] = []
        for column in self.columns:
            here = [0.0] * len(column.feature_names)
            if isinstance(column, NumberColumn) and column.n_missing:
                here[-1] = column.flag
            sizes += here
        return np.array(sizes)

    def transform(self, table: Any, name: str = "X") -> Any:
        """Return the features of the rows of a table with the same columns, in any order.

        Parameters
        ----------
        table : frame, or mapping of str to sequence
            With every column in use; others are ignored.
        name : str
            How to call the argument in error messages.

        Returns
        -------
        array or csr_array of shape (N, F)
            Sparse unless all columns are numbers. What the fitted table did not hold is 0, and a
            warning counts it.
        """
        unused = {str(column) for column in column_names(table)} - set(self.names)
        kinds = {column.name: column.kind for column in self.columns}
        columns = columns_of(table, name, drop=unused, kinds=kinds)
        if absent := [column for column in self.names if column not in columns]:
            raise InputError(
                f"{name} must have the columns {', '.join(self.names):.200}, "
                f"got none called {absent[0]!r:.60}"
            )
        cells = {c.name: as_kind(columns[c.name], c.name, c.kind) for c in self.columns}
        unseen = {column.name: column.unseen(cells[column.name]) for column in self.columns}
        if found := [
            f"{count:,} of column {column!r:.60}" for column, count in unseen.items() if count
        ]:
            warnings.warn(
                f"{name} has values that fit did not encode, which are ignored: {', '.join(found)}",
                GPGCWarning,
                stacklevel=3,
            )
        return self.encode(cells)

    def encode(self, cells: Mapping[str, NDArray[Any]]) -> Any:
        """Return the features of columns that are checked: one array for each column in use."""
        blocks = [column.transform(cells[column.name]) for column in self.columns]
        if all(column.kind == "number" for column in self.columns):
            return np.hstack(blocks)
        return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr"))


def encode_table(
    table: Any, *, kinds: Mapping[str, str] | None = None, id_column: str = ID
) -> NodeTable:
    """Make features of a table: numbers, categories, texts, with missing values or without.

    A table of numbers alone stays as it is, for ``fit`` to decide; a missing one becomes the mean
    with a flag beside it, and a date is its days since 1970. Beside categories and texts numbers
    other than 0 and 1 are standardized; a category that occurs twice or more becomes a column of
    zeros and ones; a text becomes the TF-IDF of its words. Each column of such a table weighs the
    same. What was done is in
    ``encoder.said``, and ``fit`` keeps the encoder, so that nodes that join are encoded the same
    way.

    Parameters
    ----------
    table : frame, or mapping of str to sequence
        pandas, polars or any frame that narwhals knows; a row for each node.
    kinds : mapping of str to str, optional
        Column → "number", "category", "text" or "drop", where the table does not tell. When not
        given, strings are text where most of them differ and they have three words or more on
        average, else categories.
    id_column : str, default "id"
        The column with the names of the nodes, if there is such a column; else the index of a
        pandas frame names them, unless it is the default one.

    Returns
    -------
    NodeTable
        To be given to ``fit`` as X, with ``features``, ``names`` and ``encoder``.

    Examples
    --------
    >>> import gpgc
    >>> table = gpgc.encode_table(
    ...     {"id": ["a", "b", "c"], "size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]}
    ... )
    >>> table.features.toarray().tolist()
    [[-1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    >>> for phrase in table.encoder.said:
    ...     print(phrase)
    size: number, standardized, 1 missing set to the mean and flagged
    colour: 1 category, 1 value that occurs once ignored
    """
    called = id_of(table, id_column)
    found = [str(column) for column in column_names(table) if column != called]
    wanted = check_kinds(kinds, found, "kinds")
    drop = {column for column, kind in wanted.items() if kind == "drop"}
    drop |= set() if called is None else {str(called)}
    kept = {column: kind for column, kind in wanted.items() if kind != "drop"}
    columns = columns_of(table, drop=drop, kinds=kept)
    return encode_columns(columns, names_of(table, id_column), kept)


def encode_columns(
    columns: Mapping[str, NDArray[Any]],
    names: NDArray[Any] | None,
    kinds: Mapping[str, str] | None = None,
    source: str = "kinds",
) -> NodeTable:
    """Return the features of columns as ``columns_of`` gives them."""
    wanted = check_kinds(kinds, columns, source)
    chosen = {name: wanted.get(name) or kind_of(values) for name, values in columns.items()}
    used = {name: kind for name, kind in chosen.items() if kind != "drop"}
    if not used:
        raise InputError("the table must have at least one column of features, got none")
    cells = {name: as_kind(columns[name], name, kind) for name, kind in used.items()}
    times = {name for name in used if columns[name].dtype.kind == "M"}
    is_number = all(kind == "number" for kind in used.values())
    if is_number and not times and not any(np.isnan(values).any() for values in cells.values()):
        matrix = np.column_stack([cells[name] for name in used])
        return NodeTable(matrix, names, tuple(used))
    fitted = [ENCODERS[kind].fit(name, cells[name]) for name, kind in used.items()]
    fitted = [
        replace(c, is_time=True) if isinstance(c, NumberColumn) and c.name in times else c
        for c in fitted
    ]
    if is_number:
        unit = float(np.median([column.scale for column in fitted]))
        fitted = [replace(column, unit=unit) for column in fitted]
    encoder = TableEncoder(tuple(fitted))
    if not encoder.feature_names:
        found = "; ".join(encoder.said)
        raise InputError(f"no column of the table can be used: {found:.300}")
    return NodeTable(encoder.encode(cells), names, tuple(used), encoder, cells)


def as_kind(values: NDArray[Any], name: str, kind: str) -> NDArray[Any]:
    """Return a column as numbers or as strings, as its kind wants it, or refuse it."""
    if kind == "number" and values.dtype.kind not in "fM":
        raise InputError(f"the column {name!r:.60} must hold numbers, got strings")
    if values.dtype.kind == "M":
        return _days(values) if kind == "number" else _dates(values)
    if kind == "number" or values.dtype.kind != "f":
        return values
    texts = [None if np.isnan(value) else _plain(float(value)) for value in values]
    return np.array(texts, dtype=object)


def _days(times: NDArray[np.datetime64]) -> NDArray[np.float64]:
    """Return times as days since 1970, NaN where there is none."""
    return (times - np.datetime64(0, "us")) / np.timedelta64(1, "D")


def _dates(times: NDArray[np.datetime64]) -> NDArray[Any]:
    """Return times as text, as short as their whole column allows, None where there is none."""
    known = times[~np.isnat(times)]
    unit = "D" if (known == known.astype("datetime64[D]")).all() else "s"
    texts = times.astype(f"datetime64[{unit}]").astype(str)
    return np.array([None if text == "NaT" else text for text in texts], dtype=object)


def to_json(encoder: TableEncoder | None) -> list[dict[str, Any]] | None:
    """Return an encoder as a list of records, one for each column."""
    if encoder is None:
        return None
    return [{"kind": column.kind, **asdict(column)} for column in encoder.columns]


def from_json(records: Any, source: str) -> TableEncoder | None:
    """Return the encoder that records stand for, refusing fields that hold what no encoder has."""
    if records is None:
        return None
    if not (isinstance(records, list) and records):
        raise DataError(f"{source}: encoder must be a list of columns, got {records!r:.60}")
    encoder = TableEncoder(tuple(_column(record, source) for record in records))
    if len(set(encoder.names)) < len(encoder.names):
        raise DataError(f"{source}: encoder must hold each column once")
    return encoder


def _column(record: Any, source: str) -> ColumnEncoder:
    """Return the column of one record, lists as tuples."""
    match record:
        case {"kind": str(kind), "name": str(name), **fields} if kind in ENCODERS:
            given: dict[str, Any] = {
                str(key): tuple(value) if isinstance(value, list) else value
                for key, value in fields.items()
            }
        case _:
            raise DataError(f"{source}: encoder must hold known columns, got {record!r:.60}")
    try:
        column: ColumnEncoder = ENCODERS[kind](name, **given)
        is_sound = column.is_sound
    except TypeError:  # other fields
        is_sound = False
    if not is_sound:
        raise DataError(f"{source}: encoder must hold what a fit gives for the column {name!r:.60}")
    return column


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
