"""Parquet in blocks: row groups become blocks, blocks become files; nodes have ids of any kind."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import task
from gpgc.errors import DataError
from gpgc.files import write_file

ENDS = ("source", "target")
"""Columns of edges that name nodes."""

BLOCK_BYTES = 2**27
"""Size of the numbers that are read as one block, where row groups are smaller."""


class EdgePart(NamedTuple):
    """A part of the edges, its frame or the task of it; its ends are nodes, or ids of such."""

    frame: Any
    name: str
    first: int = 0  # the number of its first row, for messages
    ids: Any = None


class Span(NamedTuple):
    """Consecutive row groups of one Parquet file, and which of its rows these are."""

    path: str
    groups: tuple[int, ...]
    first: int
    n_rows: int

    def __str__(self) -> str:
        return f"{self.path}, rows {self.first:,} to {self.first + self.n_rows - 1:,}"


def spans_of(path: str | Path, required: Sequence[str]) -> tuple[list[Span], list[str]]:
    """Cut Parquet files into spans of BLOCK_BYTES or less; name columns, required ones first."""
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
        first = rows = 0
        for group in range(metadata.num_row_groups):
            size = metadata.row_group(group).num_rows
            if groups and rows + size > most:
                spans.append(Span(str(file.resolve()), tuple(groups), first, rows))
                groups, first, rows = [], first + rows, 0
            groups.append(group)
            rows += size
        if rows:
            spans.append(Span(str(file.resolve()), tuple(groups), first, rows))
    missing = [name for name in required if name not in columns]
    if missing:
        raise DataError(f"{path}: expected the column {missing[0]}, got {', '.join(columns)}")
    if not spans:
        raise DataError(f"{path}: expected rows, found none")
    return spans, [*required, *(name for name in columns if name not in required)]


def parquet_edges(path: str | Path) -> list[EdgePart]:
    """Return the edges of a Parquet file or folder, a span each, whose frames are tasks."""
    spans, columns = spans_of(path, ENDS)
    wanted = [name for name in columns if name in (*ENDS, "weight")]
    return [EdgePart(task(read_frame, s, wanted), s.path, s.first) for s in spans]


def parquet_features(path: str | Path) -> da.Array:
    """Return a table of features, all its columns but ``id``, as a Dask array."""
    spans, (_, *names) = spans_of(path, ["id"])
    kinds = {field.name: field.type for field in pq.read_schema(spans[0].path)}
    numbers = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean)
    wrong = [name for name in names if not any(found(kinds[name]) for found in numbers)]
    if wrong or not names:
        got = f"{wrong[0]} of {kinds[wrong[0]]}" if wrong else "the column id alone"
        raise DataError(f"{path}: expected an id and columns of numbers, got {got}")
    dtype = np.float32 if {kinds[name] for name in names} == {pa.float32()} else np.float64
    tasks = [task(read_features, span, names, dtype) for span in spans]
    both = zip(tasks, spans, strict=True)
    return da.concatenate(
        [da.from_delayed(part, (span.n_rows, len(names)), dtype=dtype) for part, span in both]
    )


def parquet_ids(path: str | Path) -> list[Any]:
    """Return the tasks of the ids of a table of features, a span each."""
    return [task(read_ids, span) for span in spans_of(path, ["id"])[0]]


class Ids:
    """The ids of all nodes, whole numbers or strings, each of one node."""

    def __init__(self, ids: NDArray[Any], source: str) -> None:
        self._index = pd.Index(ids)
        self.is_plain = ids.dtype.kind == "i" and bool((ids == np.arange(len(ids))).all())
        if self._index.has_duplicates:
            twice = self._index[self._index.duplicated()].tolist()[0]
            raise DataError(f"{source}: expected each id once, got {twice!r} twice")

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, name: str) -> bool:
        return self.setdefault(name, -1) >= 0

    def setdefault(self, name: str, default: int) -> int:
        """Return the node of an id as it stands in a file of text."""
        is_number = self._index.dtype.kind == "i"
        key = int(name) if is_number and name.isdecimal() else name
        found = int(self._index.get_indexer([key])[0])
        return default if found < 0 else found

    def numbers(self, ids: NDArray[Any]) -> Integers:
        """Return the node of each id, −1 where there is none."""
        return np.asarray(self._index.get_indexer(ids))


def read_frame(span: Span, columns: Sequence[str]) -> Any:
    """Return some columns of a span as a frame."""
    return _read(span, columns).to_pandas()


def read_ids(span: Span) -> NDArray[Any]:
    """Return the ids (n,) of a span."""
    ids = _read(span, ["id"]).column("id").to_numpy()
    if ids.dtype.kind not in "iu" and not all(isinstance(one, str) for one in ids.tolist()):
        raise DataError(f"{span}: expected ids that are whole numbers or strings, without gaps")
    return np.asarray(ids, dtype=object if ids.dtype.kind == "O" else np.int64)


def read_features(span: Span, columns: Sequence[str], dtype: Any) -> Array:
    """Return the features (n, F) of a span."""
    table = _read(span, columns)
    out = np.empty((len(table), len(columns)), dtype=dtype)
    for place, name in enumerate(columns):
        out[:, place] = table.column(name).to_numpy()
        if not np.isfinite(out[:, place]).all():
            row = span.first + int(np.argmin(np.isfinite(out[:, place])))
            raise DataError(f"{span.path}, row {row:,}: expected a finite number as {name}")
    return out


def write_table(path: str, columns: dict[str, Any]) -> int:
    """Write arrays by name as a Parquet file, whole or not at all; return its rows."""
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_file(path, sink.getvalue().to_pybytes())
    return len(table)


def _read(span: Span, columns: Sequence[str]) -> pa.Table:
    if not os.path.exists(span.path):
        raise DataError(f"{span}: expected a file that every worker can read, found none")
    with pq.ParquetFile(span.path) as file:
        return file.read_row_groups(list(span.groups), columns=list(columns), use_threads=False)
