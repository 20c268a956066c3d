"""A user's files of nodes that join a fitted graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.predictions import prediction_columns
from gpgc.estimators.regressor import GPGCRegressor
from gpgc.files.cells import shorten
from gpgc.graph.adjacency import links_of_edges
from gpgc.problem import NodeTable
from gpgc.problem.node_features import read_features
from gpgc.problem.read import check_columns, read_edges

LEVEL = 0.9
"""How often intervals hold a new value when nobody says."""


class JoinedFiles(NamedTuple):
    """Names (M,), features (M, F) and links (M, N + M) of new nodes; None for what is not given."""

    ids: list[str]
    features: NodeTable | None
    links: Any


def join_files(
    estimator: GraphProcess, features: Path | None, edges: Path | None, columns: Mapping[str, str]
) -> JoinedFiles:
    """Read nodes that join the graph of a fitted estimator; each edge has a new node at an end."""
    if features is None and edges is None:
        raise InputError("one of --edges and --features must be given, got neither")
    read = {"id"} if features is not None else set()
    check_columns(columns, read if edges is None else {*read, "source", "target", "weight"})
    known = _names(estimator)
    if features is None:
        table, position = None, dict(known)
    else:
        table = read_features(features, columns, {}, estimator.encoder_)
        names = [] if table.names is None else [str(name) for name in table.names]
        if twice := [name for name in names if name in known]:
            raise InputError(
                f"{features}: expected nodes that are new, got {shorten(twice[0])} of the model"
            )
        position = {**known, **{name: len(known) + new for new, name in enumerate(names)}}
    links = None
    if edges is not None:
        ends = read_edges(edges, position, table is not None, columns)
        links = _links(edges, ends, len(known), len(position))
    ids = list(position)[len(known) :]
    if not ids:
        raise InputError(f"{edges}: expected at least one node that the model does not know")
    return JoinedFiles(ids, table, links)


def joined_columns(
    estimator: GraphProcess, joined: JoinedFiles, level: float | None
) -> dict[str, Any]:
    """Return what an estimator says of new nodes."""
    X, links = joined.features, joined.links
    if isinstance(estimator, GPGCRegressor) and estimator.is_vector_:
        columns = interval_columns(estimator, LEVEL if level is None else level, X, links)
    elif level is not None:
        raise InputError("--level is not available for this model, which predicts labels")
    else:
        columns = prediction_columns(estimator, X, links)
    return columns | {"id": joined.ids}


def interval_columns(
    estimator: GPGCRegressor, level: float, X: Any = None, adjacency: Any = None
) -> dict[str, Any]:
    """Return values with std and the intervals that hold a new value so often."""
    columns = prediction_columns(estimator, X, adjacency)
    given = columns.pop("given")
    low, high = estimator.predict_interval(level, X=X, adjacency=adjacency)
    return columns | {"low": low, "high": high, "given": given}


def _names(estimator: GraphProcess) -> dict[str, int]:
    names = estimator.node_names_
    n_nodes = len(estimator.prior_.nodes)
    called = map(str, range(n_nodes) if names is None else names)
    return {name: index for index, name in enumerate(called)}


def _links(path: Path, ends: tuple[Any, ...], n_known: int, n_all: int) -> sp.csr_array:
    """Return the links (M, N + M) of new nodes, each link between two of them in both rows."""
    source, target = ends[0], ends[1]
    weights = ends[2] if len(ends) > 2 else None
    old = (source < n_known) & (target < n_known)
    if old.any():
        raise InputError(
            f"{path}: expected edges with a new node, got {int(old.sum())} between nodes of the "
            "model, which keep their links"
        )
    return links_of_edges(source, target, weights, n_known, n_all - n_known)
