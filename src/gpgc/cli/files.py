"""A user's own files: edges, features and labels, with node ids as strings."""

from __future__ import annotations

import math
import stat
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gpgc.errors import InputError
from gpgc.files import read_npy, read_sparse, read_table
from gpgc.image_features.feature_file import is_image_features, load_image_features

UNLABELLED_MARKS = ("", "-1", "nan", "NaN", "NA", "None")
"""Cells of a file of labels that stand for no label."""

STANDARD_OUTPUT = Path("-")
"""What ``--out`` calls the standard output."""

LARGEST = 1e150
"""Magnitude of a feature or weight from which on its square is no number any more."""


@dataclass(frozen=True)
class GraphFiles:
    """What the files say, in the order of ``ids``; None for a file that was left out.

    ``n_marked`` counts the rows of the labels that hold a mark of the unlabelled.
    """

    ids: list[str]
    features: Any
    edges: Any
    labels: Any
    n_marked: int = 0


def read_graph_files(
    edges: Path | None,
    features: Path | None,
    labels: Path | None,
    unlabelled: Sequence[str] | None = None,
) -> GraphFiles:
    """Read edges, features and labels that belong together.

    Nodes are the rows of the features where there are any, else the ends of the edges.

    Parameters
    ----------
    edges : Path, optional
        Table with the columns ``source,target[,weight]``, or sparse .npz of shape (N, N).
    features : Path, optional
        Table whose first column is ``id``, or .npy or sparse .npz with ids 0 … N−1.
    labels : Path, optional
        Table with the columns ``id,label``.
    unlabelled : sequence of str, optional
        Labels that mean unlabelled; ``UNLABELLED_MARKS`` when not given.
    """
    if edges is None and features is None:
        raise InputError("one of --edges and --features must be given, got neither")
    ids: list[str] | None = None
    matrix = None
    if features is not None:
        ids, matrix = _read_features(features)
    links = None
    if edges is not None:
        ids, links = (_read_links if edges.suffix == ".npz" else _read_edges)(edges, ids)
    position = {name: place for place, name in enumerate(ids or [])}
    known, n_marked = None, 0
    if labels is not None:
        known, n_marked = _read_labels(labels, position, unlabelled)
    return GraphFiles(list(position), matrix, links, known, n_marked)


def read_candidates(path: Path, ids: list[str]) -> Any:
    """Return the places in ``ids`` of the nodes in a table with the column ``id``."""
    position = {name: place for place, name in enumerate(ids)}
    rows = read_table(path).select(["id"])
    chosen = [_place(place, row["id"], position) for place, row in rows]
    if not chosen:
        raise InputError(f"{path} line 2: expected at least one candidate, got none")
    return np.array(chosen)


def read_costs(path: Path, ids: list[str]) -> Any:
    """Return a cost for each of ``ids`` from a table ``id,cost``, 1 where there is none."""
    position = {name: place for place, name in enumerate(ids)}
    costs = np.ones(len(ids))
    for place, row in read_table(path).select(["id", "cost"]):
        cost = _number(row["cost"], place, "cost")
        if cost <= 0:
            raise InputError(f"{place}: expected a cost above 0, got {cost:g}")
        costs[_place(place, row["id"], position)] = cost
    return costs


def read_held_out(path: Path, ids: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the places in ``ids`` of the nodes of a table ``id,label``, and their labels."""
    labels, _ = _read_labels(path, {name: place for place, name in enumerate(ids)}, None)
    nodes = np.array([place for place, label in enumerate(labels) if label is not None])
    return nodes, labels[nodes].tolist()


def _place(place: str, name: str, position: dict[str, int]) -> int:
    if name not in position:
        raise InputError(f"{place}: node {_short(name)} is not in the graph")
    return position[name]


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")


def _number(text: str, place: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{place}: expected a finite number as {name}, got {_short(text)}")
    if abs(value) > LARGEST:
        raise InputError(
            f"{place}: expected a number of at most {LARGEST:g} as {name}, got {_short(text)}"
        )
    return value


def _read_links(path: Path, known: list[str] | None) -> tuple[list[str], Any]:
    """Return the ids 0 … N−1 and the sparse matrix of links between them."""
    links = read_sparse(path)
    if known is not None and links.shape[0] != len(known):
        raise InputError(
            f"{path}: expected links between the {len(known)} rows of the features, "
            f"got a matrix of shape {links.shape}"
        )
    return known or [str(node) for node in range(links.shape[0])], links


def _read_edges(path: Path, known: list[str] | None) -> tuple[list[str], tuple[Any, ...]]:
    position = {name: place for place, name in enumerate(known or [])}
    ends: tuple[list[int], list[int]] = ([], [])
    weights: list[float] = []
    for place, row in read_table(path).select(["source", "target"], ["weight"]):
        for side, column in zip(ends, ("source", "target"), strict=True):
            name = row[column]
            if not name:
                raise InputError(f"{place}: expected a node id as {column}, got nothing")
            if known is not None and name not in position:
                raise InputError(
                    f"{place}: node {_short(name)} as {column} has no row in the features"
                )
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


def _read_labels(
    path: Path, position: dict[str, int], unlabelled: Sequence[str] | None
) -> tuple[Any, int]:
    """Return a label or None for each node, and how many rows hold a mark of the unlabelled."""
    marks = frozenset(UNLABELLED_MARKS if unlabelled is None else unlabelled)
    labels = np.full(len(position), None, dtype=object)
    seen: set[str] = set()
    n_marked = 0
    for place, row in read_table(path).select(["id", "label"]):
        name, label = row["id"], row["label"]
        if name not in position:
            raise InputError(f"{place}: a label for node {_short(name)}, which is not in the graph")
        if name in seen:
            raise InputError(f"{place}: expected each id once, got {_short(name)} again")
        seen.add(name)
        if label in marks:
            n_marked += 1
        elif not label:
            raise InputError(f"{place}: expected a label or one of {sorted(marks)}, got nothing")
        else:
            labels[position[name]] = label
    if all(label is None for label in labels):
        raise InputError(f"{path}: expected at least one label, got none")
    return labels, n_marked


def _read_features(path: Path) -> tuple[list[str], Any]:
    if is_image_features(path):
        named = load_image_features(path)
        return list(named.ids), named.features
    if path.suffix in (".npy", ".npz"):
        matrix = _load_array(path)
        return [str(node) for node in range(matrix.shape[0])], matrix
    table = read_table(path)
    header = table.columns
    if header[0].casefold() not in ("id", ""):
        raise InputError(
            f"{path} line 1: expected a header whose first column is id, got {_short(header[0])}"
        )
    if len(header) < 2:
        raise InputError(f"{path} line 1: expected id and at least one feature, got id only")
    ids: dict[str, None] = {}
    values = array("d")
    for place, (name, *cells) in table.rows:
        if not name or name in ids:
            raise InputError(f"{place}: expected each id once, got {_short(name)} again or empty")
        ids[name] = None
        values.extend(
            _number(cell, place, column) for cell, column in zip(cells, header[1:], strict=True)
        )
    if not ids:
        raise InputError(f"{path} line 2: expected at least one node, got none")
    return list(ids), np.array(values).reshape(len(ids), -1)


def check_out(out: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse to write over a file that is read, or into what is no folder; ``-`` is fine."""
    if out == STANDARD_OUTPUT:
        return
    if any(path is not None and path.resolve() == out.resolve() for path in inputs):
        raise InputError(f"--out must not be one of the files that are read, got {out}")
    if out.exists() and not out.is_dir() and not stat.S_ISREG(out.stat().st_mode):
        return
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise InputError(f"--out must be a file in a folder that exists, got {str(out)!r}")


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
