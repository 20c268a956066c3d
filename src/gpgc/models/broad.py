r"""*broad*: nodes seen in several ways, each a Gaussian process of its own.

Each view (:mod:`gpgc.models.view`) describes nodes by rows of numbers. An infinitely wide ReLU
layer on their directions gives a covariance k; for the views *graph* and *features*
(:mod:`gpgc.models.graph_view`) it is squared over all nodes and scaled to unit variance. On larger
graphs the square runs over landmarks, and beyond 4,096 nodes the other views are what landmarks
tell of them, so that every rank is finite and cost stays linear in N. How much each view counts,
leave-one-out says (:mod:`gpgc.selection.stacking`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph.node_keys import spread_nodes
from gpgc.graph.nodes import JoinedNodes, NodeInputs, Nodes
from gpgc.kernels import (
    Activate,
    Covariance,
    DenseLayer,
    Features,
    InnerProduct,
    Mix,
    Nystrom,
    Square,
    activation_from,
    base_kernel_from,
)
from gpgc.kernels.covariance import inverse_or_zero
from gpgc.kernels.deep import layers
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.architecture import Architecture, Seen, ViewWeights, register
from gpgc.models.degrees import DegreesView
from gpgc.models.finite import RandomLayers, rows_with_kernel
from gpgc.models.graph_view import FeaturesView, GraphView, diffusion_is_large, rows_diffused_at
from gpgc.models.homophily import Homophily
from gpgc.models.hubs import HubsView
from gpgc.models.linear import LinearView
from gpgc.models.neighbors import NeighborsView
from gpgc.models.rbf import RBFView
from gpgc.models.structure import LinksView
from gpgc.models.view import STANDARDIZED, VIEWS, View, register_view, view_of
from gpgc.models.walk import WalkView

for each in (
    GraphView(),
    FeaturesView(),
    LinearView(),
    RBFView(),
    NeighborsView(),
    LinksView(),
    DegreesView(),
    HubsView(),
    WalkView(),
):
    register_view(each)

NEIGHBOR_NOISE = 10**-2.75
"""Relative noise that is usual on graphs of nearest neighbors."""

WALK_SHARE, WALK_SHARE_UNLIKE, WALK_SHARE_ALONE = 0.1, 0.5, 1.0
"""What the walk counts before labels say anything, beside 1 of the graph's; where linked nodes are
unlike, of own and neighbors' features; where the place is all that is known.

Alone, 1 against .1, design draws: a tree with 12 labels .72 to .95 right, a path with 10 .60 to
.79, a grid with 10 .78 to .88, Cora with 1, 5, 20 a class .31 to .40, .58 to .63, .77 to .76, a
planted partition with 8 labels .975 to .94."""


class BroadInputs(NamedTuple):
    """How a view describes nodes, and how arithmetic is done.

    ``landmarks`` None stands for all nodes, ``whitening`` is that of their Nyström root where it is
    known.
    """

    described: Any  # a Description, or what smooths labels
    landmarks: Integers | None
    view: View
    context: Context
    whitening: Array | None = None


@dataclass(frozen=True, kw_only=True)
class Broad(Architecture):
    """The default model: a stack of views, see above.

    Parameters
    ----------
    exact_nodes : int, default 2000
        Number of nodes up to which every node is a landmark.
    n_landmarks : int, default 1000
        Landmarks of larger graphs, chosen from all kinds of nodes
        (:mod:`gpgc.graph.node_keys`).
    one_hot_nodes : int, default 4096
        Number of nodes up to which a graph without features has one-hot rows; eigenvectors stand
        for them in larger ones (:mod:`gpgc.models.spectral`).

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import Prior
    >>> Prior(Broad(), Nodes(as_adjacency(([0], [1])))).covariance().dense().round(3)
    array([[1.   , 0.996],
           [0.996, 1.   ]])
    """

    relative_noise: ClassVar[float] = 10**-2.25
    has_views: ClassVar[bool] = True
    scales_rows: ClassVar[bool] = True

    exact_nodes: int = 2000
    n_landmarks: int = 1000
    one_hot_nodes: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kernel != "nngp":
            raise InputError(
                f"kernel must be 'nngp' for model='broad', whose square over nodes is no layer of "
                f"weights, got {self.kernel!r}"
            )

    def usual_noise(self, nodes: Nodes) -> float:
        """Return less noise where the links are nearest neighbors, which are seldom wrong."""
        return NEIGHBOR_NOISE if nodes.from_features else self.relative_noise

    def views(self, nodes: Nodes) -> tuple[str, ...]:
        """Return the names of views: of X as it came, the graph's first, then as standardized."""
        found = [view for view in VIEWS.values() if view.is_offered(nodes, self)]
        if nodes.standardized is not None:
            scaled = nodes.standardized
            for view in VIEWS.values():
                differs = view.depends_on_features or nodes.from_features
                if differs and view.is_offered(scaled, self):
                    found.append(replace(view, standardized=True))
        return tuple(view.title for view in found)

    def usual_shares(
        self, views: tuple[str, ...], nodes: Nodes, homophily: Homophily, of_values: bool
    ) -> ViewWeights:
        """Return what views count before labels say anything; both scalings count alike.

        Classes: the graph, with some of the walk; where linked nodes are unlike, own features and
        the neighbors' in its place; where features are noise, or there are none, the place on
        the graph alone.
        Values: the graph, and for tables sums and distances of columns too.
        """
        alike, unlike = homophily.alike, 1 - homophily.alike
        parts = {
            "graph": alike,
            "features": unlike / 2,
            "neighbors": unlike / 2,
            "walk": WALK_SHARE * alike + WALK_SHARE_UNLIKE * unlike,
        }
        if not homophily.features_tell:
            parts = {"graph" if nodes.features is None else "hubs": 1.0, "walk": WALK_SHARE_ALONE}
        if nodes.from_features:
            parts = {"graph": 1.0}
        if of_values:
            of_columns = 1.0 if nodes.from_features else 0.0
            parts = {"graph": 1.0, "linear": of_columns, "rbf": of_columns}
        raw = {name: parts.get(name.removeprefix(STANDARDIZED), 0.0) for name in views}
        total = sum(raw.values())
        if not total:
            return {views[0]: 1.0}
        return {name: part / total for name, part in raw.items() if part}

    def is_smoother(self, view: str) -> bool:
        """Tell whether a view is a smoothing kernel: the walk is."""
        return view_of(view).is_smoother

    def inputs(self, nodes: NodeInputs, context: Context) -> BroadInputs:
        """Return the inputs of the graph's view."""
        assert isinstance(nodes, Nodes)  # rows of joined nodes come from :meth:`joined_inputs`
        return self.view_inputs("graph", nodes, context)

    def view_inputs(self, view: str, nodes: Nodes, context: Context) -> BroadInputs:
        """Return the inputs of a view, by one of the names that :meth:`views` gives."""
        chosen = view_of(view)
        described = chosen.describe(chosen.seen(nodes), self, context)
        if chosen.is_smoother:
            return BroadInputs(described, None, chosen, context)
        informed = described.informed
        by_rows = informed is None and nodes.features is None and not chosen.squared
        sample = None if by_rows else self.landmarks(nodes.keys(self.seed), informed)
        landmarks = chosen.landmarks(len(nodes), sample, self)
        return BroadInputs(described, landmarks, chosen, context)

    def glimpse(self, view: str, nodes: Nodes, few: Integers, context: Context) -> Seen | None:
        """Return the graph's view of few nodes, where the diffused rows of all nodes are large."""
        chosen = view_of(view)
        seen = nodes.standardized if chosen.standardized else nodes
        if chosen.name != "graph" or seen is None or not diffusion_is_large(seen, context):
            return None
        landmarks = self.landmarks(nodes.keys(self.seed))
        if landmarks is None:
            return None
        field = np.union1d(landmarks, few)
        known = rows_diffused_at(field, seen, self.seed, context)
        inputs = BroadInputs(known, np.searchsorted(field, landmarks), chosen, context)
        return Seen(self.covariance(inputs), np.searchsorted(field, few))

    def covariance(self, inputs: BroadInputs) -> Any:
        """Return δ_W times the mean over sets of rows, and 1 within small components."""
        if inputs.view.is_smoother:
            return inputs.described
        parts = [self._of_rows(rows, inputs) for rows in inputs.described.rows]
        return DenseLayer(self._with_groups(parts, inputs), self.weight_variance)

    def _of_rows(self, rows: Rows, inputs: BroadInputs) -> Covariance:
        """Return the covariance of one set of rows, of finite rank where there are landmarks."""
        k = inputs.view.kernel(rows, self, inputs.context)
        if inputs.view.squared:
            return Square(k, inputs.landmarks)
        if inputs.landmarks is None or (k.rank is not None and k.rank <= len(inputs.landmarks)):
            return k
        return Nystrom(k, inputs.landmarks, inputs.whitening)

    def whitening(self, inputs: BroadInputs) -> Array | None:
        """Return L⁻ᵀ of the landmarks by which a view is told, None of one without."""
        k = self._of_rows(inputs.described.rows[0], inputs)
        return k.whitening if isinstance(k, Nystrom) else None

    def _with_groups(self, parts: list[Covariance], inputs: BroadInputs) -> Covariance:
        """Return the mean of covariances, and 1 within each small component, where they are 0."""
        mean = parts[0] if len(parts) == 1 else Mix(parts)
        groups = inputs.described.groups
        if groups is None:
            return mean
        rows = StoredRows.directions_of(groups, inputs.context.dtype)
        within = Features(InnerProduct(), rows, inputs.context)
        return Mix([mean, within], [1.0, 1.0])

    def approximations(self, inputs: BroadInputs) -> tuple[str, ...]:
        """Return that squares or views run over landmarks, and what else is not exact."""
        if inputs.landmarks is None:
            return tuple(inputs.described.approximations)
        what = "squares over" if inputs.view.squared else "views by"
        return (*inputs.described.approximations, f"{what} {len(inputs.landmarks):,} landmarks")

    def planning(self, inputs: BroadInputs) -> Covariance:
        """Return k of the farthest teleport, not squared.

        The square sees few directions, which a handful of labels exhausts; where to begin is seen
        better in all of them.
        """
        farthest = self.layers(inputs.described.rows[0], inputs.context)
        return self._with_groups([farthest], inputs)

    def typical_nodes(self, keys: Array) -> Integers:
        """Return the landmarks; of a small graph all nodes of which something is known."""
        found = self.landmarks(keys)
        return np.flatnonzero(keys if keys.any() else keys == 0) if found is None else found

    def landmarks(self, keys: Array, informed: Integers | None = None) -> Integers | None:
        """Return the nodes over which squares run, of those that are informed; None for all."""
        if len(keys) <= self.exact_nodes:
            return None
        n_known = np.count_nonzero(keys) if informed is None else len(informed)
        most = self.exact_nodes if n_known <= self.exact_nodes else self.n_landmarks
        return spread_nodes(keys, most, informed)

    def lasting(self, inputs: BroadInputs, nodes: Nodes, labelled: Integers) -> Integers:
        """Return landmarks and labelled nodes, of which all joins are made."""
        if inputs.landmarks is None:
            return np.arange(len(nodes))
        known = np.union1d(inputs.landmarks, labelled)
        # Views other than the graph's may have landmarks of their own.
        others = self.landmarks(nodes.keys(self.seed))
        return known if others is None else np.union1d(known, others)

    def lasting_inputs(
        self, inputs: BroadInputs, nodes: Nodes, known: Integers, context: Context
    ) -> BroadInputs:
        """Return the rows of some fitted nodes as they are, to which new ones are added."""
        if inputs.view.is_smoother:
            return inputs._replace(context=context)
        seen = inputs.view.seen(nodes)
        nobody = seen.joined(None, None if seen.features is None else seen.features[:0], 0)
        described = inputs.described.joined(nobody, known, context)
        found = self.known_inputs(inputs, known, described, context)
        return found._replace(whitening=self.whitening(found))

    def known_inputs(
        self, inputs: BroadInputs, known: Integers, described: Any, context: Context
    ) -> BroadInputs:
        """Return the inputs of known nodes, landmarks among them, by what describes these."""
        landmarks = known if inputs.landmarks is None else inputs.landmarks
        is_told = inputs.landmarks is not None or inputs.view.squared
        places = np.searchsorted(known, landmarks) if is_told else None
        return BroadInputs(described, places, inputs.view, context)

    def added_inputs(
        self, inputs: BroadInputs, lasting: BroadInputs, joined: JoinedNodes, known: Integers
    ) -> BroadInputs:
        """Return the rows of the lasting nodes, followed by those that follow for new nodes."""
        seen = inputs.view.seen(joined)
        if inputs.view.is_smoother:
            return inputs._replace(described=inputs.described.joined(seen, known, lasting.context))
        new = inputs.described.joined(seen, known[:0], lasting.context)
        return lasting._replace(described=lasting.described.followed_by(new))

    def sample(self, nodes: Nodes, width: int, rng: np.random.Generator) -> Array:
        """Return Γ with k_a made of the activations of a random network of finite width."""
        layers = RandomLayers(replace(self, weight_variance=1.0), width, rng)
        squares = []
        for rows in self.inputs(nodes, Context()).described.rows:
            unit, _ = rows.take(None)
            hidden = rows_with_kernel(base_kernel_from(self.base_kernel), unit)
            for layer in range(self.depth - 1):
                hidden = layers.activate(layers.dense(hidden) if layer else layers.input(unit))
            k = (1 / width if self.depth > 1 else 1.0) * hidden @ hidden.T
            landmarks = self.landmarks(nodes.keys(self.seed))
            square = k @ k.T if landmarks is None else k[:, landmarks] @ k[landmarks]
            inverse = inverse_or_zero(np.sqrt(np.diagonal(square)))
            squares.append(square * np.outer(inverse, inverse))
        return np.asarray(self.weight_variance * np.mean(squares, axis=0))

    def layers(self, rows: Rows, context: Context) -> Covariance:
        """Return k: the covariance of the last hidden layer."""
        leaf = Features(base_kernel_from(self.base_kernel), rows, context)
        return layers(leaf, self._layer, self.depth - 1)

    def _layer(self, number: int, below: Covariance) -> Covariance:
        before = DenseLayer(below, bias_variance=self.bias_variance)
        return Activate(before, activation_from(self.activation))


register("broad", Broad)
