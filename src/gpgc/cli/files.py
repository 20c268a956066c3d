"""A user's own files: edges, features and labels, with node ids as strings."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.image_features.feature_file import is_image_features, load_image_features


@dataclass(frozen=True)
class GraphFiles:
    """What the files say, in the order of ``ids``; None for a file that was left out."""

    ids: list[str]
    features: Any
    edges: tuple[Any, ...] | None
    labels: Any


def read_graph_files(edges: Path | None, features: Path | None, labels: Path | None) -> GraphFiles:
    """Read edges, features and labels that belong together.

    Nodes are the rows of the features where there are any, else the ends of the edges.

    Parameters
    ----------
    edges : Path, optional
        CSV with the columns ``source,target[,weight]``.
    features : Path, optional
        CSV whose first column is ``id``, or .npy or sparse .npz with ids 0 … N−1.
    labels : Path, optional
        CSV with the columns ``id,label``; an empty label means unlabelled.
    """
    if edges is None and features is None:
        raise InputError("one of --edges and --features must be given, got neither")
    ids: list[str] | None = None
    matrix = None
    if features is not None:
        ids, matrix = _read_features(features)
    links = None
    if edges is not None:
        ids, links = _read_edges(edges, ids)
    position = {name: place for place, name in enumerate(ids or [])}
    known = None if labels is None else _read_labels(labels, position)
    return GraphFiles(list(position), matrix, links, known)


def read_candidates(path: Path, ids: list[str]) -> Any:
    """Return the places in ``ids`` of the nodes in a CSV file with the column ``id``."""
    position = {name: place for place, name in enumerate(ids)}
    chosen = [_place(place, row["id"], position) for place, row in _rows(path, ["id"])]
    if not chosen:
        raise InputError(f"{path} line 2: expected at least one candidate, got none")
    return np.array(chosen)


def read_costs(path: Path, ids: list[str]) -> Any:
    """Return a cost for each of ``ids`` from a CSV file ``id,cost``, 1 where there is none."""
    position = {name: place for place, name in enumerate(ids)}
    costs = np.ones(len(ids))
    for place, row in _rows(path, ["id", "cost"]):
        cost = _number(row["cost"], place, "cost")
        if cost <= 0:
            raise InputError(f"{place}: expected a cost above 0, got {cost:g}")
        costs[_place(place, row["id"], position)] = cost
    return costs


def _place(place: str, name: str, position: dict[str, int]) -> int:
    if name not in position:
        raise InputError(f"{place}: node {name!r} is not in the graph")
    return position[name]


def _table(path: Path) -> tuple[list[str], Iterator[tuple[str, list[str]]]]:
    """Return the header of a CSV file and its rows, each with a name for its place."""
    if not path.is_file():
        raise InputError(f"{path}: expected a file, found none")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected a CSV file in UTF-8, got other bytes") from error
    reader = csv.reader(io.StringIO(text, newline=""))
    header = [name.strip() for name in next(reader, [])]
    if not header:
        raise InputError(f"{path} line 1: expected a header, the file is empty")

    def rows() -> Iterator[tuple[str, list[str]]]:
        try:
            for row in reader:
                place = f"{path} line {reader.line_num}"
                if row and len(row) != len(header):
                    raise InputError(f"{place}: expected {len(header)} values, got {len(row)}")
                if row:
                    yield place, [cell.strip() for cell in row]
        except csv.Error as error:
            raise InputError(f"{path} line {reader.line_num}: {error}") from error

    return header, rows()


def _rows(path: Path, columns: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Give each row of a CSV file by the names of its columns, with a name for its place."""
    header, rows = _table(path)
    missing = [name for name in columns if name not in header]
    if missing:
        raise InputError(
            f"{path} line 1: expected the columns {','.join(columns)}, "
            f"got {','.join(header)} without {','.join(missing)}"
        )
    for place, row in rows:
        yield place, dict(zip(header, row, strict=True))


def _number(text: str, place: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{place}: expected a finite number as {name}, got {text!r}")
    return value


def _read_edges(path: Path, known: list[str] | None) -> tuple[list[str], tuple[Any, ...]]:
    position = {name: place for place, name in enumerate(known or [])}
    ends: tuple[list[int], list[int]] = ([], [])
    weights: list[float] = []
    for place, row in _rows(path, ["source", "target"]):
        for side, column in zip(ends, ("source", "target"), strict=True):
            name = row[column]
            if not name:
                raise InputError(f"{place}: expected a node id as {column}, got nothing")
            if known is not None and name not in position:
                raise InputError(f"{place}: node {name!r} as {column} has no row in the features")
            side.append(position.setdefault(name, len(position)))
        if "weight" in row:
            weight = _number(row["weight"], place, "weight")
            if weight < 0:
                raise InputError(f"{place}: expected a weight of at least 0, got {weight:g}")
            weights.append(weight)
    if not ends[0] and known is None:
        raise InputError(f"{path} line 2: expected at least one edge, got none")
    arrays = tuple(np.array(side, dtype=np.int64) for side in ends)
    return list(position), (*arrays, np.array(weights)) if weights else arrays


def _read_labels(path: Path, position: dict[str, int]) -> Any:
    labels = np.full(len(position), None, dtype=object)
    seen: set[str] = set()
    for place, row in _rows(path, ["id", "label"]):
        name = row["id"]
        if name not in position:
            raise InputError(f"{place}: a label for node {name!r}, which is not in the graph")
        if name in seen:
            raise InputError(f"{place}: expected each id once, got {name!r} again")
        seen.add(name)
        labels[position[name]] = row["label"] or None
    if all(label is None for label in labels):
        raise InputError(f"{path}: expected at least one label, got none")
    return labels


def _read_features(path: Path) -> tuple[list[str], Any]:
    if is_image_features(path):
        named = load_image_features(path)
        return list(named.ids), named.features
    if path.suffix in (".npy", ".npz"):
        matrix = _load_array(path)
        return [str(node) for node in range(matrix.shape[0])], matrix
    header, table = _table(path)
    if header[0] not in ("id", ""):
        raise InputError(
            f"{path} line 1: expected a header whose first column is id, got {header[0]!r}"
        )
    if len(header) < 2:
        raise InputError(f"{path} line 1: expected id and at least one feature, got id only")
    rows: dict[str, list[float]] = {}
    for place, (name, *cells) in table:
        if not name or name in rows:
            raise InputError(f"{place}: expected each id once, got {name!r} again or empty")
        rows[name] = [
            _number(cell, place, column) for cell, column in zip(cells, header[1:], strict=True)
        ]
    if not rows:
        raise InputError(f"{path} line 2: expected at least one node, got none")
    return list(rows), np.array(list(rows.values()))


def check_out(out: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse to write over a file that is read, or into what is no folder."""
    if any(path is not None and path.resolve() == out.resolve() for path in inputs):
        raise InputError(f"--out must not be one of the files that are read, got {out}")
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise InputError(f"--out must be a file in a folder that exists, got {str(out)!r}")


def _load_array(path: Path) -> Any:
    if not path.is_file():
        raise InputError(f"{path}: expected a file, found none")
    try:
        matrix = np.load(path, allow_pickle=False) if path.suffix == ".npy" else sp.load_npz(path)
    except (ValueError, OSError, EOFError, KeyError, BadZipFile) as error:
        kind = "a NumPy array" if path.suffix == ".npy" else "a sparse matrix of scipy.sparse"
        raise InputError(f"{path}: expected {kind}, got a file that is none: {error}") from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{path}: expected a 2-D matrix of numbers, "
            f"got shape {matrix.shape} and dtype {matrix.dtype}"
        )
    return matrix
