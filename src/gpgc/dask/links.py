"""The graph on a cluster: each block's rows of Â, and the rows that it needs from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.edges import adjacency_rows, split_edges
from gpgc.dask.partition import Partition
from gpgc.errors import InputError
from gpgc.graph.normalize import Normalization, degrees_with_loops, divide_by_degrees

WHOLE_BLOCK = 0.5
"""Fraction of a block's rows from which on it is sent as it is, without a copy of those needed."""


class LocalRows(NamedTuple):
    """Rows of the adjacency of one block, cut by the block of their columns.

    Attributes
    ----------
    own : csr_array of shape (n, n)
        Weights within the block.
    across : dict
        Other block → csr_array of the weights to those of its nodes that are needed.
    needed : dict
        Other block → which of its nodes these are, counted from its first; None for all.
    """

    own: sp.csr_array
    across: Mapping[int, sp.csr_array]
    needed: Mapping[int, Integers | None]


class Propagation(NamedTuple):
    """Rows of Â of one block, cut by the block of their columns.

    Attributes
    ----------
    own : csr_array of shape (n, n)
        Within the block.
    across : tuple of (int array of shape (m,), csr_array of shape (m, needed))
        For each other block that is needed, in order: the rows that have links to it, and these.
    """

    own: sp.csr_array
    across: tuple[tuple[Integers, sp.csr_array], ...]


class RowsSummary(NamedTuple):
    """What the client knows about a block's rows: links, sums of weights, rows from others."""

    n_links: int
    largest_degree: float
    needed: Mapping[int, int | None]


@dataclass(frozen=True, eq=False)
class Links:
    """A graph whose rows are blocks on a cluster.

    Attributes
    ----------
    partition : Partition
        Of the nodes.
    rows : list of tasks of LocalRows
        A block each.
    degrees : list of tasks of arrays (n,)
        Of A + I.
    needed : dict
        (block, other block) → task of the rows that the first needs from the other; None where
        it needs nearly all, and gets the block as it is.
    summaries : list of RowsSummary
        Of the blocks.
    """

    partition: Partition
    rows: Sequence[Any]
    degrees: Sequence[Any]
    needed: Mapping[tuple[int, int], Any]
    summaries: Sequence[RowsSummary]

    @property
    def n_links(self) -> int:
        """The number of links between different nodes, each counted once."""
        return sum(summary.n_links for summary in self.summaries) // 2

    @property
    def least_diagonal(self) -> float:
        """The least entry on the diagonal of Â."""
        return 1 / max(summary.largest_degree for summary in self.summaries)

    @property
    def n_crossing(self) -> int:
        """How many rows cross partitions in one step of a diffusion."""
        return sum(
            self.partition.sizes[other] if size is None else size
            for summary in self.summaries
            for other, size in summary.needed.items()
        )

    def halo(self, values: Sequence[Any], block: int) -> list[Any]:
        """Return the tasks of the values that a block needs from others, in the order of blocks.

        Parameters
        ----------
        values : sequence of tasks
            An array of rows for each block.
        block : int
            Whose.
        """
        return [
            values[other]
            if self.needed[block, other] is None
            else task(halo_rows, values[other], self.needed[block, other])
            for other in self.summaries[block].needed
        ]


def links_of(frames: Sequence[Any], partition: Partition, cluster: Cluster) -> Links:
    """Bring edges to the blocks of their ends.

    Parameters
    ----------
    frames : sequence of tasks of DataFrames
        Partitions of the edges, in any order.
    partition : Partition
        Of the nodes.
    cluster : Cluster
        Where.
    """
    starts = partition.starts
    split = cluster.keep(
        task(split_edges, frame, number, starts) for number, frame in enumerate(frames)
    )
    touched = cluster.fetch(task(blocks_of, pieces) for pieces in split)
    weighted = {is_weighted for _, is_weighted in touched if is_weighted is not None}
    if len(weighted) > 1:
        raise InputError("adjacency must have weights in all partitions or in none, got both")
    rows = []
    for block in range(len(partition)):
        pieces = [
            task(piece_of, split[number], block)
            for number, (found, _) in enumerate(touched)
            if block in found
        ]
        rows.append(task(adjacency_rows, block, starts, *pieces))
    local = cluster.keep(
        task(cut_columns, block_rows, block, starts) for block, block_rows in enumerate(rows)
    )
    degrees = cluster.keep(task(block_degrees, block_rows) for block_rows in local)
    summaries = cluster.fetch(
        task(summary, rows, sums) for rows, sums in zip(local, degrees, strict=True)
    )
    pairs = [
        (block, other, size)
        for block, found in enumerate(summaries)
        for other, size in found.needed.items()
    ]
    kept = cluster.keep(
        task(needed_rows, local[block], other) for block, other, size in pairs if size is not None
    )
    rest = iter(kept)
    needed = {(block, other): None if size is None else next(rest) for block, other, size in pairs}
    return Links(partition, local, degrees, needed, summaries)


def propagation_of(links: Links, normalization: Normalization, dtype: Any) -> list[Any]:
    """Return the tasks of the blocks' rows of Â, each cut by the block of its columns."""
    return [
        task(normalized, links.rows[block], normalization, dtype, links.degrees[block], halo)
        for block, halo in enumerate([links.halo(links.degrees, b) for b in range(len(links.rows))])
    ]


def blocks_of(pieces: Mapping[int, Any]) -> tuple[tuple[int, ...], bool | None]:
    """Return the blocks that edges touch, and whether they have weights; None without edges."""
    is_weighted = None
    for piece in pieces.values():
        is_weighted = piece.leaving[2] is not None
    return tuple(pieces), is_weighted


def piece_of(pieces: Mapping[int, Any], block: int) -> Any:
    """Return the edges of one block."""
    return pieces[block]


def cut_columns(rows: sp.csr_array, block: int, starts: Integers) -> LocalRows:
    """Cut rows (n, N) of the adjacency by the block of their columns.

    Columns of other blocks are left out where all their weights are 0.
    """
    shape = (rows.shape[0], 0)
    column_block = np.searchsorted(starts, rows.indices, side="right") - 1
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    across: dict[int, sp.csr_array] = {}
    needed: dict[int, Integers | None] = {}
    own = sp.csr_array((shape[0], shape[0]))
    for other in np.unique(column_block).tolist():
        chosen = np.flatnonzero(column_block == other)
        column = rows.indices[chosen].astype(np.int64) - starts[other]
        size = int(starts[other + 1] - starts[other])
        nodes = np.unique(column)
        if other != block and len(nodes) <= WHOLE_BLOCK * size:
            column, size, needed[other] = np.searchsorted(nodes, column), len(nodes), nodes
        elif other != block:
            needed[other] = None
        entries = (rows.data[chosen], (row[chosen], column))
        part = sp.csr_array(entries, shape=(shape[0], size))
        if other == block:
            own = part
        else:
            across[other] = part
    return LocalRows(own, across, needed)


def block_degrees(rows: LocalRows) -> NDArray[np.float64]:
    """Return the degrees (n,) of A + I."""
    parts = [rows.own, *rows.across.values()]
    return degrees_with_loops(sp.csr_array(sp.hstack(parts, format="csr")))


def summary(rows: LocalRows, degrees: Array) -> RowsSummary:
    """Return what the client must know."""
    n_links = rows.own.nnz + sum(part.nnz for part in rows.across.values())
    sizes = {other: None if at is None else len(at) for other, at in rows.needed.items()}
    return RowsSummary(n_links, float(degrees.max(initial=1.0)), sizes)


def needed_rows(rows: LocalRows, other: int) -> Integers:
    """Return which rows of another block are needed."""
    found = rows.needed[other]
    assert found is not None
    return found


def halo_rows(values: Array, needed: Integers) -> Array:
    """Return the rows of a block that another one needs."""
    return values[needed]


def normalized(
    rows: LocalRows,
    normalization: Normalization,
    dtype: Any,
    degrees: NDArray[np.float64],
    other_degrees: Sequence[NDArray[np.float64]],
) -> Propagation:
    """Return the rows of Â within the block, and to each other block that is needed."""
    with_loops = sp.csr_array(rows.own + sp.eye_array(rows.own.shape[0], format="csr"))
    own = divide_by_degrees(with_loops, degrees, degrees, normalization).astype(dtype)
    across = []
    for weights, columns in zip(rows.across.values(), other_degrees, strict=True):
        linked = np.flatnonzero(np.diff(weights.indptr))
        part = divide_by_degrees(weights[linked], degrees[linked], columns, normalization)
        across.append((linked, part.astype(dtype)))
    return Propagation(own, tuple(across))
