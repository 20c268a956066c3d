"""A graph with features: what every architecture starts from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.compute.caching import LeavesCachesBehind, computed_once
from gpgc.graph.node_keys import node_keys
from gpgc.graph.normalize import (
    Normalization,
    degrees_with_loops,
    divide_by_degrees,
    links_of_new,
    normalize,
    without_loops,
)
from gpgc.graph.reach import Reach, reach_of


@dataclass(frozen=True, eq=False)
class Nodes(LeavesCachesBehind):
    """The N nodes of a graph with their features, immutable.

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> nodes = Nodes(as_adjacency(([0, 1], [1, 2])))
    >>> nodes.field(np.array([0]), hops=1)
    array([0, 1])
    >>> nodes.alone().propagation.toarray().tolist() == np.eye(3).tolist()
    True
    """

    adjacency: sp.csr_array  # (N, N), as as_adjacency returns it
    features: Any = None  # X (N, F); None for one-hot features
    normalization: Normalization = "symmetric"
    names: NDArray[Any] | None = None
    from_features: bool = False  # whether the links are those of nearest neighbors by features
    encoder: Any = field(default=None, repr=False)  # of a table, for nodes that join
    standardization: Any = field(default=None, repr=False)  # what was done to columns, if anything
    standardized: Nodes | None = field(default=None, repr=False)  # the same, columns standardized

    CACHES: ClassVar[tuple[str, ...]] = ("_keys",)

    def __len__(self) -> int:
        return int(self.adjacency.shape[0])

    @computed_once
    def propagation(self) -> sp.csr_array:
        """Â, of shape (N, N)."""
        return normalize(self.adjacency, self.normalization)

    @computed_once
    def propagation_without_loops(self) -> sp.csr_array:
        """Â₀, which is Â without its diagonal."""
        return without_loops(self.propagation)

    @property
    def incoming(self) -> sp.csr_array:
        """Â: the features of all nodes are those of the nodes themselves."""
        return self.propagation

    @property
    def links(self) -> sp.csr_array:
        """The adjacency."""
        return self.adjacency

    @property
    def own(self) -> Integers:
        """All nodes."""
        return np.arange(len(self))

    @property
    def has_links(self) -> bool:
        """Whether any two nodes are linked."""
        return bool(self.adjacency.nnz)

    @property
    def is_standardized(self) -> bool:
        """Whether the columns of dense features are standardized."""
        return self.standardization is not None and not sp.issparse(self.features)

    @computed_once
    def reach(self) -> Reach:
        """Which nodes links and shared features connect."""
        return reach_of(self.adjacency, self.features)

    def keys(self, seed: int) -> Array:
        """Return numbers (N,) by which nodes are sampled (:mod:`gpgc.graph.node_keys`)."""
        known: dict[int, Array] = self.__dict__.setdefault("_keys", {})
        if seed not in known:
            known[seed] = node_keys(self.propagation, self.features, seed)
        return known[seed]

    def alone(self) -> Nodes:
        """Return the same nodes without links, so that each is known by its own features."""
        without_links = sp.csr_array(self.adjacency.shape)
        return replace(self, adjacency=without_links, standardized=None)

    def field(self, nodes: Integers, hops: int) -> Integers:
        """Return the receptive field: the sorted nodes within so many hops of some nodes."""
        return receptive_field(self.propagation, nodes, hops)

    def joined(self, links: Any, features: Any, n_new: int) -> JoinedNodes:
        """Return these nodes with new ones that leave the degrees of these as they are."""
        n_old = len(self)
        weights = sp.csr_array((n_new, n_old + n_new))
        if links is not None:
            weights = links_of_new(links, n_old, n_new)
        own = degrees_with_loops(weights, "adjacency of new nodes")
        every = np.concatenate([degrees_with_loops(self.adjacency), own])
        with_loops = sp.csr_array(weights + sp.eye_array(*weights.shape, k=n_old))
        rows = divide_by_degrees(with_loops, own, every, self.normalization)
        return JoinedNodes(self, weights, rows, features)


@dataclass(frozen=True, eq=False)
class JoinedNodes:
    """N fitted nodes and M that join them later.

    New nodes get rows of Â from their links and the degrees that the fitted nodes had, so the
    extended Â is block lower triangular and nothing that was computed for fitted nodes changes.
    """

    fitted: Nodes
    weights: sp.csr_array  # (M, N + M), of the new nodes' links
    rows: sp.csr_array  # (M, N + M), of Â
    new_features: Any
    standardized: JoinedNodes | None = None

    def alone(self) -> JoinedNodes:
        """Return the same nodes without links."""
        return self.fitted.alone().joined(None, self.new_features, self.rows.shape[0])

    @property
    def new(self) -> Integers:
        """Indices of the new nodes among all N + M."""
        n_new, n_all = self.rows.shape
        return np.arange(n_all - n_new, n_all)

    def split_rows(self) -> tuple[sp.csr_array, sp.csr_array]:
        """Return the rows of Â of the new nodes: to the fitted ones (M, N), and among them."""
        n_fitted = len(self.fitted)
        return sp.csr_array(self.rows[:, :n_fitted]), sp.csr_array(self.rows[:, n_fitted:])

    @computed_once
    def propagation(self) -> sp.csr_array:
        """Â of all nodes, of shape (N + M, N + M)."""
        return self._below(self.fitted.propagation, self.rows)

    @computed_once
    def links(self) -> sp.csr_array:
        """Weights of all nodes' links, of shape (N + M, N + M), without self-loops."""
        return self._below(self.fitted.adjacency, self.weights)

    def _below(self, fitted: sp.csr_array, new: sp.csr_array) -> sp.csr_array:
        """Return rows (N, N) above (M, N + M): fitted nodes aggregate nothing from new ones."""
        wide = fitted.copy()
        wide.resize((fitted.shape[0], new.shape[1]))
        return sp.vstack([wide, new], format="csr")

    @computed_once
    def features(self) -> Any:
        """X of all nodes, of shape (N + M, F)."""
        return None if self.new_features is None else stack(self.fitted.features, self.new_features)

    def field(self, nodes: Integers, hops: int) -> Integers:
        """Return the receptive field of some of the N + M nodes."""
        return receptive_field(self.propagation, nodes, hops)

    def restricted(self, index: Integers) -> NodeSubset:
        """Return the inputs of some of the nodes, sorted."""
        rows = self.propagation[index]
        among = sp.csr_array(rows[:, index])
        return NodeSubset(rows, among, self.features, self.links[index], index)


@dataclass(frozen=True, eq=False)
class NodeSubset:
    """Some nodes of a graph, with all that their covariance is computed from."""

    incoming: sp.csr_array  # (n, N), rows of Â by which they aggregate features of all N
    propagation: sp.csr_array  # (n, n), Â among them, by which hidden layers aggregate
    features: Any  # X (N, F); None for one-hot features
    links: sp.csr_array  # (n, N), weights of their links, without self-loops
    own: Integers  # (n,), which of all N they are

    def keys(self, seed: int) -> Array:
        """Return numbers (n,) by which nodes are sampled, of these nodes by themselves."""
        features = None if self.features is None else self.features[self.own]
        return node_keys(self.propagation, features, seed)


NodeInputs: TypeAlias = Nodes | NodeSubset
"""What a covariance is computed from: all nodes of a graph, or some of them."""


def receptive_field(propagation: sp.csr_array, nodes: Integers, hops: int) -> Integers:
    """Return the sorted nodes that are reached within so many steps of a propagation matrix."""
    reached = np.unique(nodes)
    for _ in range(hops):
        wider = np.unique(propagation[reached].indices)
        if len(wider) == len(reached):
            break
        reached = wider
    return reached


def stack(upper: Any, lower: Any) -> Any:
    """Return two feature matrices one below the other, sparse if one of them is."""
    if sp.issparse(upper) or sp.issparse(lower):
        return sp.vstack([sp.csr_array(upper), sp.csr_array(lower)], format="csr")
    return np.vstack([upper, lower])
