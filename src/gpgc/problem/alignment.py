"""Nodes by name: features, labels and graph that name their nodes are brought into one order."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc.errors import GPGCWarning, InputError
from gpgc.graph import Nodes, as_adjacency
from gpgc.problem.frames import column_names, is_frame
from gpgc.problem.named_parts import Edges, Part, features_part, graph_part, labels_part
from gpgc.problem.names import NamedColumns, as_names, positions_of
from gpgc.problem.problem import Problem

_EXAMPLES = 3


def problem_of(X: Any, y: Any, adjacency: Any, sample_weight: Any = None) -> Problem:
    """Return features, labels, graph and weights in the order of X, else of the graph, else of y.

    What has no names is taken by position; parts that name different nodes are refused.
    """
    parts = {
        "X": features_part(X),
        "adjacency": graph_part(_with_columns_as_rows(adjacency)),
        "y": labels_part(y),
        "sample_weight": labels_part(sample_weight),
    }
    parts = {what: part for what, part in parts.items() if part.value is not None}
    if "adjacency" in parts and isinstance(parts["adjacency"].value, Edges):
        parts["adjacency"] = _edges_by_position(parts)
    complete = {what: part.names for what, part in parts.items() if part.is_complete}
    _warn_of_numbers(complete)
    named = {what: names for what, names in complete.items() if names is not None}
    first, order = next(iter(named.items()), ("the graph", None))
    if order is None:
        known: Sequence[Any] = [] if len(complete) == len(parts) else range(_count(parts))
    else:
        known = list(positions_of(order, first))
    values = {what: _in_order(part, known, first, what) for what, part in parts.items()}
    moved = [what for what, names in named.items() if names != order]
    if moved and (unnamed := [what for what in complete if what not in named]):
        raise InputError(
            f"{unnamed[0]} must name its nodes, as {first} and {moved[0]} name them in different "
            f"orders: give it the index of {moved[0]}, or bring all into one order"
        )
    has_names = order is not None and order != list(range(len(order)))
    names = as_names(order) if order is not None and has_names else None
    absent: dict[str, Any] = dict.fromkeys(("X", "y", "adjacency"))
    return Problem(**(absent | values), names=names)


def align_labels(y: Any, nodes: Nodes, what: str = "y") -> Any:
    """Return labels, values or weights in the order of fitted nodes, by name or by position."""
    part = labels_part(y)
    order = list(range(len(nodes))) if nodes.names is None else nodes.names.tolist()
    if part.is_complete and nodes.names is None and set(part.names or order) != set(order):
        return part.value  # names of nodes that had none
    return _in_order(part, order, "the graph", what)


def _in_order(part: Part, order: Sequence[Any], first: str, what: str) -> Any:
    """Return a part in the order of the nodes that another one names."""
    if not part.is_complete:
        return _spread(part, order, what, first)
    if part.names is None or part.names == order:
        return part.value
    _check_same(first, order, what, part.names)
    position = positions_of(order, first)
    index = np.argsort([position[name] for name in part.names])
    if what != "adjacency":
        return part.take(index)
    if hasattr(part.value, "iloc"):
        return part.value.iloc[index, index]
    return as_adjacency(part.value)[index][:, index]


def _edges_by_position(parts: dict[str, Part]) -> Part:
    """Return a frame of edges as a tuple of positions, in the order of X, of y, or their own."""
    edges: Edges = parts["adjacency"].value
    holders = {what: part for what, part in parts.items() if what in ("X", "y")}
    owners = [what for what, part in holders.items() if part.is_complete]
    named = [what for what in owners if holders[what].names is not None]
    names: list[Any] | None = None
    if named:
        names = holders[named[0]].names
        known = f"nodes of {named[0]}"
        position = positions_of(names or (), named[0])
    elif owners:
        size = _length(holders[owners[0]].value)
        known = f"nodes from 0 to {size - 1}, as {owners[0]} has no names"
        position = {node: node for node in range(size)}
    else:
        listed = holders["y"].names or [] if "y" in holders else []
        names = list(dict.fromkeys([*_ends(edges), *listed]))
        known, position = "", {name: index for index, name in enumerate(names)}
    ends = tuple(
        np.array([_index(name, position, side, row, known) for row, name in enumerate(nodes)])
        for side, nodes in (("source", edges.source), ("target", edges.target))
    )
    weight = () if edges.weight is None else (edges.weight,)
    if names is None and owners:
        return Part((*ends, *weight))
    return Part((*ends, *weight), names)


def _ends(edges: Edges) -> list[Any]:
    return [name for pair in zip(edges.source, edges.target, strict=True) for name in pair]


def _index(name: Any, position: dict[Any, int], side: str, row: int, known: str) -> int:
    if name not in position:
        raise InputError(f"adjacency[{side!r}] must name {known}, got {name!r:.60} in row {row}")
    return position[name]


def _spread(part: Part, order: Sequence[Any], what: str, first: str) -> Any:
    """Return an entry for each node where some are named: no label, or weight 1, for the others."""
    names = part.names if part.names is not None else range(len(part.value))
    position = positions_of(order, first)
    given = positions_of(names, what)
    if unknown := [name for name in given if name not in position]:
        raise InputError(
            f"{what} must name nodes of {first}, got {_some(unknown)} that it does not have"
        )
    is_weight = what == "sample_weight"
    has_columns = isinstance(part.value, NamedColumns)
    rows = part.value.rows if has_columns else part.value
    whole = np.full((len(position), *rows.shape[1:]), 1.0 if is_weight else None, object)
    for name, index in given.items():
        whole[position[name]] = rows[index]
    if has_columns:
        return part.value.with_rows(whole)
    return whole.astype(np.float64) if is_weight else whole


def _count(parts: dict[str, Part]) -> int:
    """Return the number of nodes where nobody names them but labels by number."""
    if "X" in parts:
        return _length(parts["X"].value)
    graph = parts["adjacency"].value if "adjacency" in parts else ()
    if isinstance(graph, tuple):
        ends = [int(np.max(end)) for end in graph[:2] if len(end)]
        numbers = [name for name in parts["y"].names or () if isinstance(name, int)]
        return 1 + max([*ends, *numbers], default=-1)
    if getattr(graph, "num_nodes", None) is not None:
        return int(graph.num_nodes)
    return _length(graph)


def _length(value: Any) -> int:
    return int(value.shape[0]) if hasattr(value, "shape") else len(value)


def _with_columns_as_rows(adjacency: Any) -> Any:
    """Return a frame of N × N weights with its columns in the order of its rows."""
    if not is_frame(adjacency):
        return adjacency
    listed = column_names(adjacency)
    if {"source", "target"} <= {str(column).casefold() for column in listed}:
        return adjacency
    if adjacency.shape[0] != adjacency.shape[1]:
        raise InputError(
            "adjacency as a frame of edges must have the columns source and target, and maybe "
            f"weight, got {', '.join(map(str, listed)):.200}: rename them"
        )
    if not hasattr(adjacency, "iloc"):
        return adjacency
    rows, columns = list(adjacency.index), list(adjacency.columns)
    if columns == rows or columns == list(range(len(columns))):
        return adjacency
    _check_same("the rows of adjacency", rows, "the columns of adjacency", columns)
    return adjacency[rows]


def _check_same(first: str, order: Sequence[Any], what: str, names: Sequence[Any]) -> None:
    """Refuse names that are not the same set as those of the first."""
    one, other = set(positions_of(order, first)), set(positions_of(names, what))
    if one == other:
        return
    differences = [
        f"{_some(nodes)} only in {where}"
        for nodes, where in ((other - one, what), (one - other, first))
        if nodes
    ]
    raise InputError(
        f"{what} must name the nodes that {first} names, got {' and '.join(differences)}; "
        "nodes without a label are named too, with None or NaN, and an array without names is "
        "taken by position"
    )


def _some(nodes: Any) -> str:
    shown = ", ".join(sorted(map(repr, nodes))[:_EXAMPLES])
    return f"{shown} and {len(nodes) - _EXAMPLES} more" if len(nodes) > _EXAMPLES else shown


def _warn_of_numbers(names: dict[str, list[Any] | None]) -> None:
    """Warn where one names its nodes 0 … N − 1 in another order and the rest has no names."""
    named = [(what, nodes) for what, nodes in names.items() if nodes is not None]
    if len(named) != 1 or len(names) < 2:
        return
    what, nodes = named[0]
    if what == "X" or ("adjacency" not in names):
        return
    try:
        numbers = nodes != list(range(len(nodes))) and sorted(nodes) == list(range(len(nodes)))
    except TypeError:
        return
    if numbers:
        others = " and ".join(other for other in names if other != what)
        warnings.warn(
            f"{what} names the nodes 0 to {len(nodes) - 1} in another order, starting "
            f"{', '.join(map(str, nodes[:_EXAMPLES]))}; {others} without names is taken in this "
            "order, not by these numbers: give it an index, or sort the nodes",
            GPGCWarning,
            stacklevel=4,
        )
