"""Nearest-neighbour graphs of feature vectors, for data that comes without a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.graph.adjacency import as_adjacency


def neighbor_graph(
    features: Any, n_neighbors: int = 10, *, include_self: bool = False, n_jobs: int | None = None
) -> sp.csr_array:
    """Connect each row with its nearest rows by Euclidean distance, undirected by union.

    Parameters
    ----------
    features : array or sparse matrix of shape (N, F)
        One row a node.
    n_neighbors : int
        The number k of neighbours; a graph of fewer than k + 1 nodes becomes complete.
    include_self : bool
        Whether a node counts as its own first neighbour, which leaves k - 1 others (the paper's
        numbers of edges fit this way of counting).
    n_jobs : int, optional
        Threads of the search, as in scikit-learn.

    Returns
    -------
    csr_array of shape (N, N)
        Symmetric, with weights 1 and an empty diagonal.

    Examples
    --------
    >>> neighbor_graph([[0.0], [1.0], [5.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    from sklearn.neighbors import NearestNeighbors

    _check_count(n_neighbors)
    n_nodes = features.shape[0] if sp.issparse(features) else len(features)
    wanted = min(n_neighbors - 1 if include_self else n_neighbors, n_nodes - 1)
    if wanted < 1:
        return sp.csr_array((n_nodes, n_nodes))
    search = NearestNeighbors(n_neighbors=wanted, n_jobs=n_jobs).fit(features)
    return as_adjacency(search.kneighbors_graph(mode="connectivity"))


def nearest_links(
    fitted: Any, new: Any, n_neighbors: int = 10, *, n_jobs: int | None = None
) -> sp.csr_array:
    """Link each new row with its nearest fitted rows; shape (M, N), weights 1."""
    from sklearn.neighbors import NearestNeighbors

    _check_count(n_neighbors)
    if sp.issparse(new) and not sp.issparse(fitted):
        new = new.toarray()
    search = NearestNeighbors(n_neighbors=min(n_neighbors, fitted.shape[0]), n_jobs=n_jobs)
    return sp.csr_array(search.fit(fitted).kneighbors_graph(new, mode="connectivity"))


def _check_count(n_neighbors: int) -> None:
    if not isinstance(n_neighbors, int | np.integer) or n_neighbors < 1:
        raise InputError(f"n_neighbors must be a whole number of at least 1, got {n_neighbors!r}")
