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
from gpgc.files import read_table
from gpgc.files.cells import parse_number, shorten
from gpgc.problem.columns import MISSING_MARKS
from gpgc.problem.roles import RANDOM_ROLES, Role
from gpgc.problem.votes import count_votes

UNLABELLED_MARKS = (*MISSING_MARKS, "-1", "-1.0")
"""Cells of a file of labels that stand for no label."""

DRAWN_ROLES = (*RANDOM_ROLES, "random")
"""Cells of the column ``role`` of a file of labels whose nodes were drawn at random."""


@dataclass(frozen=True, eq=False)
class LabelFile:
    """Labels, votes or tuples (N,), weights, rows marked unlabelled, nodes drawn at random."""

    labels: Any
    weights: Array | None
    n_marked: int
    drawn: Integers | None


def read_labels(
    path: Path,
    position: dict[str, int],
    unlabelled: Sequence[str] | None = None,
    *,
    may_add: bool = False,
    columns: Mapping[str, str] | None = None,
    several: Literal["votes", "labels"] | None = None,
) -> LabelFile:
    """Read a table ``id,label`` and maybe role and trust; nodes may be added behind the others."""
    trusted = ["trust"] if "trust" in (columns or {}) else []
    if several == "labels" and trusted:
        raise InputError("--column trust=COLUMN must not come with --several labels, got both")
    marks = frozenset(UNLABELLED_MARKS if unlabelled is None else unlabelled)
    nodes: list[int] = []
    given: list[str] = []
    trust: list[float] = []
    roles: list[str] = []
    seen: set[str] = set()
    first, n_linked, n_marked = "", len(position), 0
    table = read_table(path).select(["id", "label", *trusted], ["role"], names=columns)
    for place, cells in table:
        name, label = cells["id"], cells["label"]
        if not may_add and name not in position:
            raise InputError(
                f"{place}: a label for node {shorten(name)}, which is not in the graph"
            )
        if not name:
            raise InputError(f"{place}: expected an id, got nothing")
        if several is None and name in seen:
            raise InputError(
                f"{place}: {shorten(name)} has a second label; gpgc classify takes several by "
                "--several votes or --several labels"
            )
        if not label and label not in marks:
            raise InputError(f"{place}: expected a label or one of {sorted(marks)}, got nothing")
        first = first or f"{shorten(name)}, {place}"
        seen.add(name)
        node = position.setdefault(name, len(position))
        if label in marks:
            n_marked += 1
            continue
        weight = parse_number(cells["trust"], place, "trust") if trusted else 1.0
        if weight <= 0:
            raise InputError(f"{place}: expected a trust above 0, got {weight:g}")
        nodes.append(node)
        given.append(label)
        trust.append(weight)
        roles.append(cells.get("role", "").strip().casefold())
    if not nodes:
        raise InputError(f"{path}: expected at least one label, got none")
    if may_add and len(position) == n_linked + len(seen):
        raise InputError(
            f"none of the labels names a node of the graph (first: {first}); do the ids match?"
        )
    drawn = _drawn(nodes, roles)
    if several == "votes":
        votes = count_votes(nodes, given, len(position), weights=trust)
        return LabelFile(votes, votes.weight, n_marked, drawn)
    labels: NDArray[Any] = np.full(len(position), None, dtype=object)
    weights = np.ones(len(position))
    if several == "labels":
        for node, label in zip(nodes, given, strict=True):
            labels[node] = (*(labels[node] or ()), label)
    else:
        labels[nodes], weights[nodes] = given, trust
    return LabelFile(labels, weights if trusted else None, n_marked, drawn)


def _drawn(nodes: list[int], roles: list[str]) -> Integers | None:
    """Return the nodes drawn at random; None where the roles say nothing about it."""
    if {*DRAWN_ROLES, *get_args(Role)}.isdisjoint(roles):
        return None
    return np.unique(np.array(nodes)[np.isin(roles, DRAWN_ROLES)])
