"""Nodes by name: features, labels and graph that name their nodes are brought into one order."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc.errors import GPGCWarning, InputError
from gpgc.files import canonical_csr

_EXAMPLES = 3


def align(X: Any, y: Any, adjacency: Any, sample_weight: Any = None) -> tuple[Any, Any, Any, Any]:
    """Return features, labels, graph and weights with their nodes in one order.

    The order is the graph's, or else that of X, or else that of y.

    Names are the index of a pandas Series or DataFrame, unless it is the default one (0, 1, …), and
    the nodes of a NetworkX graph. What has no names is taken by position. Sparse features come back
    as CSR without duplicate entries.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (N, F), or None
    y : array or Series of shape (N,), or array or DataFrame of shape (N, k), or None
    adjacency : graph or None
        In any form that :func:`gpgc.graph.as_adjacency` takes.
    sample_weight : array or Series of shape (N,), or None

    Returns
    -------
    X, y, adjacency, sample_weight
        As given where their order is the common one already.

    Raises
    ------
    InputError
        If two of them name different nodes, or name them in different orders and a third has no
        names, so that nobody knows which order it follows.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph([("b", "a"), ("a", "c")])
    >>> align(None, ["of b", "of a", "of c"], graph)[1]
    ['of b', 'of a', 'of c']
    """
    if sp.issparse(X):
        X = canonical_csr(X, "X")
    adjacency = _with_columns_as_rows(adjacency)
    given = {"adjacency": adjacency, "X": X, "y": y, "sample_weight": sample_weight}
    given = {what: value for what, value in given.items() if value is not None}
    names = {what: _names(value) for what, value in given.items()}
    named = {what: nodes for what, nodes in names.items() if nodes is not None}
    _warn_of_numbers(names)
    if len(named) < 2:
        return X, y, adjacency, sample_weight
    (first, order), *others = named.items()
    moved = [what for what, nodes in others if nodes != order]
    if not moved:
        return X, y, adjacency, sample_weight
    position = _positions(first, order)
    for what in moved:
        _check_same(first, order, what, named[what])
    if unnamed := [what for what in given if what not in named]:
        raise InputError(
            f"{unnamed[0]} must name its nodes, as {first} and {moved[0]} name them in different "
            f"orders: give it the index of {moved[0]}, or bring all into one order"
        )
    for what in moved:
        places = np.argsort([position[name] for name in named[what]])
        given[what] = given[what].iloc[places]
    X, y, adjacency, sample_weight = (
        given.get(what) for what in ("X", "y", "adjacency", "sample_weight")
    )
    return X, y, adjacency, sample_weight


def _names(value: Any) -> list[Any] | None:
    """Return the names of the nodes of features, labels or a graph, None if it has none."""
    if hasattr(value, "nodes") and hasattr(value, "adj"):
        return list(value.nodes)
    if not (hasattr(value, "iloc") and hasattr(value, "index")):
        return None
    names = list(value.index)
    return None if names == list(range(len(names))) else names


def _with_columns_as_rows(adjacency: Any) -> Any:
    """Return a frame of N × N weights with its columns in the order of its rows."""
    is_frame = hasattr(adjacency, "iloc") and hasattr(adjacency, "columns")
    if not is_frame or adjacency.shape[0] != adjacency.shape[1]:
        return adjacency
    rows, columns = list(adjacency.index), list(adjacency.columns)
    if columns == rows or columns == list(range(len(columns))):
        return adjacency
    _check_same("the rows of adjacency", rows, "the columns of adjacency", columns)
    return adjacency[rows]


def _positions(what: str, names: Sequence[Any]) -> dict[Any, int]:
    position = {name: place for place, name in enumerate(names)}
    if len(position) < len(names):
        raise InputError(f"{what} must name each node once, got {_repeated(names)} again")
    return position


def _check_same(first: str, order: Sequence[Any], what: str, names: Sequence[Any]) -> None:
    """Refuse names that are not the same set as those of the first."""
    one, other = set(_positions(first, order)), set(_positions(what, names))
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


def _some(nodes: set[Any]) -> str:
    shown = ", ".join(sorted(map(repr, nodes))[:_EXAMPLES])
    return f"{shown} and {len(nodes) - _EXAMPLES} more" if len(nodes) > _EXAMPLES else shown


def _repeated(names: Sequence[Any]) -> str:
    return repr(next(name for place, name in enumerate(names) if name in names[:place]))


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
