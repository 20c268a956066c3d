"""A user's own files: nodes, edges, features and labels, with node ids as strings."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from gpgc.errors import InputError
from gpgc.files import STANDARD_STREAM, read_sparse, read_table
from gpgc.files.cells import parse_number, shorten
from gpgc.problem.label_file import LabelFile, read_labels
from gpgc.problem.names import as_names
from gpgc.problem.node_features import checked_ids, read_features
from gpgc.problem.node_table import NodeTable
from gpgc.problem.problem import Problem

ROLES = ("id", "label", "value", "source", "target", "weight", "trust", "cost")
"""Columns that ``--column`` can give other names."""


def read_problem(
    edges: Path | None,
    features: Path | None,
    labels: Path | None,
    unlabelled: Sequence[str] | None = None,
    *,
    nodes: Path | None = None,
    columns: Mapping[str, str] | None = None,
    kinds: Mapping[str, str] | None = None,
    several: Literal["votes", "labels"] | None = None,
    answer: str = "label",
    also_read: Collection[str] = (),
) -> Problem:
    """Read edges, features and labels that belong together.

    Nodes are the rows of the features, else of ``nodes``, else the ends of the edges and then those
    that only the labels name.
    """
    if edges is None and features is None:
        raise InputError("one of --edges and --features must be given, got neither")
    if [edges, features, labels, nodes].count(STANDARD_STREAM) > 1:
        raise InputError("only one input can be read from standard input (-)")
    if kinds and (features is None or features.suffix in (".npy", ".npz")):
        raise InputError("--encode needs --features with a table")
    if unlabelled is not None and labels is None:
        raise InputError("--unlabelled needs --labels")
    called = columns or {}
    has_ids = any(path is not None and path.suffix != ".npy" for path in (features, labels, nodes))
    read = {
        *(("id",) if has_ids else ()),
        *((answer, "trust") if labels is not None else ()),
        *(("source", "target", "weight") if edges is not None and edges.suffix != ".npz" else ()),
        *also_read,
    }
    check_columns(called, read)
    table = None
    if features is not None:
        answers = [called.get(name, name) for name in ("label", "value")]
        answers += [called["trust"]] if "trust" in called else []
        table = read_features(
            features,
            called,
            kinds or {},
            not_features=answers if labels == features else (),
        )
    known = None if table is None or table.names is None else table.names.tolist()
    if nodes is not None:
        known = _read_nodes(nodes, known, called)
    links, position = None, {name: index for index, name in enumerate(known or [])}
    if edges is not None and edges.suffix == ".npz":
        position, links = _read_links(edges, position)
    elif edges is not None:
        links = read_edges(edges, position, known is not None, called)
    given = LabelFile(np.full(len(position), None), None, 0, None)
    if labels is not None:
        may_add = known is None and isinstance(links, tuple)
        names = {**called, "label": called.get(answer, answer)} if answer != "label" else called
        given = read_labels(
            labels, position, unlabelled, may_add=may_add, columns=names, several=several
        )
    whole = table or NodeTable(None, as_names(list(position)))
    return Problem(
        whole, given.labels, links, given.weights, whole.names, given.drawn, given.n_marked
    )


def check_columns(columns: Mapping[str, str], read: Collection[str]) -> None:
    """Refuse names of columns that are unknown, or that no file has that is read."""
    for name, other in columns.items():
        if name not in ROLES:
            raise InputError(
                f"--column must be NAME=COLUMN with NAME one of {', '.join(ROLES)}, "
                f"got {name!r:.60}"
            )
        if name not in read:
            found = ", ".join(role for role in ROLES if role in read) or "none"
            raise InputError(
                f"--column {name}={shorten(other)} is not used: of the files that are read the "
                f"columns {found} can have other names"
            )


def read_candidates(path: Path, ids: list[str], columns: Mapping[str, str] | None = None) -> Any:
    """Return the positions in ``ids`` of the nodes in a table with the column ``id``."""
    position = {name: index for index, name in enumerate(ids)}
    rows = read_table(path).select(["id"], names=columns)
    chosen = [_place(place, row["id"], position) for place, row in rows]
    if not chosen:
        raise InputError(f"{path} line 2: expected at least one candidate, got none")
    return np.array(chosen)


def read_costs(path: Path, ids: list[str], columns: Mapping[str, str] | None = None) -> Any:
    """Return a cost for each of ``ids`` from a table ``id,cost``, 1 where there is none."""
    position = {name: index for index, name in enumerate(ids)}
    costs = np.ones(len(ids))
    for place, row in read_table(path).select(["id", "cost"], names=columns):
        cost = parse_number(row["cost"], place, "cost")
        if cost <= 0:
            raise InputError(f"{place}: expected a cost above 0, got {cost:g}")
        costs[_place(place, row["id"], position)] = cost
    return costs


def read_held_out(
    path: Path,
    ids: Sequence[str],
    unlabelled: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> tuple[Any, list[str]]:
    """Return the positions in ``ids`` of the nodes of a table ``id,label``, and their labels."""
    position = {name: index for index, name in enumerate(ids)}
    called = {name: other for name, other in (columns or {}).items() if name != "trust"}
    labels = read_labels(path, position, unlabelled, columns=called).labels
    nodes = np.array([place for place, label in enumerate(labels) if label is not None])
    return nodes, labels[nodes].tolist()


def _place(place: str, name: str, position: dict[str, int]) -> int:
    if name not in position:
        raise InputError(f"{place}: node {shorten(name)} is not in the graph")
    return position[name]


def _read_nodes(path: Path, known: list[str] | None, columns: Mapping[str, str]) -> list[str]:
    """Return the nodes of a list; those of the features, if there are any, must be the same."""
    with_features = set(known or ())
    rows = read_table(path).select(["id"], names=columns)

    def named() -> Iterator[tuple[str, str]]:
        for place, row in rows:
            yield place, row["id"]
            if known is not None and row["id"] not in with_features:
                raise InputError(f"{place}: node {shorten(row['id'])} has no row in the features")

    listed = checked_ids(named(), str(path))
    if missing := with_features.difference(listed):
        first = next(name for name in known or () if name in missing)
        raise InputError(f"{path}: expected all nodes, got none called {shorten(first)}")
    return known or listed


def _read_links(path: Path, known: dict[str, int]) -> tuple[dict[str, int], Any]:
    """Return the ids, 0 … N−1 where none are known, and the sparse matrix of links between them."""
    links = read_sparse(path)
    if known and links.shape[0] != len(known):
        raise InputError(
            f"{path}: expected links between {len(known)} nodes, "
            f"got a matrix of shape {links.shape}"
        )
    return known or {str(node): node for node in range(links.shape[0])}, links


def read_edges(
    path: Path, position: dict[str, int], is_complete: bool, columns: Mapping[str, str]
) -> tuple[Any, ...]:
    """Return the edges by the positions of their nodes, adding nodes unless all are known."""
    ends: tuple[array[int], array[int]] = (array("q"), array("q"))
    weights = array("d")
    for place, row in read_table(path).select(["source", "target"], ["weight"], names=columns):
        for side, column in zip(ends, ("source", "target"), strict=True):
            name = row[column]
            if not name:
                raise InputError(f"{place}: expected a node id as {column}, got nothing")
            if is_complete and name not in position:
                raise InputError(
                    f"{place}: node {shorten(name)} as {column} has no row in the features "
                    "or the list of nodes"
                )
            side.append(position.setdefault(name, len(position)))
        if "weight" in row:
            weight = parse_number(row["weight"], place, "weight")
            if weight < 0:
                raise InputError(f"{place}: expected a weight of at least 0, got {weight:g}")
            weights.append(weight)
    if not ends[0] and not is_complete:
        raise InputError(f"{path} line 2: expected at least one edge, got none")
    arrays = tuple(np.array(side, dtype=np.int64) for side in ends)
    return (*arrays, np.array(weights)) if weights else arrays
