"""Graphs of other libraries, whole: links, features and labels of their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.graph import to_numpy
from gpgc.problem.encoder import encode_columns
from gpgc.problem.frames import columns_of
from gpgc.problem.names import as_names
from gpgc.problem.node_table import NodeTable


class GraphData(NamedTuple):
    """What ``fit`` takes: ``fit(*data)``.

    Attributes
    ----------
    X : NodeTable, array or None
        Features of the nodes.
    y : array of shape (N,) or (N, k)
        Labels, with marks where a node has none.
    adjacency : graph
        Links, in a form that ``fit`` takes.
    """

    X: Any
    y: Any
    adjacency: Any


def from_networkx(
    graph: Any,
    label: str,
    *,
    features: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> GraphData:
    """Return a NetworkX graph with the attributes of its nodes as features and labels.

    Parameters
    ----------
    graph : networkx.Graph
        Weights are the attributes ``weight`` of its edges.
    label : str
        The attribute with the labels; nodes without it are unlabelled.
    features : sequence of str, optional
        Attributes that are features: numbers, categories, texts, or vectors of one length. All
        but the label when not given; none for a graph whose nodes have no others.
    kinds : mapping of str to str, optional
        As of :func:`gpgc.encode_table`.

    Returns
    -------
    GraphData
        With the names of the nodes.

    Examples
    --------
    >>> import gpgc, networkx as nx
    >>> graph = nx.path_graph(["a", "b", "c", "d"])
    >>> nx.set_node_attributes(graph, {"a": "left", "d": "right"}, "side")
    >>> model = gpgc.GPGCClassifier().fit(*gpgc.from_networkx(graph, "side"))
    >>> model.predict().tolist()
    ['left', 'left', 'right', 'right']
    """
    nodes = list(graph.nodes)
    attributes = [graph.nodes[node] for node in nodes]
    known = dict.fromkeys(name for given in attributes for name in given)
    columns = {name: [given.get(name) for given in attributes] for name in known}
    X, y = _features_and_labels(columns, as_names(nodes), label, features, kinds)
    return GraphData(X, y, graph)


def from_igraph(
    graph: Any,
    label: str,
    *,
    features: Sequence[str] | None = None,
    kinds: Mapping[str, str] | None = None,
) -> GraphData:
    """Return an igraph graph with the attributes of its vertices as features and labels.

    Parameters
    ----------
    graph : igraph.Graph
        Vertices are named by their attribute ``name``, edges weighted by ``weight``, if they have
        one.
    label, features, kinds
        As of :func:`from_networkx`.

    Returns
    -------
    GraphData
        With the names of the vertices.
    """
    columns = {name: list(graph.vs[name]) for name in graph.vs.attributes() if name != "name"}
    has_names = "name" in graph.vs.attributes()
    names = as_names(graph.vs["name"] if has_names else list(range(graph.vcount())))
    X, y = _features_and_labels(columns, names, label, features, kinds)
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weight = (np.array(graph.es["weight"]),) if "weight" in graph.es.attributes() else ()
    return GraphData(X, y, (ends[:, 0], ends[:, 1], *weight))


def from_pyg(data: Any, *, mask: str = "train_mask", split: int = 0) -> GraphData:
    """Return a PyTorch Geometric graph whole: features, links, and the labels of one of its masks.

    Parameters
    ----------
    data : torch_geometric.data.Data
        With ``edge_index`` and ``y``, and maybe ``x``, ``edge_weight`` and masks.
    mask : str, default "train_mask"
        The mask of the nodes whose labels are given. Without such a mask all labels are, −1 or
        NaN where there is none.
    split : int, default 0
        The column of a mask that has several.

    Returns
    -------
    GraphData
        Whole numbers as labels, −1 elsewhere; other numbers as values, NaN elsewhere.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> data = SimpleNamespace(
    ...     edge_index=np.array([[0, 1], [1, 2]]),
    ...     y=np.array([0, 1, 1]),
    ...     train_mask=np.array([True, False, True]),
    ... )
    >>> from_pyg(data).y
    array([ 0, -1,  1])
    """
    if getattr(data, "edge_index", None) is None or getattr(data, "y", None) is None:
        raise InputError(
            f"data must have edge_index and y, as a torch_geometric Data has, "
            f"got {type(data).__name__} without"
        )
    y = to_numpy(data.y).copy()
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    chosen = getattr(data, mask, None)
    if chosen is None and mask != "train_mask":
        raise InputError(f"mask must be the name of a mask of data, got {mask!r:.60}")
    if chosen is not None:
        y[~_column(to_numpy(chosen), mask, split, len(y))] = -1 if y.dtype.kind in "iu" else np.nan
    features = getattr(data, "x", None)
    return GraphData(None if features is None else to_numpy(features), y, data)


def _column(mask: NDArray[Any], name: str, split: int, n_nodes: int) -> NDArray[np.bool_]:
    """Return one column of a mask of one or two dimensions."""
    columns = mask.reshape(len(mask), -1)
    if len(columns) != n_nodes or mask.dtype.kind != "b":
        raise InputError(
            f"data.{name} must hold true or false for each of the {n_nodes} nodes, "
            f"got shape {mask.shape} of {mask.dtype}"
        )
    if not 0 <= split < columns.shape[1]:
        raise InputError(f"split must lie between 0 and {columns.shape[1] - 1}, got {split}")
    return columns[:, split]


def _features_and_labels(
    columns: dict[str, list[Any]],
    names: NDArray[Any],
    label: str,
    features: Sequence[str] | None,
    kinds: Mapping[str, str] | None,
) -> tuple[NodeTable, NDArray[Any]]:
    """Return the nodes with their features, and a label or None for each."""
    wanted = [name for name in columns if name != label] if features is None else list(features)
    if absent := [name for name in (label, *wanted) if name not in columns]:
        what = "label" if absent[0] == label else "features"
        raise InputError(
            f"{what} must be an attribute of some node ({', '.join(map(str, columns)):.200}), "
            f"got {absent[0]!r:.60}"
        )
    y = np.fromiter(columns[label], dtype=object, count=len(names))
    if not wanted:
        return NodeTable(None, names), y
    single = {
        part: values for name in wanted for part, values in _scalars(name, columns[name]).items()
    }
    return encode_columns(columns_of(single, "features"), names, kinds), y


def _scalars(name: str, values: list[Any]) -> dict[str, list[Any]]:
    """Return a column, or the columns that vectors of one length stand for."""
    vectors = [value for value in values if isinstance(value, list | tuple | np.ndarray)]
    if not vectors:
        return {str(name): values}
    lengths = {len(vector) for vector in vectors}
    if len(vectors) < len(values) or len(lengths) > 1:
        raise InputError(f"features[{name!r}] must be vectors of one length at every node")
    return {f"{name}_{part}": [vector[part] for vector in values] for part in range(lengths.pop())}
