"""Nodes that join a fitted graph, with links by name or by position."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from gpgc.errors import InputError
from gpgc.estimators.inputs import NUMBERS, with_norm
from gpgc.files import canonical_csr
from gpgc.graph import Nodes, nearest_links
from gpgc.graph.adjacency import links_of_edges
from gpgc.graph.nodes import JoinedNodes
from gpgc.problem import NodeTable, encode_table
from gpgc.problem.frames import column_names, columns_of, is_frame, without_id
from gpgc.problem.named_parts import Edges, graph_part
from gpgc.problem.names import as_names, names_of, positions_of


class Join(NamedTuple):
    """What joins a graph."""

    X: Any
    links: Any
    names: NDArray[Any] | None


def join_by_name(nodes: Nodes, X: Any, adjacency: Any) -> Join:
    """Return new nodes with links by position."""
    names = X.names if isinstance(X, NodeTable) else (names_of(X) if is_frame(X) else None)
    X = without_id(X) if is_frame(X) else X
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
    new = _in_fitted_format(new_features(estimator, X), nodes.features.dtype)
    if sp.issparse(new) and not sp.issparse(nodes.features):
        new = new.toarray()

    def joined(fitted: Nodes) -> JoinedNodes:
        """Return new nodes with those of one scaling of the columns."""
        scaling = fitted.standardization
        rows = with_norm(new if scaling is None else scaling.apply(new), estimator.feature_norm)
        own = links
        if own is None:
            if not fitted.from_features:
                raise InputError(
                    "adjacency of new nodes must be given, of shape (M, N) or (M, N + M): "
                    "the fitted graph was not built from features"
                )
            n_neighbors, n_jobs = estimator.n_neighbors, estimator.n_jobs
            own = nearest_links(
                fitted.features, rows, n_neighbors, adjacency=fitted.adjacency, n_jobs=n_jobs
            )
        return fitted.joined(own, rows, rows.shape[0])

    found = joined(nodes)
    if nodes.standardized is None:
        return found
    return replace(found, standardized=joined(nodes.standardized))


def new_features(estimator: Any, X: Any) -> Any:
    """Return the features of nodes that join, encoded as those of fit were."""
    encoder = estimator.prior_.nodes.encoder
    if encoder is None and is_frame(X) and not hasattr(X, "iloc"):
        X = encode_table(X)
    if isinstance(X, NodeTable) and encoder is not None:
        return X.features if X.encoder is encoder else encoder.transform(_cells(X))
    if isinstance(X, NodeTable):
        return check_array(_in_fitted_order(estimator, X), **NUMBERS)
    if encoder is None:
        X = canonical_csr(X, "X") if sp.issparse(X) else X
        return validate_data(estimator, X, reset=False, **NUMBERS)
    if not is_frame(X):
        raise InputError(
            f"X must be a frame with the columns {', '.join(encoder.names):.200}, as the model was "
            f"fitted to a table, got {type(X).__name__}"
        )
    return encoder.transform(X)


def _cells(table: NodeTable) -> Any:
    """Return the columns of a table before they were encoded."""
    if table.cells is not None:
        return table.cells
    return {name: table.features[:, index] for index, name in enumerate(table.columns)}


def _in_fitted_order(estimator: Any, table: NodeTable) -> Any:
    """Return numbers with their columns in the order in which fit had them."""
    if table.encoder is not None:
        raise InputError(
            f"X must hold a number in every cell, as the table of fit did, "
            f"got {'; '.join(table.encoder.said):.200}"
        )
    wanted = list(getattr(estimator, "feature_names_in_", table.columns))
    if set(wanted) != set(table.columns):
        raise InputError(
            f"X must have the columns {', '.join(wanted):.200}, "
            f"got {', '.join(table.columns) or 'none with names':.200}"
        )
    if table.features.shape[1] != estimator.n_features_in_:
        raise InputError(
            f"X must have {estimator.n_features_in_} columns, got {table.features.shape[1]}"
        )
    if not wanted:
        return table.features
    return table.features[:, [table.columns.index(name) for name in wanted]]


def _in_fitted_format(rows: Any, dtype: Any) -> Any:
    """Return rows in the number format of the fitted ones, so that equal rows are found equal."""
    size = float(abs(rows).max()) if np.prod(rows.shape) else 0.0
    if size > (largest := float(np.finfo(dtype).max)):
        raise InputError(
            f"X must hold numbers of size {largest:.3g} at most, as {np.dtype(dtype)} was fitted, "
            f"got one of {size:.3g}"
        )
    return rows.astype(dtype, copy=False)


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
    frame = without_id(frame)
    columns = columns_of(frame, "adjacency")
    if others := [name for name, column in columns.items() if column.dtype.kind not in "biuf"]:
        raise InputError(
            "adjacency must be edges in the columns source and target, or weights in columns that "
            f"name the nodes of the graph, got the column {others[0]!r:.60} that holds no numbers"
        )
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
