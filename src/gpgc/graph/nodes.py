"""A graph with features: what every architecture starts from."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.graph.node_keys import node_keys
from gpgc.graph.normalize import Normalization, join, normalize, without_loops
from gpgc.graph.reach import Reach, reach_of


class NodeInputs(Protocol):
    """What a covariance of n nodes is computed from.

    All nodes of a graph, or some of them whose inputs come from nodes outside too.
    """

    @property
    def incoming(self) -> sp.csr_array:
        """Rows of Â (n, N) by which the n nodes aggregate the features of all N."""

    @property
    def propagation(self) -> sp.csr_array:
        """Â (n, n) among the n nodes themselves, by which hidden layers aggregate."""

    @property
    def features(self) -> Any:
        """X (N, F), dense or sparse; None for one-hot features."""

    @property
    def links(self) -> sp.csr_array:
        """Weights (n, N) of the links of the n nodes, as given, without self-loops."""

    @property
    def own(self) -> Integers:
        """Indices (n,) of the n nodes among all N."""

    @property
    def has_links(self) -> bool:
        """Whether any two nodes are linked."""

    def keys(self, seed: int) -> Array:
        """Return numbers (n,) by which nodes are sampled."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """The N nodes of a graph with their features, immutable.

    Parameters
    ----------
    adjacency : csr_array of shape (N, N)
        Weights of the links, symmetric and without self-loops, as
        :func:`gpgc.graph.as_adjacency` returns it.
    features : array or csr_array of shape (N, F), optional
        X; None (the default) for one-hot features.
    normalization : {"symmetric", "row"}, default "symmetric"
        How Â is made of the adjacency, see :func:`gpgc.graph.normalize`.
    names : array of shape (N,), optional
        Names of the nodes; None (the default) where they have none.
    given : object, optional
        The adjacency as it was given, where it says more than the symmetric one: directed, or
        several relations by name.
    from_features : bool, default False
        Whether the links are those of nearest neighbours by features.
    encoder : object, optional
        How the features of further nodes are made of a table, see
        :class:`gpgc.tables.TableEncoder`; None (the default) where they are given as numbers.
    standardisation : object, optional
        What was done to columns of the features, and is done to those of nodes that join; None
        (the default) where they stayed as they were.

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> nodes = Nodes(as_adjacency(([0, 1], [1, 2])))
    >>> nodes.field(np.array([0]), hops=1)
    array([0, 1])
    >>> nodes.alone().propagation.toarray().tolist() == np.eye(3).tolist()
    True
    """

    adjacency: sp.csr_array
    features: Any = None
    normalization: Normalization = "symmetric"
    names: NDArray[Any] | None = None
    given: Any = field(default=None, repr=False)
    from_features: bool = False
    encoder: Any = field(default=None, repr=False)
    standardisation: Any = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __len__(self) -> int:
        return int(self.adjacency.shape[0])

    @cached_property
    def propagation(self) -> sp.csr_array:
        """Â, of shape (N, N)."""
        return normalize(self.adjacency, self.normalization)

    @cached_property
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

    @cached_property
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
        return replace(self, adjacency=sp.csr_array(self.adjacency.shape), given=None)

    def field(self, nodes: Integers, hops: int) -> Integers:
        """Return the receptive field: the sorted nodes within so many hops of some nodes."""
        return receptive_field(self.propagation, nodes, hops)

    def joined(self, links: Any, features: Any, n_new: int) -> JoinedNodes:
        """Return these nodes with new ones that leave the degrees of these as they are.

        Parameters
        ----------
        links : array or sparse matrix of shape (M, N) or (M, N + M), or None
            Weights of the new nodes' links; None for nodes without links.
        features : array or csr_array of shape (M, F), or None
            Of the new nodes; None in a graph without features.
        n_new : int
            M.
        """
        weights = sp.csr_array((n_new, len(self))) if links is None else links
        return JoinedNodes(self, join(weights, self.adjacency, n_new, self.normalization), features)


@dataclass(frozen=True, eq=False)
class JoinedNodes:
    """N fitted nodes and M that join them later.

    New nodes get rows of Â from their links and the degrees that the fitted nodes had, so the
    extended Â is block lower triangular and nothing that was computed for fitted nodes changes.

    Parameters
    ----------
    fitted : Nodes
        The N nodes.
    rows : csr_array of shape (M, N + M)
        Rows of Â for the new nodes.
    new_features : array or csr_array of shape (M, F), or None
        Of the new nodes.
    """

    fitted: Nodes
    rows: sp.csr_array
    new_features: Any

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

    @cached_property
    def propagation(self) -> sp.csr_array:
        """Â of all nodes, of shape (N + M, N + M)."""
        wide = self.fitted.propagation.copy()
        wide.resize((len(self.fitted), self.rows.shape[1]))
        return sp.vstack([wide, self.rows], format="csr")

    @cached_property
    def links(self) -> sp.csr_array:
        """Weights of all nodes' links, of shape (N + M, N + M), without self-loops."""
        wide = self.fitted.adjacency.copy()
        wide.resize((len(self.fitted), self.rows.shape[1]))
        # Â_ii = 1/d_i, so A_ij = Â_ij √(d_i d_j), or Â_ij d_i where rows are normalised
        degrees = 1 / self.propagation.diagonal()
        new = sp.coo_array(self.rows)
        scale = degrees[self.new][new.row]
        if self.fitted.normalization == "symmetric":
            scale = np.sqrt(scale * degrees[new.col])
        others = new.col != self.new[new.row]
        entries = (new.data * scale)[others], (new.row[others], new.col[others])
        return sp.vstack([wide, sp.csr_array(entries, shape=new.shape)], format="csr")

    @cached_property
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

    incoming: sp.csr_array
    propagation: sp.csr_array
    features: Any
    links: sp.csr_array
    own: Integers

    @property
    def has_links(self) -> bool:
        """Whether any node aggregates from another one."""
        return bool(self.incoming.nnz > self.incoming.shape[0])

    def keys(self, seed: int) -> Array:
        """Return numbers (n,) by which nodes are sampled, of these nodes by themselves."""
        features = None if self.features is None else self.features[self.own]
        return node_keys(self.propagation, features, seed)


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
