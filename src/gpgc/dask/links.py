"""Edges in any order become links: each block's rows of Â, those it needs from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import getitem
from pathlib import Path
from typing import Any, NamedTuple

import dask.dataframe as dd
import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from gpgc._typing import Array, Integers
from gpgc.compute.primitives import primitives_for
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.features import Partition
from gpgc.dask.parquet import ENDS, EdgePart, parquet_edges
from gpgc.errors import InputError
from gpgc.graph.adjacency import check_weights, rows_of_edges, undirected
from gpgc.graph.normalize import Normalization, degrees_with_loops, divide_by_degrees
from gpgc.graph.reach import reach_of


class BlockLinks(NamedTuple):
    """Rows of the adjacency of one block, over the nodes that a step needs."""

    weights: sp.csr_array  # (n, m)
    nodes: Integers  # (m,), sorted: all of the block, and those of others that are linked
    own: int  # the place of the block's first node among them
    needed: Mapping[int, Integers]  # other block → which of its nodes, counted from its first


class Summary(NamedTuple):
    """What the client knows of a block's links."""

    n_entries: int
    largest_degree: float
    needed: tuple[int, ...]  # blocks


@dataclass(frozen=True, eq=False)
class Links:
    """A graph whose rows are blocks on a cluster: tasks of a block each."""

    cluster: Cluster
    partition: Partition
    blocks: Sequence[Any]  # of BlockLinks
    degrees: Sequence[Any]  # of A + I, (n,)
    needed: Mapping[tuple[int, int], Any]  # (block, other) → rows that the first needs
    summaries: Sequence[Summary]

    @property
    def n_entries(self) -> int:
        """Entries of the adjacency: two for each link."""
        return sum(summary.n_entries for summary in self.summaries)

    @property
    def largest_degree(self) -> float:
        """The largest degree of A + I."""
        return max(summary.largest_degree for summary in self.summaries)

    def pieces(self, values: Sequence[Any], block: int) -> list[Any]:
        """Return the tasks of the values at the nodes that a block needs, in their order."""
        return [
            values[other]
            if other == block
            else task(getitem, values[other], self.needed[block, other])
            for other in sorted({block, *self.summaries[block].needed})
        ]

    def matrices(self, normalization: Normalization, dtype: Any, loops: bool) -> list[Any]:
        """Return the tasks of the blocks' rows of Â, or of Â₀ without its diagonal."""
        return [
            task(normalized, links, self.pieces(self.degrees, b), normalization, dtype, loops)
            for b, links in enumerate(self.blocks)
        ]

    def step(self, matrices: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """Return the tasks of a product with such a matrix: only rows that cross blocks move."""
        n_nodes = self.partition.n_nodes
        return [
            task(product, matrices[b], self.pieces(values, b), n_nodes) for b in range(len(values))
        ]

    def at(self, parts: Sequence[Any], nodes: Integers) -> Any:
        """Return the rows of some nodes, sorted, of what is in blocks, in this process."""
        wanted = enumerate(self.partition.split(nodes))
        found = self.cluster.fetch(task(getitem, parts[b], rows) for b, rows in wanted if len(rows))
        return sp.csr_array(sp.vstack(found)) if sp.issparse(found[0]) else np.concatenate(found)

    def adjacency_at(self, nodes: Integers) -> sp.csr_array:
        """Return rows (n, N) of the adjacency in this process."""
        wide = [task(wide_rows, links, None, self.partition.n_nodes) for links in self.blocks]
        return sp.csr_array(self.at(wide, nodes))

    def components(self, features: Sequence[Any]) -> Integers:
        """Return each node's component (N,), from those of blocks and the links between these."""
        starts, blocks = self.partition.starts, range(len(self.blocks))
        own = self.cluster.keep(
            task(own_components, self.blocks[b], features[b], starts[b]) for b in blocks
        )
        firsts = [task(getitem, part, 0) for part in own]
        seams = [task(seam, self.blocks[b], self.pieces(firsts, b)) for b in blocks]
        found = self.cluster.fetch([*own, *seams], "components")
        known, pairs = found[: len(own)], found[len(own) :]
        n_nodes, n_features = self.partition.n_nodes, len(known[0][1])
        columns = n_nodes + np.arange(n_features)
        ends = [np.stack([np.arange(n_nodes), np.concatenate([first for first, _ in known])])]
        ends += [np.stack([columns[at >= 0], at[at >= 0]]) for _, at in known]
        rows, others = np.concatenate([*ends, *pairs], axis=1)
        shape = (n_nodes + n_features,) * 2
        graph = sp.csr_array((np.ones(len(rows), dtype=bool), (rows, others)), shape=shape)
        return np.asarray(connected_components(graph, directed=False)[1][:n_nodes])


def parts_of_edges(adjacency: Any) -> list[EdgePart]:
    """Return the parts of edges, whose frames are tasks, of a list, a Dask frame or Parquet."""
    if isinstance(adjacency, list):
        return adjacency
    if isinstance(adjacency, str | Path):
        return parquet_edges(adjacency)
    if not isinstance(adjacency, dd.DataFrame):
        raise InputError(
            "adjacency must be a Dask DataFrame with the columns source, target[, weight], or the "
            f"path of a Parquet file or folder, got {type(adjacency).__name__}"
        )
    names = [str(name) for name in adjacency.columns]
    if not {"source", "target"} <= set(names):
        raise InputError(
            f"adjacency must have the columns source and target, got {', '.join(names) or 'none'}"
        )
    columns = [name for name in ("source", "target", "weight") if name in names]
    frames = enumerate(adjacency[columns].to_delayed())
    return [EdgePart(frame, f"adjacency, partition {number},") for number, frame in frames]


def links_of(edges: Sequence[EdgePart], partition: Partition, cluster: Cluster) -> Links:
    """Bring edges, the frames of which are tasks, to the blocks of their ends."""
    starts = partition.starts
    split = cluster.keep(task(split_edges, part, starts) for part in edges)
    touched = cluster.fetch((task(tuple, pieces) for pieces in split), "reading edges")
    rows = []
    for block in range(len(partition.sizes)):
        some = [split[number] for number, found in enumerate(touched) if block in found]
        pieces = [task(getitem, part, block) for part in some]
        rows.append(task(block_links, task(adjacency_rows, block, starts, *pieces), block, starts))
    blocks = cluster.keep(rows)
    weights = (task(getattr, links, "weights") for links in blocks)
    degrees = cluster.keep(task(degrees_with_loops, rows) for rows in weights)
    both = zip(blocks, degrees, strict=True)
    summaries = cluster.fetch((task(summary, *pair) for pair in both), "linking blocks")
    pairs = [(b, other) for b, found in enumerate(summaries) for other in found.needed]
    kept = cluster.keep(
        task(getitem, task(getattr, blocks[b], "needed"), other) for b, other in pairs
    )
    needed = dict(zip(pairs, kept, strict=True))
    return Links(cluster, partition, blocks, degrees, needed, summaries)


def split_edges(part: EdgePart, starts: Integers) -> dict[int, Any]:
    """Return the edges of one part, as a frame, by the blocks of their ends."""
    frame, n_nodes, ends = part.frame, int(starts[-1]), {}
    for column in ENDS:
        given = frame[column].to_numpy()
        nodes = given if part.ids is None else part.ids.numbers(given)
        if nodes.dtype.kind not in "iu":
            expected = f"{part.name} must hold whole numbers as {column}"
            raise InputError(f"{expected}, got dtype {nodes.dtype}")
        outside = (nodes < 0) | (nodes >= n_nodes)
        if outside.any():
            row = int(np.argmax(outside))
            stranger = given[row : row + 1].tolist()[0]
            known = f"nodes from 0 to {n_nodes - 1}"
            known = known if part.ids is None else "ids of the features"
            raise InputError(
                f"{part.name} must name {known} as {column}, "
                f"got {stranger!r:.60} in row {part.first + row:,}"
            )
        ends[column] = nodes
    if "weight" in frame:
        check_weights(frame["weight"].to_numpy(), part.name)
    first, second = (np.searchsorted(starts, ends[end], side="right") - 1 for end in ENDS)
    blocks, numbered = np.union1d(first, second).tolist(), frame.assign(**ends)
    return {block: numbered[(first == block) | (second == block)] for block in blocks}


def adjacency_rows(block: int, starts: Integers, *pieces: Any) -> sp.csr_array:
    """Return the rows (n, N) of the adjacency of a block: max(A, Aᵀ) without self-loops."""
    first, end, n_nodes = int(starts[block]), int(starts[block + 1]), int(starts[-1])
    edges = pd.concat(pieces) if pieces else pd.DataFrame({end: [] for end in ENDS}, dtype=np.int64)
    if "weight" in edges and edges["weight"].isna().any():
        raise InputError("adjacency must have weights in all partitions or in none, got both")

    def rows(here: str, there: str) -> sp.csr_array:
        own = edges[(edges[here] >= first) & (edges[here] < end)]
        ends = (own[column].to_numpy(np.int64) for column in (here, there))
        weight = own["weight"].to_numpy() if "weight" in own else None
        return rows_of_edges(next(ends) - first, next(ends), weight, (end - first, n_nodes))

    return undirected(rows(*ENDS), rows(*reversed(ENDS)), first)


def block_links(rows: sp.csr_array, block: int, starts: Integers) -> BlockLinks:
    """Return rows (n, N) of the adjacency over the nodes that a step needs."""
    linked = np.unique(rows.indices).astype(np.int64)
    of_block = np.searchsorted(starts, linked, side="right") - 1
    others = [other for other in np.unique(of_block).tolist() if other != block]
    needed = {other: linked[of_block == other] - starts[other] for other in others}
    nodes = np.union1d(np.arange(starts[block], starts[block + 1]), linked)
    places = np.searchsorted(nodes, rows.indices)
    weights = sp.csr_array((rows.data, places, rows.indptr), shape=(rows.shape[0], len(nodes)))
    return BlockLinks(weights, nodes, int(np.searchsorted(nodes, starts[block])), needed)


def summary(links: BlockLinks, degrees: Array) -> Summary:
    """Return what the client must know."""
    return Summary(links.weights.nnz, float(degrees.max()), tuple(links.needed))


def wide_rows(links: BlockLinks, matrix: sp.csr_array | None, n_nodes: int) -> sp.csr_array:
    """Return rows (n, N) over all nodes of a matrix, or of the adjacency, of a block."""
    chosen = links.weights if matrix is None else matrix
    entries = chosen.data, links.nodes[chosen.indices], chosen.indptr
    return sp.csr_array(entries, shape=(chosen.shape[0], n_nodes))


def normalized(
    links: BlockLinks, degrees: Any, normalization: Normalization, dtype: Any, loops: bool
) -> sp.csr_array:
    """Return the rows of Â of a block from the degrees of the nodes that it needs."""
    every, weights = np.concatenate(degrees), links.weights
    n_own = weights.shape[0]
    if loops:
        places = np.arange(n_own), links.own + np.arange(n_own)
        weights = weights + sp.csr_array((np.ones(n_own), places), shape=weights.shape)
    own = every[links.own : links.own + n_own]
    return sp.csr_array(divide_by_degrees(weights, own, every, normalization).astype(dtype))


def product(matrix: sp.csr_array, pieces: Sequence[Array], n_nodes: int) -> Array:
    """Return a block's rows of Â Z from the rows of Z that it needs, as one machine computes."""
    values = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
    return primitives_for(n_nodes, values.dtype).rows_times(matrix, slice(None), values)


def own_components(links: BlockLinks, features: Any, start: int) -> tuple[Integers, Integers]:
    """Return the first node of each node's, and feature's, component in its block; −1: none."""
    n_own = links.weights.shape[0]
    own = sp.csr_array(links.weights[:, links.own : links.own + n_own])
    reach = reach_of(own, features)
    found, first = np.unique(reach.nodes, return_index=True)
    nodes = np.full(int(max(found.max(), reach.features.max(initial=-1))) + 1, -1)
    nodes[found] = start + first
    return nodes[reach.nodes], nodes[reach.features]


def seam(links: BlockLinks, firsts: Sequence[Integers]) -> Integers:
    """Return the pairs (2, m) of components that the links of a block connect."""
    every, entries = np.concatenate(firsts), sp.coo_array(links.weights)
    here, there = every[links.own + entries.coords[0]], every[entries.coords[1]]
    pairs = np.stack([here, there], axis=1)[here != there]
    return np.unique(pairs, axis=0).T.astype(np.int64)
