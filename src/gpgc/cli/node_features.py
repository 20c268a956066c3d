"""A user's file of features: a table, an array, a sparse matrix, or features of images."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpgc.errors import InputError
from gpgc.files import Table, read_npy, read_sparse, read_table
from gpgc.files.cells import LARGEST, shorten
from gpgc.image_features.feature_file import is_image_features, load_image_features
from gpgc.tables import NodeTable, TableEncoder
from gpgc.tables.encoder import encode_columns
from gpgc.tables.file_columns import read_columns
from gpgc.tables.kinds import check_kinds
from gpgc.tables.node_names import as_names


def read_features(
    path: Path,
    columns: Mapping[str, str],
    kinds: Mapping[str, str],
    encoder: TableEncoder | None = None,
    *,
    not_features: Collection[str] = (),
) -> NodeTable:
    """Read nodes with their features.

    Parameters
    ----------
    path : Path
        Table with a column ``id``, .npz of ``gpgc features``, .npy or sparse .npz whose nodes are
        called 0 … N−1.
    columns : mapping of str to str
        ``id`` → what the file calls it, where that is another name.
    kinds : mapping of str to str
        Column → "number", "category", "text" or "drop" where the table does not tell.
    encoder : TableEncoder, optional
        That of a fitted model, by which its columns are encoded; made from the table when not
        given.
    not_features : collection of str
        Columns that are left out where they are there, whatever their case.
    """
    if is_image_features(path):
        named = load_image_features(path)
        return NodeTable(named.features, as_names(named.ids))
    if path.suffix in (".npy", ".npz"):
        matrix = _load_array(path)
        return NodeTable(matrix, as_names([str(node) for node in range(matrix.shape[0])]))
    table = _with_id(read_table(path).renamed(columns))
    if len(table.columns) < 2:
        raise InputError(f"{path} line 1: expected id and at least one feature, got id only")
    given = list(table.columns)
    if twice := [name for name in given if given.count(name) > 1]:
        raise InputError(f"{path} line 1: expected each column once, got {shorten(twice[0])} again")
    if encoder is not None:
        kinds = dict.fromkeys(given, "drop")
        kinds |= {column.name: column.kind for column in encoder.columns}
        ids, cells = read_columns(table, "id", kinds)
        return NodeTable(encoder.transform(cells, str(path)), as_names(ids), encoder.names, encoder)
    left_out = {name.casefold() for name in not_features}
    was_index = {given[place] for place in table.index} - {"id", *kinds}
    wanted = dict(kinds) | {
        name: "drop" for name in given if name.casefold() in left_out or name in was_index
    }
    checked = check_kinds(wanted, [name for name in given if name != "id"], "--encode")
    ids, cells = read_columns(table, "id", checked)
    kept = {name: kind for name, kind in checked.items() if kind != "drop"}
    try:
        return encode_columns(cells, as_names(ids), kept, "--encode")
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _with_id(table: Table) -> Table:
    """Return a table with its id column called ``id``: it, a first without a name, or an index."""
    found = [name.casefold() for name in table.columns]
    if "id" in found:
        return table.renamed({"id": table.columns[found.index("id")]})
    if not found[0]:
        return replace(table, columns=("id", *table.columns[1:]))
    if len(table.index) == 1:
        return table.renamed({"id": table.columns[min(table.index)]})
    raise InputError(
        f"{table.source} line 1: expected a header with a column id, "
        f"got {shorten(','.join(table.columns))}; --column id=NAME names another"
    )


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
