"""Labelled nodes that are too many for one process: their rows stay in blocks, sums come here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial, reduce
from operator import getitem
from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.dask.cluster import task, tree
from gpgc.dask.describe import AllNumbers, Graph, Numbers, covariance_at, itself, known_inputs
from gpgc.kernels import Covariance
from gpgc.models.broad import Broad, BroadInputs

ROWS_AT_ONCE = 2**14
"""Labelled rows of the root that a task holds at once."""


@dataclass(frozen=True, eq=False)
class LabelBlocks:
    """The labelled nodes of a field by block, and what describes them there."""

    graph: Graph
    architecture: Broad
    nodes: Integers  # of the field
    held: Integers  # those whose rows are in this process
    labelled: Integers  # of all nodes, sorted
    everywhere: AllNumbers
    kept: dict[str, BlockCovariance] = field(default_factory=dict)

    @cached_property
    def places(self) -> Integers:
        """Where the labelled nodes are in the field."""
        return np.searchsorted(self.nodes, self.labelled)

    def covariance(self, held: Covariance, inputs: BroadInputs) -> BlockCovariance:
        """Return the covariance of the field, by that of the nodes that are held."""
        cluster, title = self.graph.cluster, inputs.view.title
        if title not in self.kept:
            own, every = self.graph.links.partition.split(self.labelled), np.arange(len(self.held))
            found = zip(self.everywhere[title](), own, strict=True)
            some = [[task(getitem, part, rows) for part in parts] for parts, rows in found]
            known = known_inputs(self.architecture, inputs, every)
            (at,) = cluster.keep([task(itself, partial(covariance_at, self.architecture, known))])
            numbers = [cluster.keep(parts) for parts in some]
            self.kept[title] = BlockCovariance(held, self, at, numbers)
        return self.kept[title]


class BlockCovariance(Covariance):
    """Γ of a field whose labelled nodes are known in blocks; of finite rank, by rows of its root.

    Whoever asks for rows gets them. Sums over rows are made where these are, in a fixed order.
    """

    def __init__(
        self, held: Covariance, labels: LabelBlocks, at: Any, numbers: Sequence[Numbers]
    ) -> None:
        super().__init__(len(labels.nodes), held.context)
        self.held, self.labels, self.at, self.numbers = held, labels, at, numbers

    @property
    def rank(self) -> int | None:
        """The number of columns of the root."""
        return self.held.rank

    def root(self, rows: Index = None) -> Array:
        """Return Φ[rows]: of nodes that are held, and of others from their blocks."""
        chosen = self.indices(rows)
        out = np.empty((len(chosen), self.rank or 0), dtype=self.dtype)
        is_held = np.isin(chosen, self.labels.held)
        out[is_held] = self.held.root(np.searchsorted(self.labels.held, chosen[is_held]))
        if not is_held.all():
            others, places = np.unique(chosen[~is_held], return_inverse=True)
            found = self.labels.graph.cluster.fetch(self._asked(others, itself, ()))
            out[~is_held] = np.concatenate([part for parts in found for part in parts])[places]
        return out

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Φ[rows] Φ[cols]ᵀ."""
        return np.asarray(self.root(rows) @ self.root(cols).T)

    def diag(self, rows: Index = None) -> Array:
        """Return the squared lengths of the root's rows."""
        return np.concatenate(self.map_root(self.indices(rows), squared_lengths, (), 0))

    def dense(self) -> Array:
        """Return ΦΦᵀ."""
        return self.block()

    def map_root(
        self, rows: Integers, function: Any, values: Sequence[Array], row_bytes: int
    ) -> list[Any]:
        """Return function(Φ[tile], values[tile], …) of tiles of labelled nodes, sorted."""
        if not np.isin(rows, self.labels.places).all():
            return super().map_root(rows, function, values, row_bytes)
        found = self.labels.graph.cluster.fetch(self._asked(rows, function, values))
        return [part for parts in found for part in parts]

    def sum_root(
        self, rows: Integers, function: Any, values: Sequence[Array], n_at_once: int
    ) -> list[Array]:
        """Return sums over labelled nodes, sorted, of the arrays that a function gives."""
        sums = [task(reduce, added, parts) for parts in self._asked(rows, function, values)]
        found: list[Array] = self.labels.graph.cluster.fetch([tree(added, sums)])[0]
        return found

    def _asked(self, rows: Integers, function: Any, values: Sequence[Array]) -> list[Any]:
        """Return the tasks of what a function gives of rows of the root, block by block."""
        labels, partition = self.labels, self.labels.graph.links.partition
        nodes = labels.nodes[rows]
        (asked,) = labels.graph.cluster.keep([task(itself, function)])
        cuts = np.searchsorted(nodes, partition.starts)
        firsts = np.searchsorted(labels.labelled, partition.starts)
        places = np.searchsorted(labels.labelled, nodes)
        tasks = []
        for b, numbers in enumerate(self.numbers):
            part = slice(cuts[b], cuts[b + 1])
            if part.stop > part.start:
                own = [value[part] for value in values]
                at = places[part] - firsts[b]
                tasks.append(task(of_block, self.at, len(labels.held), numbers, at, asked, own))
        return tasks


def of_block(
    at: Any, n_held: int, numbers: Numbers, places: Integers, function: Any, values: Sequence[Array]
) -> list[Any]:
    """Return function(Φ[tile], values[tile], …) of tiles of some labelled nodes of a block."""
    found = []
    for start in range(0, len(places), ROWS_AT_ONCE):
        part = slice(start, min(start + ROWS_AT_ONCE, len(places)))
        some = n_held + np.arange(part.stop - part.start)
        rows = at(numbers, places[part]).root(some)
        found.append(function(rows, *(value[part] for value in values)))
    return found


def added(one: Sequence[Array], other: Sequence[Array]) -> list[Array]:
    """Return the sums of the arrays of two lists."""
    return [np.asarray(a + b) for a, b in zip(one, other, strict=True)]


def squared_lengths(rows: Array) -> Array:
    """Return the squared lengths of rows."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
