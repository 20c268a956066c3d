"""Parquet in blocks: row groups become blocks, blocks become files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gpgc._typing import Array
from gpgc.dask.cluster import task
from gpgc.errors import DataError
from gpgc.files import write_file

BLOCK_BYTES = 2**27
"""Size of the numbers that are read as one block, where row groups are smaller."""


class Span(NamedTuple):
    """Consecutive row groups of one Parquet file, with their rows."""

    path: str
    groups: tuple[int, ...]
    n_rows: int

    def __str__(self) -> str:
        return f"{self.path}, row groups {self.groups[0]} to {self.groups[-1]}"


def spans_of(path: str | Path) -> tuple[list[Span], list[str]]:
    """Cut a Parquet file, or those of a folder in the order of their names, into spans.

    Returns
    -------
    spans : list of Span
        Row groups are joined up to ``BLOCK_BYTES`` of numbers.
    columns : list of str
        Of the first file; all must have the same.
    """
    place = Path(path)
    files = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
    if not files or not files[0].exists():
        raise DataError(f"{path}: expected a Parquet file, or a folder of such, found none")
    spans: list[Span] = []
    columns: list[str] = []
    for file in files:
        try:
            metadata = pq.read_metadata(file)
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{file}: expected a Parquet file, got {error}") from error
        names = metadata.schema.to_arrow_schema().names
        columns = columns or names
        if names != columns:
            raise DataError(f"{file}: expected the columns {columns}, got {names}")
        most = max(1, BLOCK_BYTES // (8 * len(names)))
        groups: list[int] = []
        rows = 0
        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).num_rows
            if groups and rows + size > most:
                spans.append(Span(str(file.resolve()), tuple(groups), rows))
                groups, rows = [], 0
            groups.append(group)
            rows += size
        if rows:
            spans.append(Span(str(file.resolve()), tuple(groups), rows))
    return spans, columns


def parquet_frames(path: str | Path, required: Sequence[str], optional: Sequence[str]) -> list[Any]:
    """Return the spans of a Parquet file or folder as tasks of frames with some columns."""
    spans, columns = spans_of(path)
    missing = [name for name in required if name not in columns]
    if missing:
        raise DataError(f"{path}: expected the column {missing[0]}, got {', '.join(columns)}")
    wanted = [name for name in (*required, *optional) if name in columns]
    return [task(read_frame, span, wanted) for span in spans]


def parquet_features(path: str | Path) -> da.Array:
    """Return a table of features, whose first column is ``id`` from 0 on, as a Dask array.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> table = pa.table({"id": [0, 1], "a": [0.5, 1.0], "b": [2.0, 0.0]})
    >>> pq.write_table(table, file := Path(mkdtemp()) / "features.parquet")
    >>> parquet_features(file).compute()
    array([[0.5, 2. ],
           [1. , 0. ]])
    """
    spans, columns = spans_of(path)
    if columns[:1] != ["id"] or len(columns) < 2:
        raise DataError(f"{path}: expected the columns id and features, got {', '.join(columns)}")
    schema = pq.read_schema(spans[0].path)
    kinds = {field.type for field in schema if field.name != "id"}
    dtype = np.float32 if kinds == {pa.float32()} else np.float64
    first = 0
    blocks = []
    for span in spans:
        block = task(read_features, span, first, columns[1:], dtype)
        blocks.append(da.from_delayed(block, (span.n_rows, len(columns) - 1), dtype=dtype))
        first += span.n_rows
    return da.concatenate(blocks)


def read_frame(span: Span, columns: Sequence[str]) -> Any:
    """Return some columns of a span as a frame."""
    return _read(span, columns).to_pandas()


def read_features(span: Span, first: int, columns: Sequence[str], dtype: Any) -> Array:
    """Return the features (n, F) of a span, whose ids must count from ``first`` on."""
    table = _read(span, ["id", *columns])
    ids = table.column("id").to_numpy()
    wrong = np.flatnonzero(ids != first + np.arange(len(ids)))
    if len(wrong):
        raise DataError(
            f"{span}: expected the ids {first} to {first + len(ids) - 1} in this order, "
            f"got {ids[wrong[0]]} in place of {first + wrong[0]}"
        )
    out = np.empty((len(ids), len(columns)), dtype=dtype)
    for place, name in enumerate(columns):
        out[:, place] = table.column(name).to_numpy()
    return out


def write_predictions(
    path: str, first: int, columns: dict[str, Any], classes: Sequence[Any]
) -> int:
    """Write one block of predictions as a Parquet file, whole or not at all; return its rows.

    Parameters
    ----------
    path : str
        The file.
    first : int
        The id of the first row.
    columns : dict
        Name → array (n,); ``label`` holds codes of the classes.
    classes : sequence
        The labels.
    """
    n_rows = len(columns["label"])
    labels = pa.array(np.asarray(classes)).take(pa.array(columns["label"]))
    rest = {name: pa.array(values) for name, values in columns.items() if name != "label"}
    ids = pa.array(np.arange(first, first + n_rows))
    table = pa.table({"id": ids, "label": labels, **rest})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_file(path, sink.getvalue().to_pybytes())
    return n_rows


def _read(span: Span, columns: Sequence[str]) -> pa.Table:
    if not os.path.exists(span.path):
        raise DataError(f"{span}: expected a file that every worker can read, found none")
    with pq.ParquetFile(span.path) as file:
        return file.read_row_groups(list(span.groups), columns=list(columns), use_threads=False)
