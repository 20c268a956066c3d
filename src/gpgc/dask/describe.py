"""What the nodes of a graph are described by, in blocks: what diffuses, degrees, hubs, keys."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.primitives import NUMPY
from gpgc.compute.progress import announce
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.dask.features import (
    BlockFeatures,
    blocks_of_features,
    checked,
    largest_of,
    scaled,
    unit_columns,
    with_scalings,
)
from gpgc.dask.links import Links, links_of, parts_of_edges, wide_rows
from gpgc.errors import InputError
from gpgc.estimators.standardize import checked_choice
from gpgc.graph import Normalization
from gpgc.graph.components import indicators, large_and_small
from gpgc.graph.node_keys import DIGITS, column_sums, first_keys, key_terms, spread_nodes
from gpgc.graph.node_keys import STEPS as KEY_STEPS
from gpgc.kernels.pageranks import pagerank_weights
from gpgc.kernels.propagate import around
from gpgc.kernels.rows import StoredRows
from gpgc.models.broad import Broad, BroadInputs
from gpgc.models.degrees import DegreeMoments, degree_numbers, log_powers, mean_logs
from gpgc.models.graph_view import STEPS, TELEPORTS
from gpgc.models.homophily import SAMPLED_NODES, Homophily, homophily_by
from gpgc.models.hubs import HUB_REACH, most_hubs
from gpgc.models.neighbors import neighbor_directions
from gpgc.models.projection import WIDE
from gpgc.models.spectral import PLACE_STEPS
from gpgc.models.view import STANDARDIZED, Description, View, directions, unit_rows

COLUMN_BYTES = 2**26
"""Size of the columns of all nodes that diffuse at once; about nine times as much is in memory."""

ROWS_AT_ONCE = 4096
"""Rows whose powers are added up at once, in a core's cache."""

LEAST_COLUMNS = 8
"""Columns that diffuse at once however many nodes there are."""

BUILT = ("graph", "features", "neighbors", "structure", "degrees", "hubs", "linear", "rbf")
"""Views whose rows are known in blocks."""

Numbers = Sequence[Any]
"""What the rows of some nodes in a view are made of, arrays with a row a node.

*graph* and *hubs*: what diffused, (n, teleports, columns) by slices of columns, and indicators of
small components (n, g), if there are any; *features*, *linear* and *rbf*: X; *neighbors*: X,
slices of Â₀X̄ and as many of Â₀²X̄; *structure*: sparse rows of Â₀ over all nodes; *degrees*: four
standardized numbers a node. Without links *graph* is X.
"""

AllNumbers = dict[str, Callable[[], list[Numbers]]]
"""View → what gives for each block the tasks of its numbers, those that are not kept anew."""


def column_slices(n_nodes: int, n_columns: int, itemsize: int) -> list[slice]:
    """Cut the columns into those that diffuse at once; depends on the data alone."""
    width = max(LEAST_COLUMNS, COLUMN_BYTES // (n_nodes * itemsize))
    n_slices = -(-n_columns // width)
    cuts = np.linspace(0, n_columns, n_slices + 1).astype(int).tolist()
    return [slice(start, end) for start, end in itertools.pairwise(cuts)]


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph with features on a cluster."""

    cluster: Cluster
    raw: Sequence[Any]  # blocks of X as they came
    features: Sequence[Any]  # tasks of blocks of X, which are kept
    columns: BlockFeatures  # how they are read
    links: Links
    normalization: Normalization
    dtype: str
    keys: Array  # (N,), by which nodes are sampled

    def largest(self) -> float:
        """Return the largest magnitude in X."""
        found: list[float] = self.cluster.fetch(task(largest_of, part) for part in self.features)
        return max(found)

    def homophily(self) -> Homophily:
        """Return what features tell of links, by the nodes that the local estimator looks at."""
        n_nodes, links = len(self.keys), self.links
        sample: Integers = np.arange(n_nodes)
        if n_nodes > SAMPLED_NODES:
            sample = spread_nodes(self.keys, SAMPLED_NODES)
        compact, linked = around(links.adjacency_at(sample))
        every = np.union1d(sample, linked)
        found = links.at(self.features, every)
        own, others = (found[np.searchsorted(every, nodes)] for nodes in (sample, linked))
        return homophily_by(compact, own, others)

    def described(self) -> AllNumbers:
        """Describe all nodes in each view."""
        found: AllNumbers = {}
        for mark in ("", STANDARDIZED)[: 1 if self.columns.beside is None else 2]:
            own = zipped([self._seen(mark)])
            found |= {mark + name: own for name in ("graph", "features", "linear", "rbf")}
            if self.links.n_entries:
                found[mark + "graph"] = self._graph(mark)
                found[mark + "neighbors"] = partial(self._neighbors, mark)
        if self.links.n_entries:
            found |= {"degrees": self._degrees(), "hubs": self._hubs(), "structure": self._wide}
        return found

    def gathered(self, numbers: Sequence[Numbers], nodes: Integers) -> Numbers:
        """Return the numbers of some nodes, sorted, in this process, from those of all blocks."""
        return [self.links.at(part, nodes) for part in zip(*numbers, strict=True)]

    def matrices(self, loops: bool, dtype: Any = None) -> list[Any]:
        """Return rows of Â of all blocks, or of Â₀ without its diagonal, which are kept."""
        return self.cluster.keep(
            self.links.matrices(self.normalization, dtype or self.dtype, loops)
        )

    def _seen(self, mark: str) -> list[Any]:
        """Return the tasks of blocks of X in a scaling."""
        beside = self.columns.beside if mark else None
        return [x if beside is None else task(scaled, x, beside) for x in self.features]

    def _slices(self, n_columns: int) -> list[slice]:
        return column_slices(len(self.keys), n_columns, np.dtype(self.dtype).itemsize)

    def _units(self, mark: str, degrees: Sequence[Any]) -> list[list[Any]]:
        """Return the tasks of X̄, or D̃^(−½) X̄, in slices of columns."""
        both = list(zip(self._seen(mark), degrees, strict=True))
        return [
            [task(unit_columns, x, part, some, self.dtype) for x, some in both]
            for part in self._slices(self.columns.n_features)
        ]

    def _graph(self, mark: str) -> Callable[[], list[Numbers]]:
        """Diffuse the features in a scaling."""
        start, what = self._units(mark, self.links.degrees), f"diffusion of the {mark}features"
        return zipped(self._diffused(start, TELEPORTS, STEPS, what))

    def _neighbors(self, mark: str) -> list[Numbers]:
        """Return the tasks of X, of Â₀X̄ and of Â₀²X̄ in slices: they are not kept."""
        loose, own = self.matrices(False), self._units(mark, [None] * len(self.features))
        first = [self.links.step(loose, values) for values in own]
        second = [self.links.step(loose, values) for values in first]
        return zipped([self._seen(mark), *first, *second])()

    def _diffused(
        self, starts: list[list[Any]], teleports: Sequence[float], steps: int, what: str
    ) -> list[list[Any]]:
        """Return the PageRanks (n, teleports, columns) of columns, slice by slice."""
        matrices, weights = self.matrices(True), pagerank_weights(teleports, steps, self.dtype)
        found = []
        for at, start in enumerate(starts):
            powers = [start]
            for _ in range(steps):
                powers.append(self.links.step(matrices, powers[-1]))
            sums = [task(weighed, weights, list(power)) for power in zip(*powers, strict=True)]
            found.append(self.cluster.finish(sums, f"{what}, part {at + 1} of {len(starts)}"))
        return found

    def _degrees(self) -> Callable[[], list[Numbers]]:
        """Compute the degrees around nodes, (n, 4), and their moments."""
        links, loose = self.links, self.matrices(False, "float64")
        logs = [task(np.log, part) for part in links.degrees]
        sums = self.cluster.keep(links.step(loose, [task(log_powers, part) for part in logs]))
        means = [task(np.expand_dims, task(mean_logs, part), 1) for part in sums]
        farther = [task(np.ravel, part) for part in links.step(loose, means)]
        three = zip(logs, sums, farther, strict=True)
        numbers = self.cluster.keep(task(degree_numbers, *parts) for parts in three)
        linked = [task(DegreeMoments.of_linked, part) for part in numbers]
        moments = self.cluster.fetch([tree(DegreeMoments.joined, linked)], "degrees")[0]
        return zipped([[task(moments.standardized, part) for part in numbers]])

    def _hubs(self) -> Callable[[], list[Numbers]]:
        """Compute PageRanks to hubs, and find small components."""
        links, starts, n_nodes = self.links, self.links.partition.starts, len(self.keys)
        component = links.components([None] * len(links.blocks))
        large, small = large_and_small(component)
        n_small = int(small.max()) + 1
        weights = [task(getattr, block, "weights") for block in links.blocks]
        ends = [task(getattr, rows, "indptr") for rows in weights]
        counts = np.concatenate(self.cluster.fetch(task(np.diff, part) for part in ends))
        inside = np.flatnonzero(large >= 0)
        itemsize = np.dtype(self.dtype).itemsize
        most = most_hubs(n_nodes, links.n_entries + n_nodes, PLACE_STEPS, itemsize)
        hubs = inside[np.lexsort((self.keys[inside], -counts[inside]))[:most]]
        blocks = list(itertools.pairwise(starts.tolist()))
        slices = self._slices(max(1, len(hubs)))
        start = [
            [task(one_hot, hubs[part], *pair, self.dtype) for pair in blocks] for part in slices
        ]
        kept = self._diffused(start, [HUB_REACH], PLACE_STEPS, "PageRanks to hubs")
        if n_small:
            dtype = np.dtype(self.dtype)
            groups = [task(indicators, small[a:b], n_small, dtype) for a, b in blocks]
            kept.append(self.cluster.keep(groups))
        return zipped(kept)

    def _wide(self) -> list[Numbers]:
        """Return the tasks of the rows of Â₀ over all nodes."""
        loose = self.links.matrices(self.normalization, "float64", False)
        both = zip(self.links.blocks, loose, strict=True)
        return [[task(wide_rows, *pair, len(self.keys))] for pair in both]


def graph_of(X: Any, adjacency: Any, estimator: Any, cluster: Cluster) -> Graph:
    """Bring a graph to the cluster, as a local estimator sees it: features, links, and keys."""
    raw, partition, n_features = blocks_of_features(X)
    dtype, normalization = estimator.dtype, estimator.normalization
    edges, seed = parts_of_edges(adjacency), estimator.architecture().seed
    size = partition.n_nodes * n_features * np.dtype(dtype).itemsize
    if n_features > WIDE.n_from and size > WIDE.n_bytes:
        raise InputError(
            f"X must have at most {WIDE.n_from:,} columns on a cluster where it takes more than "
            f"{WIDE.n_bytes / 2**30:g} GiB, got {n_features:,}: reduce them first"
        )
    announce("looking at the units of the features")
    settings = BlockFeatures(partition, n_features, estimator.feature_norm)
    columns = with_scalings(raw, settings, checked_choice(estimator.standardize), cluster)
    announce("bringing edges to the blocks of their nodes")
    links = links_of(edges, partition, cluster)
    checks = [task(checked, block, b, columns) for b, block in enumerate(raw)]
    features = cluster.finish(checks, "reading features")
    announce("keys of the nodes")
    matrices = cluster.keep(links.matrices(normalization, "float64", False))
    both = zip(features, links.degrees, strict=True)
    sums = tree(np.add, cluster.keep(task(column_sums, x) for x in features))
    first = (task(first_keys, x, task(np.log, part), sums, seed) for x, part in both)
    keys = cluster.keep(first)
    for _ in range(KEY_STEPS):
        terms = [task(np.expand_dims, task(key_terms, part), 1) for part in keys]
        sums = [task(np.ravel, part) for part in links.step(matrices, terms)]
        keys = cluster.keep(task(np.add, *pair) for pair in zip(keys, sums, strict=True))
    found = np.round(np.concatenate(cluster.fetch(keys, "keys")), DIGITS)
    return Graph(cluster, raw, features, columns, links, normalization, dtype, found)


def zipped(parts: Sequence[Sequence[Any]]) -> Callable[[], list[Numbers]]:
    """Return what gives for each block its task of each of the parts."""
    return lambda: list(zip(*parts, strict=True))


def weighed(weights: Array, powers: Sequence[Array]) -> Array:
    """Return the sums of powers (n, teleports, columns), weighed for each teleport."""
    n_rows, n_columns = powers[0].shape
    out = np.empty((n_rows, len(weights), n_columns), dtype=powers[0].dtype)
    for first in range(0, n_rows, ROWS_AT_ONCE):
        part = slice(first, first + ROWS_AT_ONCE)
        some = np.stack([power[part] for power in powers])
        out[part] = np.tensordot(weights, some, 1).swapaxes(0, 1)
    return out


def one_hot(nodes: Integers, first: int, end: int, dtype: Any) -> Array:
    """Return a block's rows of one-hot columns of some nodes; one column of zeros without any."""
    out = np.zeros((end - first, max(1, len(nodes))), dtype=dtype)
    inside = np.flatnonzero((nodes >= first) & (nodes < end))
    out[nodes[inside] - first, inside] = 1
    return out


def rows_of(view: View, parts: Numbers, dtype: Any) -> Description:
    """Return the rows of some nodes in a view, as its local description has them."""
    kind, number_format = view.name, np.dtype(dtype)
    if kind in ("features", "linear", "rbf") or (kind == "graph" and parts[0].ndim == 2):
        return Description([StoredRows(*view.rows(parts[0], number_format).take(None))])
    if kind in ("graph", "hubs"):
        dense = [part for part in parts if not sp.issparse(part)]
        groups = next((part for part in parts if sp.issparse(part)), None)
        apart = zip(*(part.swapaxes(0, 1) for part in dense), strict=True)  # teleport by teleport
        ranks = (NUMPY.scale_rows(np.concatenate(each, axis=1))[0] for each in apart)
        return Description([directions(each) for each in ranks], groups=groups)
    if kind == "degrees":
        return Description([StoredRows.of(parts[0], number_format)])
    if kind == "neighbors":
        own, half = unit_rows(parts[0]).astype(number_format), (len(parts) + 1) // 2
        first, second = np.hstack(parts[1:half]), np.hstack(parts[half:])
        return Description([neighbor_directions(own, first, second)])
    return Description([StoredRows.of(unit_rows(parts[0]), number_format)])


def covariance_at(
    architecture: Broad, inputs: BroadInputs, numbers: Numbers, part: slice | Integers
) -> Any:
    """Return a view's covariance of known nodes and, after them, of some nodes of a block."""
    some = rows_of(inputs.view, [rows[part] for rows in numbers], inputs.context.dtype)
    described = inputs.described.followed_by(some)
    return architecture.covariance(inputs._replace(described=described))


def known_inputs(architecture: Broad, inputs: BroadInputs, places: Integers) -> BroadInputs:
    """Return the inputs of some nodes that tell of all others, for a thread of its own."""
    described, context = inputs.described.at(places), Context.of(inputs.context.dtype, 1)
    found = architecture.known_inputs(inputs, places, described, context)
    return found._replace(whitening=architecture.whitening(inputs))


def itself(value: Any) -> Any:
    """Return a value, as a task whose result any worker can have again."""
    return value
