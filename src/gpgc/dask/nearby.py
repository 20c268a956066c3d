"""Values of some nodes from those that their links end at: no others move between blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.links import Links
from gpgc.models.surroundings import around


class Nearby(NamedTuple):
    """Links of some nodes of a block.

    Attributes
    ----------
    links : csr_array of shape (m, c)
        Their rows of Â₀, over the columns that they reach.
    ends : dict
        Block → nodes of it, counted from its first, that the columns stand for, in order.
    """

    links: sp.csr_array
    ends: Mapping[int, Integers]


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Links of some nodes of each block, and the nodes at their ends, on a cluster.

    Attributes
    ----------
    links : Links
        The graph.
    found : list of tasks of Nearby
        Links of the nodes that were asked for, a block each.
    known : list of tasks of int arrays
        These nodes and the ends of their links, sorted, by the block that they are in.
    """

    links: Links
    found: Sequence[Any]
    known: Sequence[Any]

    @classmethod
    def of(
        cls, asked: Sequence[Any], rows: Sequence[Any], links: Links, cluster: Cluster
    ) -> Neighbourhoods:
        """Return those of some nodes.

        Parameters
        ----------
        asked : sequence of int arrays or tasks of them
            Sorted nodes of each block, counted from its first.
        rows : sequence of tasks of csr_arrays (n, N)
            Rows of Â₀, as :func:`gpgc.dask.wide.wide_links` returns them.
        links : Links
            The graph.
        cluster : Cluster
            Where.
        """
        starts, blocks = links.partition.starts, range(len(rows))
        found = cluster.keep(task(nearby, rows[b], asked[b], starts) for b in blocks)
        known = cluster.keep(
            task(union, [asked[b], *(task(ends_in, found[o], b) for o in _linked(links, b))])
            for b in blocks
        )
        return cls(links, found, known)

    def step(self, values: Sequence[Any], known: Sequence[Any]) -> list[Any]:
        """Return the tasks of Â₀ times values, at the nodes that were asked for.

        Parameters
        ----------
        values : sequence of tasks of arrays (m, c)
            Of some nodes of each block, among them all of :attr:`known`.
        known : sequence of tasks of int arrays (m,)
            Which nodes.
        """
        return [
            task(nearby_step, found, self.at_ends(values, known, b))
            for b, found in enumerate(self.found)
        ]

    def at_ends(self, values: Sequence[Any], known: Sequence[Any], block: int) -> list[Any]:
        """Return the tasks of the values at the ends of a block's links, in their order."""
        return [
            task(rows_at, values[other], known[other], task(ends_in, self.found[block], other))
            for other in _linked(self.links, block)
        ]


def _linked(links: Links, block: int) -> list[int]:
    """Return the blocks that a block has links with, itself among them."""
    return sorted({block, *links.summaries[block].needed})


def nearby(rows: sp.csr_array, asked: Integers, starts: Integers) -> Nearby:
    """Return the links of some nodes of a block.

    Parameters
    ----------
    rows : csr_array of shape (n, N)
        Rows of Â₀ of the block.
    asked : int array of shape (m,)
        Which of its nodes.
    starts : int array
        The first node of each block, and N.

    Examples
    --------
    >>> rows = sp.csr_array([[0.0, 1, 0, 0, 2]])
    >>> found = nearby(rows, np.array([0]), np.array([0, 1, 3, 5]))
    >>> found.links.toarray().tolist(), {b: ends.tolist() for b, ends in found.ends.items()}
    ([[1.0, 2.0]], {1: [0], 2: [1]})
    """
    links, near = around(sp.csr_array(rows[asked]))
    block = np.searchsorted(starts, near, side="right") - 1
    ends = {b: near[block == b] - starts[b] for b in np.unique(block).tolist()}
    return Nearby(links, ends)


def ends_in(found: Nearby, block: int) -> Integers:
    """Return the nodes of one block that links end at."""
    return found.ends.get(block, np.empty(0, dtype=np.int64))


def union(nodes: Sequence[Integers]) -> Integers:
    """Return sorted nodes, each once."""
    return np.unique(np.concatenate(nodes))


def rows_at(values: Array, known: Integers, asked: Integers) -> Array:
    """Return the rows of some of the nodes that are known."""
    return values[np.searchsorted(known, asked)]


def nearby_step(found: Nearby, pieces: Sequence[Array]) -> Array:
    """Return rows of Â₀ Z from the rows of Z at the ends of links."""
    return np.asarray(found.links @ np.concatenate(pieces))
