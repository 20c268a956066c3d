"""Which nodes a label can say anything about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gpgc._typing import Array, Integers

ROWS = 8192
"""Rows of dense features that are looked at once."""


class Reach(NamedTuple):
    """The component of each node and of each feature where links and shared features connect.

    A label says nothing about a node of another component: no link, no feature that both have, and
    no chain of these leads from one to the other.
    """

    nodes: Integers  # (N,)
    features: Integers  # (F,), none without features

    def reached(self, labelled: Integers) -> NDArray[np.bool_]:
        """Return which nodes (N,) a label can say anything about."""
        return np.isin(self.nodes, self.nodes[labelled])

    def reached_new(
        self, rows: sp.csr_array, features: Any, labelled: Integers
    ) -> NDArray[np.bool_]:
        """Return which of M joining nodes a label can say anything about."""
        n_new, n_old = rows.shape[0], len(self.nodes)
        known = np.unique(self.nodes[labelled])
        touches = abs(rows[:, :n_old]) @ np.isin(self.nodes, known).astype(np.float64) > 0
        if features is not None:
            touches |= (features != 0) @ np.isin(self.features, known).astype(np.float64) > 0
        _, group = connected_components(rows[:, n_old:], directed=False)
        return np.asarray(np.isin(group, group[np.flatnonzero(touches)]).reshape(n_new))

    def alone(self, labelled: Integers) -> NDArray[np.bool_]:
        """Return which labelled nodes (D,) have no other labelled one in their component."""
        mine = self.nodes[labelled]
        return np.asarray(np.bincount(mine)[mine] == 1)


def reach_of(adjacency: sp.csr_array, features: Any) -> Reach:
    """Find what links and shared features connect.

    Examples
    --------
    The first two nodes are linked, the third shares the second feature with the second node.

    >>> graph = sp.csr_array(np.eye(4, k=1) * [[1], [0], [0], [0]])
    >>> reach_of(graph, np.array([[0.0, 0], [0, 1], [0, 2], [0, 0]])).nodes
    array([0, 0, 0, 1], dtype=int32)
    """
    n_groups, group = connected_components(adjacency != 0, directed=False)
    if features is None:
        return Reach(group, np.empty(0, np.intp))
    n_nodes, n_features = features.shape
    if sp.issparse(features):
        has, shared = sp.csr_array(features != 0), sp.csr_array((n_features, n_features))
    else:
        has, shared = _first_and_shared(features)
    # What links connect counts as one: few groups have few pairs of a group and a feature.
    ones, nodes = np.ones(n_nodes, dtype=bool), np.arange(n_nodes)
    members = sp.csr_array((ones, (group, nodes)), shape=(n_groups, n_nodes))
    pairs = sp.vstack([members @ has, shared], format="csr")
    size = n_groups + n_features
    edges = sp.csr_array((pairs.data, pairs.indices + n_groups, pairs.indptr), shape=(size, size))
    _, component = connected_components(edges, directed=False)
    return Reach(component[group], component[n_groups:])


def _first_and_shared(features: Array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return each row's first column that is not 0, and the columns that share rows with it.

    The pairs (row, first column) and (first column, other column of the row) connect the same
    as all entries do, and are few where rows are dense.
    """
    n_nodes, n_features = features.shape
    first = np.zeros(n_nodes, dtype=np.intp)
    filled = np.zeros(n_nodes, dtype=bool)
    shared = np.zeros((n_features, n_features), dtype=bool)
    for start in range(0, n_nodes, ROWS):
        part = slice(start, start + ROWS)
        pattern = features[part] != 0
        first[part], filled[part] = pattern.argmax(axis=1), pattern.any(axis=1)
        for column in np.unique(first[part]):
            shared[column] |= pattern[first[part] == column].any(axis=0)
    rows = np.flatnonzero(filled)
    entries = (np.ones(len(rows), dtype=bool), (rows, first[rows]))
    return sp.csr_array(entries, shape=(n_nodes, n_features)), sp.csr_array(shared)
