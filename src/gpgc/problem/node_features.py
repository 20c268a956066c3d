"""A user's file of features: a table, an array, a sparse matrix, or features of images."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.files import Table, read_npy, read_sparse, read_table
from gpgc.files.cells import LARGEST, as_text, shorten
from gpgc.problem import NodeTable, TableEncoder
from gpgc.problem.columns import check_kinds
from gpgc.problem.encoder import encode_columns
from gpgc.problem.frames import columns_of
from gpgc.problem.image_file import is_image_features, load_image_features
from gpgc.problem.names import as_names
from gpgc.problem.text_cells import FIRST_ROWS, CellReader


def read_features(
    path: Path,
    columns: Mapping[str, str],
    kinds: Mapping[str, str],
    encoder: TableEncoder | None = None,
    *,
    not_features: Collection[str] = (),
) -> NodeTable:
    """Read nodes with features, by the encoder of a fitted model or by what the table holds."""
    if is_image_features(path):
        named = load_image_features(path)
        return NodeTable(named.features, as_names(named.ids))
    if path.suffix in (".npy", ".npz"):
        matrix = _load_array(path)
        return NodeTable(matrix, as_names([str(node) for node in range(matrix.shape[0])]))
    table = _with_id(read_table(path).renamed(columns, "id"))
    if len(table.columns) < 2:
        raise InputError(f"{path} line 1: expected id and at least one feature, got id only")
    given = list(table.columns)
    if twice := [name for name in given if given.count(name) > 1]:
        raise InputError(f"{path} line 1: expected each column once, got {shorten(twice[0])} again")
    if encoder is not None:
        kinds = dict.fromkeys(given, "drop")
        kinds |= {column.name: column.kind for column in encoder.columns}
        ids, cells = _read_columns(table, kinds)
        return NodeTable(encoder.transform(cells, str(path)), as_names(ids), encoder.names, encoder)
    left_out = {name.casefold() for name in not_features}
    was_index = {given[place] for place in table.index} - {"id", *kinds}
    wanted = dict(kinds) | {
        name: "drop" for name in given if name.casefold() in left_out or name in was_index
    }
    checked = check_kinds(wanted, [name for name in given if name != "id"], "--encode")
    ids, cells = _read_columns(table, checked)
    kept = {name: kind for name, kind in checked.items() if kind != "drop"}
    try:
        return encode_columns(cells, as_names(ids), kept, "--encode")
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _with_id(table: Table) -> Table:
    """Return a table with its id column called ``id``: it, a first without a name, or an index."""
    found = [name.casefold() for name in table.columns]
    if "id" in found:
        return table.renamed({"id": table.columns[found.index("id")]}, "id")
    if not found[0]:
        return replace(table, columns=("id", *table.columns[1:]))
    if len(table.index) == 1:
        return table.renamed({"id": table.columns[min(table.index)]}, "id")
    raise InputError(
        f"{table.source} line 1: expected a header with a column id, "
        f"got {shorten(','.join(table.columns))}; --column id=NAME names another"
    )


def _read_columns(
    table: Table, kinds: Mapping[str, str]
) -> tuple[list[str], dict[str, NDArray[Any]]]:
    """Return the ids of a table and its other columns, or refuse the line that is wrong."""
    key = table.columns.index("id")
    names = {
        index: name
        for index, name in enumerate(table.columns)
        if index != key and kinds.get(name) != "drop"
    }
    if table.typed is not None:
        frame = table.typed()
        texts = map(as_text, frame.column(key).to_pylist())
        named_rows = ((f"{table.source} row {row}", text) for row, text in enumerate(texts, 1))
        chosen = frame.select(list(names)).rename_columns(list(names.values()))
        return checked_ids(named_rows, table.source), columns_of(chosen, table.source)
    first = list(islice(table.rows, FIRST_ROWS))
    read = {
        index: CellReader(name, [row[index] for _, row in first], kinds.get(name))
        for index, name in names.items()
    }

    def named() -> Iterator[tuple[str, str]]:
        for place, row in chain(first, table.rows):
            yield place, row[key]
            for index, column in read.items():
                column.append(row[index], place)

    ids = checked_ids(named(), table.source)  # reads the rows, so that columns are full
    return ids, {names[index]: column.values() for index, column in read.items()}


def checked_ids(named: Iterable[tuple[str, str]], source: str) -> list[str]:
    """Return the ids of rows, given with their places, or refuse one that is empty or repeated."""
    ids: dict[str, None] = {}
    for place, text in named:
        if not text or text in ids:
            raise InputError(f"{place}: expected each id once, got {shorten(text)} again or empty")
        ids[text] = None
    if not ids:
        raise InputError(f"{source} line 2: expected at least one node, got none")
    return list(ids)


def _load_array(path: Path) -> Any:
    if not path.exists() or path.is_dir():
        raise InputError(f"{path}: expected a file, found none")
    matrix = read_npy(path) if path.suffix == ".npy" else read_sparse(path)
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{path}: expected a 2-D matrix of numbers, "
            f"got shape {matrix.shape} and dtype {matrix.dtype}"
        )
    if 0 in matrix.shape:
        raise InputError(
            f"{path}: expected at least one row and one column, got shape {matrix.shape}"
        )
    values: Any = matrix if path.suffix == ".npy" else matrix.data
    if not np.isfinite(values).all():
        raise InputError(f"{path}: expected finite numbers, got NaN or infinity")
    if values.size and max(abs(float(values.max())), abs(float(values.min()))) > LARGEST:
        raise InputError(f"{path}: expected numbers of at most {LARGEST:g}, got larger ones")
    return matrix
