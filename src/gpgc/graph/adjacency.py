"""One graph type inside: a symmetric CSR matrix of weights without self-loops."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import GPGCWarning, InputError
from gpgc.files import canonical_csr

PARTS = ("indptr", "indices", "data")


def as_adjacency(graph: Any, n_nodes: int | None = None, name: str = "adjacency") -> sp.csr_array:
    """Make a graph in any common form a validated CSR adjacency matrix.

    Stored self-loops are dropped, directed input becomes ``max(A, Aᵀ)``. Duplicate edges of an
    edge list count once without weights and add up with weights.

    Parameters
    ----------
    graph : sparse matrix, array, tuple, networkx graph or torch_geometric Data
        A SciPy sparse matrix of any format or a 2-D array, both N × N; an edge list
        ``(source, target)`` or ``(source, target, weight)`` of 1-D arrays; a NetworkX graph (rows
        follow the order of its nodes, weights are its ``weight`` attributes); or an object with an
        ``edge_index`` such as PyTorch Geometric's ``Data``, whose weights are ``edge_weight``, or
        an ``edge_attr`` of one column.
    n_nodes : int, optional
        The number of nodes N that is expected, usually the number of rows of the features.
    name : str
        How to call the argument in error messages.

    Returns
    -------
    csr_array of shape (N, N)
        Symmetric, float64, non-negative, with sorted indices and an empty diagonal.

    Examples
    --------
    >>> as_adjacency(([0, 1, 1], [1, 2, 2])).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if sp.issparse(graph):
        _check_square(graph.shape, name)
        # Sums of duplicates need float64: they may exceed what small whole numbers hold.
        matrix = canonical_csr(graph, name, np.float64 if graph.dtype.kind in "iuf" else None)
    elif hasattr(graph, "edge_index"):
        matrix = _from_edge_index(graph, n_nodes, name)
    elif hasattr(graph, "nodes") and hasattr(graph, "adj"):
        matrix = _from_networkx(graph)
    elif isinstance(graph, tuple):
        matrix = _from_edges(graph, n_nodes, name)
    else:
        matrix = _dense(graph, name)
    if n_nodes is not None and matrix.shape[0] != n_nodes:
        raise InputError(
            f"{name} has {matrix.shape[0]} nodes, but {n_nodes} were expected: "
            "one for each row of the features and each label"
        )
    check_weights(matrix.data, name)
    matrix = matrix.astype(np.float64)
    return undirected(matrix, matrix.T.tocsr())


def undirected(matrix: sp.csr_array, transposed: sp.csr_array, first: int = 0) -> sp.csr_array:
    """Return rows of max(A, Aᵀ) without self-loops; ``matrix`` may be changed.

    Examples
    --------
    >>> second = sp.csr_array([[0.0, 5.0, 2.0]]), sp.csr_array([[3.0, 5.0, 0.0]])
    >>> undirected(*second, first=1).toarray()
    array([[3., 0., 2.]])
    """
    parts = [(getattr(matrix, part), getattr(transposed, part)) for part in PARTS]
    if not all(np.array_equal(*part) for part in parts):
        matrix = sp.csr_array(matrix.maximum(transposed))
    if matrix.diagonal(k=first).any():
        rows = np.repeat(np.arange(matrix.shape[0]) + first, np.diff(matrix.indptr))
        matrix.data[matrix.indices == rows] = 0.0
    matrix.eliminate_zeros()
    return matrix


def check_weights(weights: NDArray[Any], name: str) -> None:
    """Refuse edge weights that are not numbers, not finite or negative."""
    if weights.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold real numbers as weights, got dtype {weights.dtype}")
    if not np.isfinite(weights).all():
        raise InputError(f"{name} must hold finite weights, got NaN or infinity")
    if weights.size and weights.min() < 0:
        raise InputError(f"{name} must hold non-negative weights, got {weights.min()}")


def _check_square(shape: tuple[int, ...], name: str) -> None:
    if len(shape) == 2 and shape[0] == shape[1]:
        return
    hint = ""
    if len(shape) == 2 and (shape[0] in (2, 3) or shape[1] in (2, 3)):
        hint = "; pass an edge list as a tuple (source, target[, weight]) of 1-D arrays"
        if shape[0] not in (2, 3):
            hint += ", for an array: tuple(edges.T)"
    elif len(shape) == 2:
        hint = (
            "; a matrix whose rows were sliced is no graph any more: keep all nodes and mark "
            "unlabelled ones with -1 (NaN for regression) in y"
        )
    raise InputError(f"{name} must be N x N, got shape {shape}{hint}")


def _dense(graph: Any, name: str) -> sp.csr_array:
    if hasattr(graph, "iloc") and hasattr(graph, "columns") and graph.shape[1] in (2, 3):
        _refuse_frame_of_edges(graph, name)
    array = np.asarray(graph)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(
            f"{name} must be a sparse matrix, an N x N array, a tuple (source, target[, weight]), "
            f"a networkx graph or an object with edge_index, got {type(graph).__name__} "
            f"with shape {array.shape} and dtype {array.dtype}"
        )
    _check_square(array.shape, name)
    check_weights(array, name)
    return sp.csr_array(array)


def _refuse_frame_of_edges(frame: Any, name: str) -> None:
    """Say how to pass a frame with a row for each edge; one of N × N weights is let through."""
    columns = [str(column) for column in frame.columns]
    if frame.shape[0] == frame.shape[1] and list(frame.index) == list(frame.columns):
        return
    parts = ", ".join(f"frame[{column!r}]" for column in columns)
    raise InputError(
        f"{name} must be N x N, got a frame of shape {frame.shape} with the columns "
        f"{', '.join(columns)}; pass an edge list of node numbers as the tuple ({parts}); fit "
        "takes it by names too, with the columns source,target[,weight]"
    )


def _from_edges(edges: tuple[Any, ...], n_nodes: int | None, name: str) -> sp.csr_array:
    if len(edges) not in (2, 3):
        raise InputError(
            f"{name} as an edge list must be (source, target) or (source, target, weight), "
            f"got a tuple of {len(edges)}"
        )
    source, target = (_node_indices(end, name) for end in edges[:2])
    weight = None if len(edges) == 2 else np.asarray(edges[2])
    ends = [source, target] if weight is None else [source, target, weight]
    if any(end.shape != source.shape for end in ends):
        raise InputError(
            f"{name} as an edge list must have arrays of one length, "
            f"got shapes {', '.join(str(end.shape) for end in ends)}"
        )
    highest = int(max(source.max(), target.max())) if source.size else -1
    size = highest + 1 if n_nodes is None else n_nodes
    if source.size and min(source.min(), target.min()) < 0:
        raise InputError(
            f"{name} must name nodes from 0 to N - 1, got {min(source.min(), target.min())}"
        )
    if highest >= size:
        raise InputError(f"{name} must name nodes from 0 to {size - 1}, got {highest}")
    if weight is not None:
        check_weights(weight, name)
    return rows_of_edges(source, target, weight, (size, size))


def rows_of_edges(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[Any] | None,
    shape: tuple[int, int],
) -> sp.csr_array:
    """Return edges as rows of weights: duplicates count once without weights, add up with them."""
    values = np.ones(source.size) if weight is None else weight.astype(np.float64)
    matrix = sp.csr_array((values, (source, target)), shape=shape)
    matrix.sum_duplicates()
    if weight is None:
        matrix.data[:] = 1.0
    return matrix


def links_of_edges(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    weight: NDArray[Any] | None,
    n_fitted: int,
    n_new: int,
) -> sp.csr_array:
    """Return the links (M, N + M) of new nodes N … N + M − 1, in either direction as in a fit.

    Edges between fitted nodes, and of a node with itself, are passed over.

    Examples
    --------
    >>> ends = np.array([2, 0, 3]), np.array([0, 2, 2])
    >>> links_of_edges(*ends, None, n_fitted=2, n_new=2).toarray()
    array([[1., 0., 0., 1.],
           [0., 0., 1., 0.]])
    """
    shape = (n_new, n_fitted + n_new)
    rows = []
    for here, there in ((source, target), (target, source)):
        new = here >= n_fitted
        values = None if weight is None else weight[new]
        rows.append(rows_of_edges(here[new] - n_fitted, there[new], values, shape))
    outgoing, incoming = rows
    return undirected(outgoing, incoming, first=n_fitted)


def _node_indices(values: Any, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(
            f"{name} as an edge list must hold 1-D arrays of whole numbers, "
            f"got shape {array.shape} and dtype {array.dtype}"
        )
    return array.astype(np.int64)


def _from_edge_index(data: Any, n_nodes: int | None, name: str) -> sp.csr_array:
    edge_index = to_numpy(data.edge_index)
    if edge_index.ndim != 2 or edge_index.shape[0] != 2:
        raise InputError(f"{name}.edge_index must have shape (2, E), got {edge_index.shape}")
    weight = _edge_weights(data, name)
    edges: tuple[Any, ...] = (edge_index[0], edge_index[1])
    if weight is not None:
        edges = (*edges, weight)
    known = getattr(data, "num_nodes", None)
    return _from_edges(edges, n_nodes if known is None else int(known), name)


def _edge_weights(data: Any, name: str) -> NDArray[Any] | None:
    """Return ``edge_weight`` or an ``edge_attr`` of one column; warn of one that is ignored."""
    weight = getattr(data, "edge_weight", None)
    if weight is not None:
        return to_numpy(weight)
    attributes = getattr(data, "edge_attr", None)
    if attributes is None:
        return None
    values = to_numpy(attributes)
    if values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return values.reshape(-1)
    warnings.warn(
        f"{name}.edge_attr of shape {values.shape} is ignored: a graph has one weight an edge; "
        "set edge_weight to use one",
        GPGCWarning,
        stacklevel=4,
    )
    return None


def to_numpy(tensor: Any) -> NDArray[Any]:
    """Return an array, or a PyTorch tensor wherever it is, as an array."""
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _from_networkx(graph: Any) -> sp.csr_array:
    import networkx as nx

    if graph.number_of_nodes() == 0:
        return sp.csr_array((0, 0))
    return sp.csr_array(nx.to_scipy_sparse_array(graph, dtype=np.float64))
