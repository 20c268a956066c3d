"""Graphs in any common form, made into validated and normalized CSR matrices."""

from gpgc.graph.adjacency import as_adjacency, to_numpy
from gpgc.graph.neighbors import nearest_links, neighbor_graph
from gpgc.graph.nodes import JoinedNodes, Nodes
from gpgc.graph.normalize import Normalization, normalize

__all__ = [
    "JoinedNodes",
    "Nodes",
    "Normalization",
    "as_adjacency",
    "nearest_links",
    "neighbor_graph",
    "normalize",
    "to_numpy",
]
