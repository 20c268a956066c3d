r"""*broad*: a network that looks near and far, and judges nodes by what they are alike to.

For each of three reaches a, features diffuse by personalised PageRank from rows of length
:math:`\tilde d^{-1/2}`, so that nodes with many links do not drown the others, pass an infinitely
wide ReLU layer on their directions, and the covariance is squared over all nodes and scaled to
unit variance; their mean is Γ:

.. math::
    Z_a = \mathrm{PageRank}_a(\hat A)\, \tilde D^{-1/2} \bar X, \qquad
    k_a = \hat\kappa(\cos(Z_a, Z_a)), \qquad
    \Gamma = \delta_W\, \tfrac13 \sum_a \mathrm{unit}(k_a k_a)

where the rows of :math:`\bar X` have length 1. On larger graphs the square runs over a seeded
sample of landmarks, so that cost stays linear in N.

Where neighbours are unlike each other the graph misleads. The same covariance of the nodes without
their links, k k on :math:`\bar X` alone, is therefore a second view, to be mixed in or to take
over if leave-one-out says so. On larger graphs without features the second view is k of
PageRanks to hubs. Further views tell what a node has around it (:mod:`gpgc.models.surroundings`):
k of its own and its neighbours' features side by side, k of its links, and the squared exponential
of degrees (:mod:`gpgc.models.degrees`); beyond 4,096 nodes by what landmarks tell of them, so that
their rank is finite. What is too large to diffuse is projected (:mod:`gpgc.models.projection`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.errors import InputError
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
    SquaredExponential,
    Unit,
    activation_from,
    base_kernel_from,
)
from gpgc.kernels.covariance import inverse_or_zero
from gpgc.kernels.deep import layers
from gpgc.kernels.rows import Rows
from gpgc.models.architecture import (
    GRAPH,
    Architecture,
    Glimpse,
    ViewWeights,
    check_sizes,
    register,
)
from gpgc.models.broad_inputs import (
    AROUND,
    FEATURE_VIEWS,
    FEW_LANDMARKS,
    FORMS,
    NEIGHBOUR_NOISE,
    SECOND_WEIGHTS,
    BroadInputs,
    landmark_phrases,
)
from gpgc.models.degrees import DEGREE_SCALE
from gpgc.models.described import (
    Description,
    DiffusedFeatures,
    KnownRows,
    OwnFeatures,
    diffusion_is_large,
    rows_diffused_at,
    unit_rows,
)
from gpgc.models.finite import random_layer, rows_with_kernel
from gpgc.models.landmarks import landmarks_by
from gpgc.models.spectral import Eigenvectors, Hubs, one_hot_is_cheap

REACHES = (0.05, 0.1, 0.3)
"""Teleports of the PageRanks, far to near."""

STEPS = 7
"""Degree of the polynomials that diffuse features (:mod:`gpgc.kernels.pageranks`).

As good as twenty powers: accuracy within .2 points and log loss within .006 on Cora, Citeseer and
Pubmed with 2 and 20 labels a class, over paired draws."""

PLACE_STEPS = 12
"""The same where the graph is all that is known, and a node is told by how far it is from others.

Zones of a power grid, 2 and 20 labels a class, against twenty powers: 7 steps lose 10 and 4 points,
12 gain 1.1 and 1.7; Cora and Citeseer without features gain .1 to 1.0. Rounding grows with the
degree: the powers of 12 steps sum to 157 in absolute value, those of 20 to 20,000."""


@dataclass(frozen=True, kw_only=True)
class Broad(Architecture):
    """The default model; formula above.

    Parameters
    ----------
    exact_nodes : int, default 2000
        Number of nodes up to which every node is a landmark.
    n_landmarks : int, default 1000
        Landmarks of larger graphs, spread over all kinds of nodes
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
    scales_rows: ClassVar[bool] = True

    exact_nodes: int = 2000
    n_landmarks: int = 1000
    one_hot_nodes: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        check_sizes(self, exact_nodes=0, n_landmarks=1, one_hot_nodes=0)
        if self.kernel != "nngp":
            raise InputError(
                f"kernel must be 'nngp' for model='broad', whose square over nodes is no layer of "
                f"weights, got {self.kernel!r}"
            )

    def usual_noise(self, nodes: Nodes) -> float:
        """Return less noise where the links are nearest neighbours, which are seldom wrong."""
        return NEIGHBOUR_NOISE if nodes.from_features else self.relative_noise

    def inputs(self, nodes: NodeInputs, context: Context) -> BroadInputs:
        """Return rows that describe the nodes: diffused features, or what stands for them.

        Without links, all reaches see the features as they are.
        """
        described, informed = self._describe(nodes, context), None
        if isinstance(described, Eigenvectors):
            informed = np.flatnonzero(described.rows[0].lengths_of_all())
        landmarks = self.landmarks(nodes, informed)
        return BroadInputs(described, landmarks, "squared", context)

    def _describe(self, nodes: NodeInputs, context: Context) -> Description:
        if nodes.features is None and not self._has_one_hot_rows(nodes.propagation):
            keys = nodes.keys(self.seed)
            return Eigenvectors(nodes.propagation, keys, REACHES, self.seed, context)
        if nodes.features is not None and not nodes.has_links:
            return OwnFeatures(nodes.features, context)
        steps = PLACE_STEPS if nodes.features is None else STEPS
        return DiffusedFeatures(nodes, REACHES, steps, self.seed, context)

    def _has_one_hot_rows(self, propagation: sp.csr_array) -> bool:
        """Tell whether a graph without features is small enough to diffuse one-hot rows."""
        n_nodes = propagation.shape[0]
        is_cheap = one_hot_is_cheap(propagation, PLACE_STEPS) or n_nodes <= self.exact_nodes
        return bool(n_nodes <= self.one_hot_nodes and is_cheap)

    def view_inputs(self, view: str, nodes: Nodes, context: Context) -> BroadInputs:
        """Return the inputs of a view, by one of the names that :meth:`views` gives."""
        if view == "hubs":
            hubs = Hubs(nodes.propagation, nodes.keys(self.seed), PLACE_STEPS, context)
            return BroadInputs(hubs, None, FORMS[view], context)
        if view in AROUND and (view != "neighbours" or nodes.features is not None):
            landmarks = self.view_landmarks(view, len(nodes), self.landmarks(nodes))
            described = AROUND[view](nodes, context, self.seed)
            return BroadInputs(described, landmarks, FORMS[view], context)
        if view == "features" and nodes.features is not None:
            own = self._describe(nodes.alone(), context)
            return BroadInputs(own, self.landmarks(nodes), FORMS[view], context)
        inputs: BroadInputs = super().view_inputs(view, nodes, context)
        return inputs

    def glimpse(self, view: str, nodes: Nodes, few: Integers, context: Context) -> Glimpse | None:
        """Return the graph's view of few nodes, where the diffused rows of all nodes are large."""
        if view != "graph" or not diffusion_is_large(nodes, context):
            return None
        landmarks = self.landmarks(nodes)
        if landmarks is None:
            return None
        field = np.union1d(landmarks, few)
        known = KnownRows(rows_diffused_at(field, nodes, REACHES, STEPS, self.seed, context))
        places = np.searchsorted(field, landmarks), np.searchsorted(field, few)
        return Glimpse(BroadInputs(known, places[0], "squared", context), places[1])

    def view_landmarks(self, view: str, n_nodes: int, sample: Integers | None) -> Integers | None:
        """Return those of the landmarks by which a view is told; None for all nodes."""
        if FORMS[view] == "squared" or sample is None:
            return sample
        if n_nodes <= self.one_hot_nodes:
            return None
        return sample[::FEW_LANDMARKS] if FORMS[view] == "degrees" else sample

    def covariance(self, inputs: BroadInputs) -> Covariance:
        """Return δ_W times the mean over sets of rows, and 1 within small components."""
        parts = [self._covariance(rows, inputs) for rows in inputs.described.rows]
        mean = self._with_groups(parts[0] if len(parts) == 1 else Mix(parts), inputs)
        return DenseLayer(mean, self.weight_variance)

    def _covariance(self, rows: Rows, inputs: BroadInputs) -> Covariance:
        """Return the covariance of one set of rows, of finite rank where there are landmarks."""
        if inputs.form == "squared":
            return Unit(Square(self._layers(rows, inputs.context), inputs.landmarks))
        exact = self._exact(rows, inputs)
        if inputs.landmarks is None:
            return exact
        return Nystrom(exact, inputs.landmarks, inputs.whitening)

    def _exact(self, rows: Rows, inputs: BroadInputs) -> Covariance:
        """Return k itself, or the squared exponential of degrees."""
        if inputs.form == "layer":
            return self._layers(rows, inputs.context)
        return Features(SquaredExponential(DEGREE_SCALE), rows, inputs.context)

    def whitening(self, inputs: BroadInputs) -> Array | None:
        """Return L⁻ᵀ of the landmarks by which a view is told, None of one without."""
        if inputs.form == "squared" or inputs.landmarks is None:
            return None
        return Nystrom(self._exact(inputs.described.rows[0], inputs), inputs.landmarks).whitening

    def _with_groups(self, covariance: Covariance, inputs: BroadInputs) -> Covariance:
        """Return the covariance, and 1 within each small component, where it is 0."""
        groups = inputs.described.groups
        if groups is None:
            return covariance
        within = Unit(Features.of(InnerProduct(), unit_rows(groups), inputs.context))
        return Mix([covariance, within], [1.0, 1.0])

    def approximations(self, inputs: BroadInputs) -> tuple[str, ...]:
        """Return that squares or views run over landmarks, and what else is not exact."""
        said = landmark_phrases(inputs.form, inputs.landmarks)
        return (*inputs.described.approximations, *said)

    def planning(self, inputs: BroadInputs) -> Covariance:
        """Return k of the farthest reach, not squared.

        The square sees few directions, which a handful of labels exhausts; where to begin is seen
        better in all of them.
        """
        farthest = self._layers(inputs.described.rows[0], inputs.context)
        return self._with_groups(farthest, inputs)

    def views(self, nodes: Nodes) -> tuple[str, ...]:
        """Return the graph first, then what else may be mixed in or take over."""
        if not nodes.has_links:
            return ("graph",)
        if nodes.features is not None:
            return FEATURE_VIEWS
        hubs = () if self._has_one_hot_rows(nodes.propagation) else ("hubs",)
        return ("graph", *hubs, "structure", "degrees")

    def view_weights(self, nodes: Nodes) -> tuple[ViewWeights, ...]:
        """Return the graph alone first, then more and more of the features, or of hubs."""
        seconds = [view for view in self.views(nodes) if view in ("features", "hubs")]
        return (GRAPH, *({"graph": 1 - w, view: w} for view in seconds for w in SECOND_WEIGHTS))

    def landmarks(self, nodes: NodeInputs, informed: Integers | None = None) -> Integers | None:
        """Return the nodes over which squares run, of those that are informed; None for all."""
        if nodes.propagation.shape[0] <= self.exact_nodes:
            return None
        return self.landmarks_by(nodes.keys(self.seed), informed)

    def landmarks_by(self, keys: Array, informed: Integers | None = None) -> Integers | None:
        """Return the same for nodes of which the keys are known."""
        if len(keys) <= self.exact_nodes:
            return None
        n_known = np.count_nonzero(keys) if informed is None else len(informed)
        most = self.exact_nodes if n_known <= self.exact_nodes else self.n_landmarks
        return landmarks_by(keys, most, informed)

    def field(self, inputs: BroadInputs, joined: JoinedNodes, labelled: Integers) -> Integers:
        """Return landmarks, labelled and new nodes."""
        if inputs.landmarks is None:
            known = np.arange(len(joined.fitted))
        else:
            known = np.union1d(inputs.landmarks, labelled)
            others = self.landmarks(joined.fitted)  # of views other than the graph's
            known = known if others is None else np.union1d(known, others)
        return np.concatenate([known, joined.new])

    def joined_inputs(
        self, inputs: BroadInputs, joined: JoinedNodes, field: Integers, context: Context
    ) -> BroadInputs:
        """Return the rows of the fitted nodes as they are, and those that follow for new nodes."""
        known = field[: len(field) - len(joined.new)]
        landmarks = None
        if inputs.landmarks is not None:
            landmarks = np.searchsorted(known, inputs.landmarks)
        elif inputs.form == "squared":
            landmarks = np.arange(len(known))
        described = inputs.described.joined(joined, known, context)
        return BroadInputs(described, landmarks, inputs.form, context)

    def sample(self, nodes: Nodes, width: int, rng: np.random.Generator) -> Array:
        """Return Γ with k_a made of the activations of a random network of finite width."""
        squares = []
        for rows in self.inputs(nodes, Context()).described.rows:
            hidden = rows_with_kernel(base_kernel_from(self.base_kernel), rows.stored().directions)
            for layer in range(self.depth - 1):
                variance = 1 / width if layer else 1.0
                hidden = random_layer(hidden, width, variance, self.bias_variance, rng)
                hidden = activation_from(self.activation)(hidden)
            k = (1 / width if self.depth > 1 else 1.0) * hidden @ hidden.T
            landmarks = self.landmarks(nodes)
            square = k @ k.T if landmarks is None else k[:, landmarks] @ k[landmarks]
            inverse = inverse_or_zero(np.sqrt(np.diagonal(square)))
            squares.append(square * np.outer(inverse, inverse))
        return np.asarray(self.weight_variance * np.mean(squares, axis=0))

    def _layers(self, rows: Rows, context: Context) -> Covariance:
        """Return k: the covariance of the last hidden layer."""
        leaf = Features(base_kernel_from(self.base_kernel), rows, context)
        return layers(leaf, self._layer, self.depth - 1)

    def _layer(self, number: int, below: Covariance) -> Covariance:
        before = DenseLayer(below, bias_variance=self.bias_variance)
        return Activate(before, activation_from(self.activation))


register("broad", Broad)
