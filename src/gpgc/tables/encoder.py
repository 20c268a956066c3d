"""A table of numbers, categories and texts as features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import GPGCWarning, InputError
from gpgc.tables.column_encoders import CategoryColumn, ColumnEncoder, NumberColumn, TextColumn
from gpgc.tables.frames import ID, column_names, columns_of
from gpgc.tables.kinds import check_kinds, kind_of
from gpgc.tables.node_names import names_of
from gpgc.tables.node_table import NodeTable

ENCODERS: dict[str, Any] = {kind.kind: kind for kind in (NumberColumn, CategoryColumn, TextColumn)}


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
        complete = [column.name for column in numbers if not column.n_missing]
        if len(complete) < 3:
            return tuple(column.said for column in self.columns)
        others = [column.said for column in self.columns if column.name not in complete]
        is_raw = all(column.unit is not None for column in numbers)
        what = "columns of numbers" if is_raw else "columns of numbers, standardised"
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
        columns = columns_of(table, name, drop=unused)
        if absent := [column for column in self.names if column not in columns]:
            raise InputError(
                f"{name} must have the columns {', '.join(self.names):.200}, "
                f"got none called {absent[0]!r:.60}"
            )
        cells = {column.name: _as_kind(columns[column.name], column) for column in self.columns}
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
    with a flag beside it. Beside categories and texts numbers other than 0 and 1 are standardised;
    a category that occurs twice or more becomes a column of zeros and ones; a text becomes the
    TF-IDF of its words. Each column of such a table weighs the same. What was done is in
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
    size: number, standardised, 1 missing set to the mean and flagged
    colour: 1 category, 1 value that occurs once ignored
    """
    found = [str(column) for column in column_names(table) if column != id_column]
    wanted = check_kinds(kinds, found, "kinds")
    drop = {id_column, *(column for column, kind in wanted.items() if kind == "drop")}
    kept = {column: kind for column, kind in wanted.items() if kind != "drop"}
    return encode_columns(columns_of(table, drop=drop), names_of(table, id_column), kept)


def encode_columns(
    columns: Mapping[str, NDArray[Any]],
    names: NDArray[Any] | None,
    kinds: Mapping[str, str] | None = None,
    source: str = "kinds",
) -> NodeTable:
    """Return the features of columns as :func:`~gpgc.tables.frames.columns_of` gives them.

    Parameters
    ----------
    columns : mapping of str to array of shape (N,)
        Numbers with NaN, or strings with None.
    names : array of shape (N,), or None
        Of the nodes.
    kinds : mapping of str to str, optional
        As of :func:`encode_table`.
    source : str
        How to call the kinds in error messages.
    """
    wanted = check_kinds(kinds, columns, source)
    chosen = {name: wanted.get(name) or kind_of(values) for name, values in columns.items()}
    used = {name: kind for name, kind in chosen.items() if kind != "drop"}
    if not used:
        raise InputError("the table must have at least one column of features, got none")
    cells = {name: as_kind(columns[name], name, kind) for name, kind in used.items()}
    if all(kind == "number" and not np.isnan(cells[name]).any() for name, kind in used.items()):
        matrix = np.column_stack([cells[name] for name in used])
        return NodeTable(matrix, names, tuple(used))
    fitted = [ENCODERS[kind].fit(name, cells[name]) for name, kind in used.items()]
    if all(isinstance(column, NumberColumn) for column in fitted):
        unit = float(np.median([column.scale for column in fitted]))
        fitted = [replace(column, unit=unit) for column in fitted]
    encoder = TableEncoder(tuple(fitted))
    if not encoder.feature_names:
        found = "; ".join(encoder.said)
        raise InputError(f"no column of the table can be used: {found:.300}")
    return NodeTable(encoder.encode(cells), names, tuple(used), encoder, cells)


def as_kind(values: NDArray[Any], name: str, kind: str) -> NDArray[Any]:
    """Return a column as numbers or as strings, as its kind wants it, or refuse it."""
    if kind == "number" and values.dtype.kind != "f":
        raise InputError(f"the column {name!r:.60} must hold numbers, got strings")
    if kind == "number" or values.dtype.kind != "f":
        return values
    texts = [None if np.isnan(value) else _plain(float(value)) for value in values]
    return np.array(texts, dtype=object)


def _plain(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _as_kind(values: NDArray[Any], column: ColumnEncoder) -> NDArray[Any]:
    return as_kind(values, column.name, column.kind)
