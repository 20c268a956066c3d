"""A user's file of labels: a row for each labelled node, or several of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.votes import count_votes
from gpgc.files import read_table
from gpgc.files.cells import parse_number, shorten
from gpgc.labelling.ledger import RANDOM_ROLES, Role
from gpgc.tables.kinds import MISSING_MARKS

UNLABELLED_MARKS = (*MISSING_MARKS, "-1", "-1.0")
"""Cells of a file of labels that stand for no label."""

DRAWN_ROLES = (*RANDOM_ROLES, "random")
"""Cells of the column ``role`` of a file of labels whose nodes were drawn at random."""

Several = Literal["votes", "labels"]
"""What several rows of a node may be; without it each node has one row."""


@dataclass(frozen=True, eq=False)
class LabelFile:
    """The labels of a file, by the positions of their nodes.

    Attributes
    ----------
    labels : array of shape (N,), or Votes of shape (N, k)
        A label or None for each node, the fractions of its votes, or a tuple of its labels.
    weights : array of shape (N,), or None
        How much each label is to be trusted; None where all count alike.
    n_marked : int
        Rows that hold a mark of the unlabelled.
    drawn : int array, or None
        Labelled nodes that were drawn at random by the column ``role``; None without it.
    """

    labels: Any
    weights: Array | None
    n_marked: int
    drawn: Integers | None


@dataclass(frozen=True)
class _Row:
    node: int
    label: str
    trust: float
    role: str


def read_labels(
    path: Path,
    position: dict[str, int],
    unlabelled: Sequence[str] | None = None,
    *,
    may_add: bool = False,
    columns: Mapping[str, str] | None = None,
    several: str | None = None,
) -> LabelFile:
    """Read a table with the columns ``id,label`` and maybe ``role`` and one that says the trust.

    Parameters
    ----------
    path : Path
        The table.
    position : dict of str to int
        Node → its position. Where labels may add nodes, those that no edge has named are put
        behind the others.
    unlabelled : sequence of str, optional
        Labels that mean unlabelled; ``UNLABELLED_MARKS`` when not given.
    may_add : bool, default False
        Whether labels may name further nodes.
    columns : mapping of str to str, optional
        Name of a column here → its name in the file. The column of trust is read where it has one.
    several : {"votes", "labels"}, optional
        What several rows of a node are; an error when not given.
    """
    called = {name: other for name, other in (columns or {}).items() if name in _COLUMNS}
    if several not in (None, *get_args(Several)):
        raise InputError(f"--several must be {' or '.join(get_args(Several))}, got {several!r:.60}")
    if several == "labels" and "trust" in called:
        raise InputError("--column trust=COLUMN must not come with --several labels, got both")
    marks = frozenset(UNLABELLED_MARKS if unlabelled is None else unlabelled)
    rows: list[_Row] = []
    seen: dict[str, int] = {}
    first, n_linked, n_marked = "", len(position), 0
    trusted = ["trust"] if "trust" in called else []
    table = read_table(path).renamed(called).select(["id", "label", *trusted], ["role"])
    for place, cells in table:
        name, label = cells["id"], cells["label"]
        stranger = f"{place}: a label for node {shorten(name)}, which is not in the graph"
        if not may_add and name not in position:
            raise InputError(stranger)
        if not name or (several is None and name in seen):
            raise InputError(
                f"{place}: {shorten(name)} has a second label; gpgc classify takes several by "
                "--several votes or --several labels"
                if name
                else f"{place}: expected an id, got nothing"
            )
        if not label and label not in marks:
            raise InputError(f"{place}: expected a label or one of {sorted(marks)}, got nothing")
        first = first or f"{shorten(name)}, {place}"
        seen[name] = position.setdefault(name, len(position))
        if label in marks:
            n_marked += 1
            continue
        trust = parse_number(cells["trust"], place, "trust") if trusted else 1.0
        if trust <= 0:
            raise InputError(f"{place}: expected a trust above 0, got {trust:g}")
        rows.append(_Row(seen[name], label, trust, cells.get("role", "").strip().casefold()))
    if not rows:
        raise InputError(f"{path}: expected at least one label, got none")
    if may_add and len(position) == n_linked + len(seen):
        raise InputError(
            f"none of the labels names a node of the graph (first: {first}); do the ids match?"
        )
    size, weights = len(position), None
    if several == "votes":
        labels, weights = _votes(rows, size)
    elif several == "labels":
        labels = _collections(rows, size)
    else:
        labels, weights = _one_each(rows, size, trusted)
    return LabelFile(labels, weights, n_marked, _drawn(rows))


_COLUMNS = ("id", "label", "trust")


def _one_each(rows: list[_Row], n_nodes: int, trusted: list[str]) -> tuple[Any, Array | None]:
    labels: NDArray[Any] = np.full(n_nodes, None, dtype=object)
    weights = np.ones(n_nodes)
    for row in rows:
        labels[row.node], weights[row.node] = row.label, row.trust
    return labels, weights if trusted else None


def _votes(rows: list[_Row], n_nodes: int) -> tuple[Any, Array]:
    nodes, labels = [row.node for row in rows], [row.label for row in rows]
    votes = count_votes(nodes, labels, n_nodes, weights=[row.trust for row in rows])
    return votes, votes.weight


def _collections(rows: list[_Row], n_nodes: int) -> NDArray[Any]:
    labels: NDArray[Any] = np.full(n_nodes, None, dtype=object)
    for row in rows:
        labels[row.node] = (*(labels[row.node] or ()), row.label)
    return labels


def _drawn(rows: list[_Row]) -> Integers | None:
    """Return the nodes drawn at random; None where the roles say nothing about it."""
    if {*DRAWN_ROLES, *get_args(Role)}.isdisjoint(row.role for row in rows):
        return None
    return np.unique(np.array([r.node for r in rows if r.role in DRAWN_ROLES], dtype=np.intp))
