"""Which nodes a label can say anything about, over all blocks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from gpgc._typing import Integers
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.links import Links, LocalRows
from gpgc.graph.reach import Reach


class Seam(NamedTuple):
    """What connects the components of one block with others.

    Attributes
    ----------
    n_components : int
        Components within the block.
    features : int array of shape (F,)
        The component of each feature.
    pairs : int array of shape (m, 3)
        Component of this block, another block, component of that one: linked to each other.
    labelled : int array
        Components of the labelled nodes of the block.
    """

    n_components: int
    features: Integers
    pairs: Integers
    labelled: Integers


class Reached(NamedTuple):
    """Which nodes labels reach: tasks of bool arrays (n,), and which labels are alone (D,)."""

    blocks: list[Any]
    alone: NDArray[np.bool_]


def reached(
    links: Links, found: Sequence[Any], labelled: Sequence[Integers], cluster: Cluster
) -> Reached:
    """Find the nodes that links and shared features connect with a label.

    Each block finds its own components; the few that they are meet in this process.

    Parameters
    ----------
    links : Links
        The graph.
    found : sequence of tasks of Reach
        Components of each block, by its own links and features.
    labelled : sequence of int arrays
        Labelled nodes of each block, counted from its first.
    cluster : Cluster
        Where.
    """
    blocks = range(len(found))
    nodes = cluster.keep(task(node_components, reach) for reach in found)
    seams = cluster.fetch(
        task(seam, found[b], links.rows[b], links.halo(nodes, b), labelled[b]) for b in blocks
    )
    joined = join_components(seams)
    known = [joined[b][seams[b].labelled] for b in blocks]
    own = np.concatenate(known)
    counts = np.bincount(own)
    tasks = [task(is_reached, nodes[b], np.isin(joined[b], own)) for b in blocks]
    return Reached(cluster.keep(tasks), np.asarray(counts[own] == 1))


def node_components(reach: Reach) -> Integers:
    """Return the component of each node."""
    return reach.nodes


def seam(reach: Reach, rows: LocalRows, halo: Sequence[Integers], labelled: Integers) -> Seam:
    """Return how the components of a block are linked with those of others."""
    pairs = [np.empty((0, 3), dtype=np.int64)]
    for (other, weights), components in zip(rows.across.items(), halo, strict=True):
        links = sp.coo_array(weights)
        here, there = reach.nodes[links.coords[0]], components[links.coords[1]]
        both = np.unique(np.stack([here, there], axis=1), axis=0).astype(np.int64)
        pairs.append(np.insert(both, 1, other, axis=1))
    n_components = int(max(reach.nodes.max(initial=-1), reach.features.max(initial=-1))) + 1
    return Seam(n_components, reach.features, np.concatenate(pairs), reach.nodes[labelled])


def join_components(seams: Sequence[Seam]) -> list[Integers]:
    """Return for each block the component of the whole graph that each of its own is part of.

    Examples
    --------
    >>> none = np.empty(0, dtype=np.int64)
    >>> first = Seam(2, none, np.array([[1, 1, 0]]), none)
    >>> [part.tolist() for part in join_components([first, Seam(1, none, first.pairs[:0], none)])]
    [[0, 1], [1]]
    """
    sizes = [part.n_components for part in seams]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n_features = len(seams[0].features)
    here, there = [], []
    for block, part in enumerate(seams):
        here += [part.pairs[:, 0] + starts[block], part.features + starts[block]]
        there += [part.pairs[:, 2] + starts[part.pairs[:, 1]], starts[-1] + np.arange(n_features)]
    ends = np.concatenate(here), np.concatenate(there)
    total = int(starts[-1]) + n_features
    graph = sp.csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(total, total))
    _, component = connected_components(graph, directed=False)
    return [component[start:end] for start, end in itertools.pairwise(starts)]


def is_reached(nodes: Integers, components: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which nodes (n,) are in components that a label is in."""
    return components[nodes]
