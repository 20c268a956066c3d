"""What nodes have around them, in blocks: rows of the views neighbours, structure and degrees.

The functions are those of :mod:`gpgc.models.surroundings` and :mod:`gpgc.models.degrees`. What
labels choose by needs the neighbourhoods of landmarks and labels alone; rows of all nodes are tasks
that run where an answer asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.dask.diffusion import diffusion_step
from gpgc.dask.features import unit_features
from gpgc.dask.links import Links, Propagation
from gpgc.dask.nearby import Nearby, Neighbourhoods, rows_at, union
from gpgc.dask.wide import wide_links
from gpgc.graph.normalize import without_loops
from gpgc.kernels.rows import StoredRows
from gpgc.models.degrees import DegreeMoments, degree_numbers, log_powers, mean_logs
from gpgc.models.likeness import LikenessSums, likeness_sums
from gpgc.models.surroundings import link_directions, neighbour_directions


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What nodes have around them, on a cluster.

    Attributes
    ----------
    links : Links
        The graph.
    propagation : list of tasks of Propagation
        Rows of Â, computed where they are asked for.
    columns : task of int array, or None
        Nodes that landmarks are linked with, over which links are compared; None for all.
    numbers : list of tasks of arrays (n, 4)
        Degrees around the nodes of each block.
    moments : task of DegreeMoments
        Of these numbers, over all nodes.
    dtype : str
        Of the rows.
    """

    links: Links
    propagation: Sequence[Any]
    columns: Any
    numbers: Sequence[Any]
    moments: Any
    dtype: str

    def rows(self, view: str, features: Sequence[Any]) -> list[Any]:
        """Return the tasks of the rows of all nodes in one view, or of their parts, a block each.

        Parameters
        ----------
        view : str
            Its name.
        features : sequence of tasks of arrays (n, F)
            X.
        """
        blocks, dtype = range(len(self.numbers)), self.dtype
        if view == "degrees":
            return [task(degree_rows, self.numbers[b], self.moments, dtype) for b in blocks]
        if view == "structure":
            wide = wide_rows(self.propagation, self.links)
            return [task(link_rows, wide[b], self.columns, dtype) for b in blocks]
        own = [task(unit_features, block, dtype) for block in features]
        first = neighbour_sums(self.propagation, own, self.links)
        second = neighbour_sums(self.propagation, first, self.links)
        return [NeighbourParts(own[b], first[b], second[b]) for b in blocks]


@dataclass(frozen=True, eq=False)
class NeighbourParts:
    """X̄, Â₀X̄ and Â₀²X̄ of a block, which are put side by side for some rows at a time.

    Tasks of them before they are on a worker.
    """

    own: Any
    first: Any
    second: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, and columns of all three."""
        n_rows, n_columns = self.own.shape
        return n_rows, 3 * n_columns

    def take(self, part: slice) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        return neighbour_directions(self.own[part], self.first[part], self.second[part]).take(None)


@dataclass(frozen=True, eq=False)
class FeaturesAround:
    """Which features the rows of some nodes need, and those by which likeness is measured.

    Attributes
    ----------
    near, farther, sampled : Neighbourhoods
        Of the wanted nodes, of those that these reach, and of the sample.
    wanted, sample : list of int arrays
        The wanted nodes of each block, and the sample.
    nodes : list of tasks of int arrays
        All nodes whose features are needed, sorted.
    """

    near: Neighbourhoods
    farther: Neighbourhoods
    sampled: Neighbourhoods
    wanted: Sequence[Integers]
    sample: Sequence[Integers]
    nodes: Sequence[Any]

    @classmethod
    def of(
        cls,
        wanted: Sequence[Integers],
        sample: Sequence[Integers],
        wide: Sequence[Any],
        links: Links,
        cluster: Cluster,
    ) -> FeaturesAround:
        """Return those of wanted and of sampled nodes, from rows of Â₀ over all nodes."""
        near = Neighbourhoods.of(wanted, wide, links, cluster)
        farther = Neighbourhoods.of(near.known, wide, links, cluster)
        sampled = Neighbourhoods.of(sample, wide, links, cluster)
        both = zip(farther.known, sampled.known, strict=True)
        kept = cluster.keep(task(np.union1d, *nodes) for nodes in both)
        return cls(near, farther, sampled, wanted, sample, kept)

    def neighbour_rows(self, own: Sequence[Any]) -> list[Any]:
        """Return the tasks of the wanted rows of the view by neighbours.

        Parameters
        ----------
        own : sequence of tasks of arrays (m, F)
            X̄ at :attr:`nodes`.
        """
        first = self.farther.step(own, self.nodes)
        second = self.near.step(first, self.near.known)
        return [
            task(
                neighbour_directions,
                task(rows_at, own[b], self.nodes[b], wanted),
                task(rows_at, first[b], self.near.known[b], wanted),
                second[b],
            )
            for b, wanted in enumerate(self.wanted)
        ]

    def likeness(self, own: Sequence[Any], cluster: Cluster) -> float | None:
        """Return how alike the sampled nodes and those they are linked with are."""
        parts = [
            task(
                likeness_near,
                self.sampled.found[b],
                task(rows_at, own[b], self.nodes[b], sample),
                self.sampled.at_ends(own, self.nodes, b),
            )
            for b, sample in enumerate(self.sample)
        ]
        sums: LikenessSums = reduce(LikenessSums.joined, cluster.fetch(parts))
        return sums.likeness


def wide_rows(propagation: Sequence[Any], links: Links) -> list[Any]:
    """Return the tasks of the blocks' rows of Â₀ over the columns of all nodes."""
    starts = links.partition.starts
    return [
        task(wide_links, rows, links.rows[block], block, starts)
        for block, rows in enumerate(propagation)
    ]


def neighbour_sums(propagation: Sequence[Any], values: Sequence[Any], links: Links) -> list[Any]:
    """Return the tasks of Â₀ times values of all nodes, a block each."""
    return [
        task(neighbour_step, rows, values[block], links.halo(values, block))
        for block, rows in enumerate(propagation)
    ]


def degrees_of(propagation: Sequence[Any], links: Links, cluster: Cluster) -> tuple[list[Any], Any]:
    """Return the tasks of the degrees around the nodes of each block, and of their moments."""
    powers = [task(degree_powers, degrees) for degrees in links.degrees]
    sums = neighbour_sums(propagation, powers, links)
    farther = neighbour_sums(propagation, [task(mean_logs, part) for part in sums], links)
    parts = zip(powers, sums, farther, strict=True)
    numbers = cluster.keep(task(block_numbers, *part) for part in parts)
    moments = tree(DegreeMoments.joined, [task(DegreeMoments.of_linked, part) for part in numbers])
    return numbers, cluster.keep([moments])[0]


def columns_of_landmarks(wide: Sequence[Any], places: Sequence[Integers], cluster: Cluster) -> Any:
    """Return the task of the nodes, sorted, that the landmarks of all blocks are linked with."""
    found = [task(linked_nodes, rows, index) for rows, index in zip(wide, places, strict=True)]
    return cluster.keep([task(union, found)])[0]


def neighbour_step(propagation: Propagation, own: Array, halo: Sequence[Array]) -> Array:
    """Return a block's rows of Â₀ Z from its own rows of Z and those of others that it needs."""
    links = Propagation(without_loops(propagation.own), propagation.across)
    return diffusion_step(links, own, halo)


def likeness_near(found: Nearby, own: Array, pieces: Sequence[Array]) -> LikenessSums:
    """Return the sums over some nodes of a block and their links."""
    return likeness_sums(found.links, own, np.concatenate(pieces))


def degree_powers(degrees: Array) -> Array:
    """Return the powers (n, 3) of the log degrees."""
    return log_powers(np.log(degrees))


def block_numbers(powers: Array, sums: Array, farther: Array) -> Array:
    """Return the four numbers (n, 4) of the degrees around the nodes of a block."""
    return degree_numbers(powers[:, 1], sums, farther)


def degree_rows(
    numbers: Array, moments: DegreeMoments, dtype: str, index: Integers | None = None
) -> StoredRows:
    """Return rows of the view by degrees, of all nodes of a block or of some."""
    chosen = numbers if index is None else numbers[index]
    return StoredRows.of(moments.standardised(chosen), np.dtype(dtype))


def link_rows(
    wide: sp.csr_array, columns: Integers | None, dtype: str, index: Integers | None = None
) -> StoredRows:
    """Return rows of the view by links, of all nodes of a block or of some.

    Parameters
    ----------
    wide : csr_array of shape (n, N)
        Rows of Â₀.
    columns : int array of shape (c,) or None
        Nodes, sorted, to which the answer is cut after rows were scaled to length 1.
    dtype : str
        Of the rows.
    index : int array, optional
        Which rows.

    Examples
    --------
    >>> wide = sp.csr_array([[3.0, 4, 0], [0, 0, 1]])
    >>> rows, lengths = link_rows(wide, np.array([1]), "float64").take(None)
    >>> rows.toarray().round(1).tolist(), lengths.round(1).tolist()
    ([[0.8], [0.0]], [1.0, 1.0])
    """
    links = link_directions(wide if index is None else sp.csr_array(wide[index]), np.dtype(dtype))
    if columns is None:
        return links
    return StoredRows(_cut(links.directions, columns), links.lengths)


def linked_nodes(wide: sp.csr_array, index: Integers) -> Integers:
    """Return the nodes, sorted, that some nodes of a block are linked with."""
    return np.unique(wide[index].indices)


def _cut(rows: sp.csr_array, columns: Integers) -> sp.csr_array:
    """Return sparse rows over some of their columns, sorted."""
    place = np.searchsorted(columns, rows.indices)
    inside = place < len(columns)
    inside[inside] = columns[place[inside]] == rows.indices[inside]
    indptr = np.concatenate([[0], np.cumsum(inside)])[rows.indptr]
    return sp.csr_array((rows.data[inside], place[inside], indptr), (rows.shape[0], len(columns)))
