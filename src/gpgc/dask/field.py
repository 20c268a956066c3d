"""The nodes that a fit looks at, landmarks, labelled and typical ones, gathered in this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.dask.describe import BUILT, AllNumbers, Graph, rows_of
from gpgc.dask.labels import LabelBlocks
from gpgc.graph import Nodes
from gpgc.graph.reach import Reach
from gpgc.kernels.covariance import take
from gpgc.models import Prior
from gpgc.models.broad import Broad, BroadInputs
from gpgc.models.homophily import Homophily
from gpgc.models.view import view_of

FEW = 2**20
"""Nodes, and entries of the adjacency, up to which smoothing kernels such as the walk are computed
in this process from all links; the local estimator looks at them in graphs of fewer links."""


LABELS_HERE = 2**17
"""Labelled nodes whose rows this process holds; rows of more stay in blocks, which sum them up."""


class Reordered:
    """A smoothing kernel of all nodes in another order: those of a field, then the others."""

    approximations = ()

    def __init__(self, kernel: Any, order: Integers) -> None:
        self.kernel, self.order, self.n_nodes = kernel, order, len(order)

    def fits(self, n_columns: int) -> bool:
        """Tell whether so many columns are computed in little time."""
        return bool(self.kernel.fits(n_columns))

    def times(self, right: Array) -> Array:
        """Return K @ right (N, m)."""
        there = np.empty_like(right)
        there[self.order] = right
        return np.asarray(self.kernel.times(there)[self.order])

    def diag(self, rows: Index) -> Array:
        """Return K_ii of some nodes."""
        return np.asarray(self.kernel.diag(take(self.order, rows)))


@dataclass(frozen=True, eq=False)
class FieldNodes(Nodes):
    """What an architecture asks of nodes whose rows are elsewhere: largest degree, largest X."""

    components: Any = field(default=None, repr=False)

    @property
    def reach(self) -> Reach:
        """Which nodes links and shared features connect, through all nodes of the graph."""
        return Reach(self.components, np.empty(0, dtype=np.intp))


class FieldPrior(Prior):
    """The prior of a field of nodes, of which all inputs are known, or all but those of labels."""

    architecture: Broad
    labels: LabelBlocks | None = None  # where rows of labelled nodes stay

    def __init__(
        self,
        architecture: Broad,
        nodes: Nodes,
        context: Context,
        inputs: Mapping[str, BroadInputs],
        homophily: Homophily,
        keys: Array,
        typical_nodes: Integers,
        said: tuple[str, ...],
    ) -> None:
        super().__init__(architecture, nodes, context)
        self.views, self.inputs, self.said = tuple(inputs), dict(inputs), said
        self.homophily, self.keys, self.typical_nodes = homophily, keys, typical_nodes

    def view(self, name: str) -> Any:
        """Return the covariance of a view by its name, or its smoothing kernel."""
        found = super().view(name)
        if self.labels is None or self.is_smoother(name):
            return found
        return self.labels.covariance(found, self.inputs[name])

    def mean_of(self, posterior: Any) -> Array:
        """Return no means: those of all nodes are asked of the blocks."""
        return np.empty((0, posterior.targets.shape[1]))

    def approximations(self, views: Any = None) -> tuple[str, ...]:
        """Return what is not exact in some views, and which views are left out."""
        return (*super().approximations(views), *self.said)


@dataclass(frozen=True, eq=False)
class Field:
    """What a fit looks at, and what is known of all nodes."""

    prior: FieldPrior
    inputs: Mapping[str, BroadInputs]  # by view
    nodes: Integers  # of the field, sorted
    place: Integers  # (N,), of all nodes where those of the field come first
    labelled: Integers  # where the labelled ones are among them
    held: Integers  # those of the field whose rows are in this process
    component: Integers  # (N,), of all nodes
    everywhere: AllNumbers


def field_of(graph: Graph, architecture: Broad, labelled: Integers, context: Context) -> Field:
    """Describe all nodes on the cluster, and gather the rows of those that a fit looks at."""
    keys, every = graph.keys, np.arange(len(graph.keys))
    sample = architecture.landmarks(keys)
    nodes = every if sample is None else np.union1d(sample, labelled)
    typical = np.searchsorted(nodes, architecture.typical_nodes(keys))
    component = graph.links.components(graph.features)
    is_other = np.ones(len(keys), dtype=bool)
    is_other[nodes] = False
    order = np.concatenate([nodes, np.flatnonzero(is_other)])
    homophily = graph.homophily() if graph.links.n_entries else Homophily()
    told = _told(graph, component[nodes])
    smoothers, said = _smoothers(graph, told, architecture)
    offered = [view_of(name) for name in architecture.views(told)]
    said += tuple(
        f"without the view {view.title}"
        for view in offered
        if not (view.is_smoother or view.name in BUILT)
    )
    views = [v for v in offered if v.title in smoothers or (v.name in BUILT and not v.is_smoother)]
    everywhere = graph.described()
    described = [view for view in views if view.title not in smoothers]
    marks = {v.title: v.landmarks(len(keys), sample, architecture) for v in described}
    stays = len(labelled) > LABELS_HERE and all(mark is not None for mark in marks.values())
    here = sample if stays and sample is not None else nodes
    found = {
        numbers: graph.gathered(numbers(), here)
        for numbers in dict.fromkeys(everywhere[v] for v in marks)
    }
    inputs: dict[str, BroadInputs] = {}
    for view in views:
        if view.title in smoothers:
            kernel = Reordered(smoothers[view.title], order)
            inputs[view.title] = BroadInputs(kernel, None, view, context)
            continue
        own = marks[view.title]
        places = None if own is None else np.searchsorted(here, own)
        rows = rows_of(view, found[everywhere[view.title]], graph.dtype)
        inputs[view.title] = BroadInputs(rows, places, view, context)
    known = homophily, keys[nodes], typical
    prior = FieldPrior(architecture, told, context, inputs, *known, said)
    held, places = np.searchsorted(nodes, here), np.searchsorted(nodes, labelled)
    if stays:
        prior.labels = LabelBlocks(graph, architecture, nodes, held, labelled, everywhere)
    return Field(prior, inputs, nodes, np.argsort(order), places, held, component, everywhere)


def _told(graph: Graph, components: Integers) -> FieldNodes:
    """Return what is told of the graph to an architecture."""
    links, columns, n_nodes = graph.links, graph.columns, len(components)
    weights = sp.csr_array((n_nodes, n_nodes))
    if links.n_entries:
        ends = np.full(2, links.largest_degree - 1), ([0, 1], [1, 0])
        weights = sp.csr_array(ends, shape=(n_nodes, n_nodes))
    features = np.broadcast_to(np.float64(graph.largest()), (n_nodes, columns.n_features))
    known = FieldNodes(
        weights,
        features,
        graph.normalization,
        standardization=columns.standardization,
        components=components,
    )
    if columns.beside is None:
        return known
    return replace(known, standardized=replace(known, standardization=columns.beside))


def _smoothers(
    graph: Graph, told: Nodes, architecture: Broad
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the smoothing kernels of views that are looked at, and what is said of others."""
    names = [name for name in architecture.views(told) if architecture.is_smoother(name)]
    n_nodes = len(graph.keys)
    if not names or graph.links.n_entries > FEW:
        return {}, ()
    if n_nodes > FEW:
        return {}, tuple(f"without the view {name}, of over {FEW:,} nodes" for name in names)
    whole = Nodes(graph.links.adjacency_at(np.arange(n_nodes)), None, graph.normalization)
    some = [name for name in names if view_of(name).is_offered(whole, architecture)]
    return {name: view_of(name).describe(whole, architecture, Context()) for name in some}, ()
