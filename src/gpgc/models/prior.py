"""An architecture on nodes: the covariance before any label is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.graph.nodes import JoinedNodes, Nodes
from gpgc.kernels import Covariance, Mix
from gpgc.models.architecture import Architecture, ViewWeights
from gpgc.models.likeness import alikeness, likeness_of
from gpgc.models.magnitudes import check_magnitudes


class JoinedCovariance(NamedTuple):
    """A covariance that holds new and labelled nodes, and where each are in it."""

    covariance: Covariance
    new: Integers
    labelled: Integers


class Seen(NamedTuple):
    """A covariance that holds some nodes, maybe few others, and where they are in it."""

    covariance: Covariance
    nodes: Integers


class Prior:
    """An architecture on nodes, immutable: what the labels condition.

    The nodes are seen through *views*: ``"graph"``, with their links, ``"features"``, each node by
    its own features alone, and what else an architecture offers. A covariance is a weighted sum
    of views.

    Parameters
    ----------
    architecture : Architecture
        How nodes become a covariance.
    nodes : Nodes
        The graph with its features.
    context : Context, optional
        How arithmetic is done; float64 on all cores when not given.
    inputs : mapping, optional
        Name of a view → inputs that another architecture of the same kind computed for these
        nodes already; see :meth:`variant`.
    views : tuple of str, optional
        Names of the views among which labels may choose, the usual one first; all that the
        architecture offers when not given.
    likeness : float, optional
        Of linked nodes, where it is known; see :attr:`likeness`.
    keys : array of shape (N,), optional
        By which nodes are sampled, where they are known; see :attr:`keys`.

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import GCN
    >>> Prior(GCN(), Nodes(as_adjacency(([0], [1])))).covariance().dense().round(3)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(
        self,
        architecture: Architecture,
        nodes: Nodes,
        context: Context | None = None,
        inputs: Mapping[str, Any] | None = None,
        views: tuple[str, ...] | None = None,
        likeness: float | None = None,
        keys: Array | None = None,
    ) -> None:
        self.architecture, self.nodes, self.context = architecture, nodes, context or Context()
        check_magnitudes(architecture, nodes.propagation, nodes.features, self.context.dtype)
        self._inputs = dict(inputs or {})
        self.views = architecture.views(nodes) if views is None else views
        self._views: dict[str, Covariance] = {}
        self._likeness, self._keys = likeness, keys

    def __repr__(self) -> str:
        return f"{self.architecture!r} on {len(self.nodes)} nodes"

    @property
    def view_weights(self) -> tuple[ViewWeights, ...]:
        """Weights of views that are worth a try, the usual ones first."""
        return self.architecture.view_weights(self.nodes)

    @property
    def likeness(self) -> float | None:
        """How alike the features of linked nodes are (:mod:`gpgc.models.likeness`)."""
        if self._likeness is None:
            self._likeness = likeness_of(self.nodes, self.architecture.seed)
        return self._likeness

    @property
    def keys(self) -> Array:
        """Numbers (N,) by which nodes are sampled (:mod:`gpgc.graph.node_keys`)."""
        if self._keys is None:
            return self.nodes.keys(self.architecture.seed)
        return self._keys

    @property
    def usual_noise(self) -> float:
        """Noise that is usual on these nodes, relative to their prior variance."""
        return self.architecture.usual_noise(self.nodes)

    def view(self, name: str) -> Covariance:
        """Return the covariance of one view by its name."""
        if name not in self._views:
            self._views[name] = self.architecture.covariance(self._inputs_of(name))
        return self._views[name]

    def seen_at(self, name: str, few: Integers) -> Seen:
        """Return the covariance of one view that tells of few nodes.

        Where linked nodes are unlike, so that the graph's view may not be taken, and its rows of
        all nodes are large, they are computed for few nodes and landmarks alone.

        Parameters
        ----------
        name : str
            Of the view.
        few : int array of shape (n,)
            Nodes.
        """
        if name not in self._inputs and alikeness(self.likeness, unknown=1.0) < 0.5:
            glimpse = self.architecture.glimpse(name, self.nodes, few, self.context)
            if glimpse is not None:
                return Seen(self.architecture.covariance(glimpse.inputs), glimpse.nodes)
        return Seen(self.view(name), few)

    def covariance(self, weights: ViewWeights | None = None) -> Covariance:
        """Return Γ of all nodes, by default with the usual weights of the views."""
        chosen = self.view_weights[0] if weights is None else weights
        return mixed([(weight, self.view(name)) for name, weight in chosen.items() if weight])

    def approximations(self, weights: ViewWeights | None = None) -> tuple[str, ...]:
        """Return what is not exact in the views that have a weight, a phrase each."""
        chosen = self.view_weights[0] if weights is None else weights
        phrases = [
            phrase
            for name, weight in chosen.items()
            if weight
            for phrase in self.architecture.approximations(self._inputs_of(name))
        ]
        return tuple(dict.fromkeys(phrases))

    def keep(self, weights: ViewWeights) -> None:
        """Let go of what was computed for views without a weight, where memory is limited.

        It is computed again if it is asked for.
        """
        if self.context.memory.limit is not None:
            kept = {self.views[0], *(name for name, weight in weights.items() if weight)}
            for computed in (self._inputs, self._views):
                for name in computed.keys() - kept:
                    del computed[name]

    def planning(self) -> Covariance:
        """Return the covariance by which it is planned what to label, before any label."""
        return self.architecture.planning(self._inputs_of("graph"))

    def variant(self, architecture: Architecture) -> Prior:
        """Return another architecture of the same kind on the same nodes, with shared inputs."""
        inputs, views = self._inputs, self.views
        known = views, self._likeness, self._keys
        return Prior(architecture, self.nodes, self.context, inputs, *known)

    def joined(
        self, nodes: JoinedNodes, labelled: Integers, weights: ViewWeights
    ) -> JoinedCovariance:
        """Return a covariance that holds new and labelled nodes.

        Parameters
        ----------
        nodes : JoinedNodes
            The fitted nodes with the new ones.
        labelled : int array of shape (D,)
            The labelled nodes.
        weights : mapping
            Of the views.
        """
        # float64 whatever the fit was computed in: products of float32 differ in their last
        # digits with the number of rows, and no answer may depend on which others join.
        context = replace(self.context, dtype=np.dtype(np.float64))
        # Any view has the landmarks; a graph's view that has no weight is not computed for them.
        has_graph = weights.get("graph") or self.nodes.features is None
        first = "graph" if has_graph else next(name for name, weight in weights.items() if weight)
        field = self.architecture.field(self._inputs_of(first), nodes, labelled)
        parts = []
        for name, weight in weights.items():
            if weight:
                seen = nodes.alone() if name == "features" else nodes
                inputs = self._inputs_of(name)
                there = self.architecture.joined_inputs(inputs, seen, field, context)
                parts.append((weight, self.architecture.covariance(there)))
        new, known = np.searchsorted(field, nodes.new), np.searchsorted(field, labelled)
        return JoinedCovariance(mixed(parts), new, known)

    def _inputs_of(self, view: str) -> Any:
        if view not in self._inputs:
            self._inputs[view] = self.architecture.view_inputs(view, self.nodes, self.context)
        return self._inputs[view]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        return self.__dict__ | {"_inputs": {}, "_views": {}}


def mixed(parts: list[tuple[float, Covariance]]) -> Covariance:
    """Return the weighted sum of covariances; one of weight 1 as it is."""
    if len(parts) == 1 and parts[0][0] == 1:
        return parts[0][1]
    return Mix([part for _, part in parts], [weight for weight, _ in parts])
