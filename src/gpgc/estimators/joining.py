"""Nodes that join a fitted graph, with links by name or by position."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.estimators.features import new_features
from gpgc.estimators.inputs import with_norm
from gpgc.estimators.named_parts import Edges, graph_part
from gpgc.graph import Nodes, nearest_links
from gpgc.graph.adjacency import links_of_edges
from gpgc.graph.nodes import JoinedNodes
from gpgc.tables import NodeTable
from gpgc.tables.frames import ID, column_names, columns_of, is_frame, without_column
from gpgc.tables.node_names import as_names, names_of, positions_of


class Join(NamedTuple):
    """What joins a graph.

    Attributes
    ----------
    X : array, sparse matrix, frame, NodeTable or None
        The features of the new nodes, without their names.
    links : array or sparse matrix of shape (M, N) or (M, N + M), or None
        Their links, by position.
    names : array of shape (M,), or None
        Of the new nodes.
    """

    X: Any
    links: Any
    names: NDArray[Any] | None


def join_by_name(nodes: Nodes, X: Any, adjacency: Any) -> Join:
    """Return new nodes with links by position.

    Parameters
    ----------
    nodes : Nodes
        The fitted ones.
    X : array, sparse matrix, frame, NodeTable or None
        Features of the new nodes, which a column ``id`` or an index names.
    adjacency : optional
        A frame of edges (source, target, maybe weight) or a NetworkX graph, between new nodes and
        fitted ones or each other; edges between fitted nodes are passed over, since those stay as
        they are. Or weights of shape (M, N) or (M, N + M), as an array, a sparse matrix or a frame
        whose columns are named like the fitted nodes.
    """
    names = X.names if isinstance(X, NodeTable) else (names_of(X) if is_frame(X) else None)
    if is_frame(X) and ID in column_names(X):
        X = without_column(X, ID)
    part = graph_part(adjacency)
    edges = part.value
    if part.names is not None and hasattr(edges, "adj"):
        triples = list(edges.edges(data="weight", default=1.0))
        weight = np.array([weight for _, _, weight in triples], dtype=np.float64)
        edges = Edges([a for a, _, _ in triples], [b for _, b, _ in triples], weight)
        if names is None and X is None:
            fitted = set(_fitted_names(nodes))
            names = as_names([name for name in part.names if name not in fitted])
    if isinstance(edges, Edges):
        names, links = _links_of_edges(nodes, edges, names, _n_rows(X))
        return Join(X, links, names)
    if is_frame(edges):
        names, weights = _links_of_frame(nodes, edges, names)
        return Join(X, weights, names)
    return Join(X, adjacency, names)


def join(estimator: Any, X: Any, adjacency: Any) -> JoinedNodes:
    """Return the fitted nodes of an estimator with those that join them."""
    nodes: Nodes = estimator.prior_.nodes
    X, links, _ = join_by_name(nodes, X, adjacency)
    if nodes.features is None:
        if links is None or not (X is None or getattr(X, "features", X) is None):
            raise InputError(
                "new nodes of a graph without features need X=None and their adjacency"
            )
        n_new = links.shape[0] if sp.issparse(links) else len(np.atleast_2d(links))
        return nodes.joined(links, None, n_new)
    if X is None:
        raise InputError("X must hold the features of the new nodes, got None")
    if not estimator.prior_.architecture.needs_graph:  # rows of covariances, no features
        rows = new_features(estimator, X)
        return nodes.joined(None, rows, rows.shape[0])
    new = new_features(estimator, X)
    if nodes.standardisation is not None:
        new = nodes.standardisation.apply(new)
    new = with_norm(new, estimator.feature_norm)
    if links is None:
        if not nodes.from_features:
            raise InputError(
                "adjacency of new nodes must be given, of shape (M, N) or (M, N + M): "
                "the fitted graph was not built from features"
            )
        links = nearest_links(nodes.features, new, estimator.n_neighbors, n_jobs=estimator.n_jobs)
    return nodes.joined(links, new, new.shape[0])


def _n_rows(X: Any) -> int | None:
    if X is None:
        return None
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _fitted_names(nodes: Nodes) -> list[Any]:
    return list(range(len(nodes))) if nodes.names is None else list(nodes.names.tolist())


def _links_of_edges(
    nodes: Nodes, edges: Edges, names: NDArray[Any] | None, n_rows: int | None
) -> tuple[NDArray[Any] | None, sp.csr_array]:
    """Return the names of the new nodes and their links (M, N + M)."""
    position = positions_of(_fitted_names(nodes), "the graph")
    n_fitted = len(position)
    ends = [*edges.source, *edges.target]
    if names is not None:
        new = names.tolist()
        if again := [name for name in new if name in position]:
            raise InputError(f"X must name new nodes, got {again[0]!r:.60}, which the graph has")
    elif n_rows is None:
        new = list(dict.fromkeys(name for name in ends if name not in position))
        names = as_names(new)
    else:
        new = list(range(n_fitted, n_fitted + n_rows))
    position |= {name: n_fitted + index for name, index in positions_of(new, "X").items()}
    if unknown := [name for name in ends if name not in position]:
        raise InputError(
            f"adjacency must link nodes of the graph or of X, got {unknown[0]!r:.60}, which is in "
            "neither"
        )
    source, target = (
        np.array([position[name] for name in side], dtype=np.int64)
        for side in (edges.source, edges.target)
    )
    return names, links_of_edges(source, target, edges.weight, n_fitted, len(new))


def _links_of_frame(
    nodes: Nodes, frame: Any, names: NDArray[Any] | None
) -> tuple[NDArray[Any] | None, NDArray[np.float64]]:
    """Return the names of the new nodes, and weights (M, N) or (M, N + M) by the names they have.

    Columns that pandas has numbered by itself, and those of nodes without names that are called
    otherwise, are taken by position.
    """
    rows = names_of(frame)
    if ID in column_names(frame):
        frame = without_column(frame, ID)
    columns = columns_of(frame, "adjacency")
    weights = np.column_stack(list(columns.values())).astype(np.float64)
    if names is None:
        names = rows
    elif rows is not None and rows.tolist() != names.tolist():
        place = positions_of(rows.tolist(), "the rows of adjacency")
        if set(place) != set(names.tolist()):
            raise InputError("the rows of adjacency must name the nodes that X names, got others")
        weights = weights[[place[name] for name in names.tolist()]]
    fitted = [str(name) for name in _fitted_names(nodes)]
    is_numbered = column_names(frame) == list(range(len(columns)))
    if is_numbered or (nodes.names is None and columns.keys().isdisjoint(fitted)):
        return names, weights
    new = range(len(fitted), len(fitted) + len(weights)) if names is None else names.tolist()
    wanted = fitted + ([str(name) for name in new] if len(columns) > len(fitted) else [])
    found, known = positions_of(columns, "the columns of adjacency"), set(wanted)
    missing = [f"none called {name!r:.60}" for name in wanted if name not in found]
    others = [f"{name!r:.60}" for name in columns if name not in known]
    if wrong := missing or others:
        raise InputError(
            "the columns of adjacency must be named like the nodes of the graph, and like the new "
            f"ones if these are there, got {wrong[0]}"
        )
    return names, weights[:, [found[name] for name in wanted]]
