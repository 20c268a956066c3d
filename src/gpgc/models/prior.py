"""An architecture on nodes: the covariance before any label is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph.nodes import JoinedNodes, Nodes
from gpgc.kernels import Covariance
from gpgc.models.architecture import Architecture, Seen
from gpgc.models.homophily import Homophily, homophily_of

MARGIN = 1e6
"""Factor that is kept between what occurs and the ends of the number format."""

SEEN_BESIDE_BIAS = 100
"""Roundings of the bias that the variance of the features must be, to be seen beside it."""


class JoinedCovariances(NamedTuple):
    """Covariances by view that hold new and labelled nodes, and where each are in them."""

    covariances: Mapping[str, Any]
    new: Integers
    labelled: Integers


class Prior:
    """An architecture on nodes, immutable: what the labels condition.

    The nodes are seen through *views*: ``"graph"``, with their links, ``"features"``, each node by
    its own features alone, and what else an architecture offers. Each has a covariance of its own,
    or a smoothing kernel.

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import GCN
    >>> Prior(GCN(), Nodes(as_adjacency(([0], [1])))).covariance().dense().round(3)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(
        self, architecture: Architecture, nodes: Nodes, context: Context | None = None
    ) -> None:
        self.architecture, self.nodes, self.context = architecture, nodes, context or Context()
        check_magnitudes(architecture, nodes.propagation, nodes.features, self.context.dtype)
        self.views = architecture.views(nodes)  # among which labels may choose, the usual one first
        self.inputs: dict[str, Any] = {}  # by view, of which they were computed
        self._views: dict[str, Any] = {}
        self._lasting_key: tuple[bytes, tuple[str, ...]] | None = None

    def __repr__(self) -> str:
        return f"{self.architecture!r} on {len(self.nodes)} nodes"

    def usual_shares(self, of_values: bool = False) -> Mapping[str, float]:
        """Return what views count before labels say anything, of those that are offered."""
        if len(self.views) == 1:
            return {self.views[0]: 1.0}
        return self.architecture.usual_shares(self.views, self.nodes, self.homophily, of_values)

    @cached_property
    def homophily(self) -> Homophily:
        """What features tell of the links (:mod:`gpgc.models.homophily`)."""
        return homophily_of(self.nodes, self.architecture.seed)

    @cached_property
    def keys(self) -> Array:
        """Numbers (N,) by which nodes are sampled (:mod:`gpgc.graph.node_keys`)."""
        return self.nodes.keys(self.architecture.seed)

    @cached_property
    def typical_nodes(self) -> Integers:
        """Nodes over which means of views are compared."""
        return self.architecture.typical_nodes(self.keys)

    def is_smoother(self, name: str) -> bool:
        """Tell whether a view is a smoothing kernel and not a covariance."""
        return self.architecture.is_smoother(name)

    def view(self, name: str) -> Any:
        """Return the covariance of a view by its name, or its smoothing kernel."""
        if name not in self._views:
            self._views[name] = self.architecture.covariance(self._inputs_of(name))
        return self._views[name]

    def seen_at(self, name: str, few: Integers) -> Seen:
        """Return the covariance of one view that tells of few nodes.

        Where linked nodes are unlike, so that the graph's view may not be taken, and its rows of
        all nodes are large, they are computed for few nodes and landmarks alone.
        """
        if name not in self.inputs and self.homophily.alike < 0.5:
            glimpse = self.architecture.glimpse(name, self.nodes, few, self.context)
            if glimpse is not None:
                return glimpse
        return Seen(self.view(name), few)

    def covariance(self) -> Covariance:
        """Return Γ of all nodes by the first view, the only one of a network."""
        found: Covariance = self.view(self.views[0])
        return found

    def approximations(self, views: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return what is not exact in some views, the first when not given, a phrase each."""
        names = self.views[:1] if views is None else views
        said = [self.architecture.approximations(self._inputs_of(name)) for name in names]
        return tuple(dict.fromkeys(phrase for phrases in said for phrase in phrases))

    def keep(self, views: Iterable[str]) -> None:
        """Let go of what was computed for other views, where memory is limited.

        It is computed again if it is asked for.
        """
        if self.context.memory_limit is not None:
            kept = {self.views[0], *views}
            for computed in (self.inputs, self._views):
                for name in computed.keys() - kept:
                    del computed[name]

    def mean_of(self, posterior: Any) -> Array:
        """Return the latent means (N, k) of all nodes by a posterior on this prior."""
        return np.asarray(posterior.mean())

    def planning(self) -> Covariance:
        """Return the covariance by which it is planned what to label, before any label."""
        return self.architecture.planning(self._inputs_of("graph"))

    def variant(self, architecture: Architecture) -> Prior:
        """Return another architecture of the same kind on the same nodes, with shared inputs."""
        nodes, other = self.nodes, copy(self)
        check_magnitudes(architecture, nodes.propagation, nodes.features, self.context.dtype)
        other.architecture, other.inputs, other._views = architecture, dict(self.inputs), {}
        other._lasting_key = None
        return other

    def joined(
        self, nodes: JoinedNodes, labelled: Integers, views: Sequence[str]
    ) -> JoinedCovariances:
        """Return covariances that hold new and labelled nodes."""
        # float64 whatever the fit was computed in: products of float32 differ in their last
        # digits with the number of rows, and no answer may depend on which others join.
        context = replace(self.context, dtype=np.dtype(np.float64))
        architecture, known = self.architecture, self._lasting(labelled, views, context)
        covariances: dict[str, Any] = {}
        if known is None:
            field = architecture.field(self._inputs_of(views[0]), nodes, labelled)
        else:
            field = np.concatenate([known, nodes.new])
        for name in views:
            inputs = self._inputs_of(name)
            if known is None:
                there = architecture.joined_inputs(inputs, nodes, field, context)
            else:
                there = architecture.added_inputs(inputs, self._lasting_inputs[name], nodes, known)
            covariances[name] = architecture.covariance(there)
        new, places = np.searchsorted(field, nodes.new), np.searchsorted(field, labelled)
        return JoinedCovariances(covariances, new, places)

    def _lasting(
        self, labelled: Integers, views: Sequence[str], context: Context
    ) -> Integers | None:
        """Return the nodes of which all joins are made, described once for the same labels."""
        key = (labelled.tobytes(), tuple(views))
        if self._lasting_key != key:
            # Any view has the landmarks; a graph's view that is not wanted is not computed for it.
            described = [name for name in views if not self.is_smoother(name)]
            first = described[0] if described and self.nodes.features is not None else "graph"
            self._lasting_key, self._lasting_inputs = key, {}
            self._known = self.architecture.lasting(self._inputs_of(first), self.nodes, labelled)
            if self._known is not None:
                self._lasting_inputs = {
                    name: self.architecture.lasting_inputs(
                        self._inputs_of(name), self.nodes, self._known, context
                    )
                    for name in views
                }
        return self._known

    def _inputs_of(self, view: str) -> Any:
        if view not in self.inputs:
            self.inputs[view] = self.architecture.view_inputs(view, self.nodes, self.context)
        return self.inputs[view]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be computed again."""
        computed: dict[str, Any] = {
            "inputs": {},
            "_views": {},
            "_lasting_key": None,
            "_lasting_inputs": {},
        }
        return self.__dict__ | computed


def check_magnitudes(
    architecture: Architecture, propagation: sp.csr_array, features: Any, dtype: Any
) -> None:
    """Refuse degrees, features and variances that over- or underflow in a number format."""
    kind = np.dtype(dtype)
    limits = np.finfo(kind)
    low, high = float(limits.tiny) * MARGIN, float(limits.max) / MARGIN
    least = float(propagation.diagonal().min(initial=1.0))  # 1 / the largest degree
    if least < low:
        degree = 1 / least if least > 0 else np.inf
        raise InputError(
            f"adjacency must hold weights that add up to at most {1 / low:.0e} at a node in "
            f"{kind}, got {degree:.0e}: divide them by a number"
        )
    values = np.empty(0)
    if features is not None:
        values = features.data if sp.issparse(features) else features
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest and not low**0.5 <= largest <= high**0.5:
        raise InputError(
            f"X must have a largest entry between {low**0.5:.0e} and {high**0.5:.0e} in {kind}, "
            f"whose squares it can hold, got {largest:.0e}: scale X"
        )
    weight, bias = float(architecture.weight_variance), architecture.bias_variance
    n_layers = 1 if architecture.scales_rows else architecture.depth
    power = n_layers * np.log10(weight)
    is_too_small = power < np.log10(low) and (not bias or n_layers == 1)
    if is_too_small or weight < low or power > np.log10(high):
        raise InputError(
            f"weight_variance to the power of depth must lie between {low:.0e} and {high:.0e} in "
            f"{kind}, got {weight:g} to the power of {n_layers}"
        )
    if not bias:
        return
    variance = 1.0  # about what features add to a bias
    if features is not None and not architecture.scales_rows:
        variance = weight
        if architecture.base_kernel == "inner_product" and features.shape[0]:
            squares = np.einsum("i,i->", values.ravel(), values.ravel(), dtype=np.float64)
            variance = float(weight * squares / features.shape[0])
    seen = variance / (SEEN_BESIDE_BIAS * float(limits.eps))
    if bias > seen > 0:
        raise InputError(
            f"bias_variance must be at most {seen:.0e} beside these features, else {kind} "
            f"rounds them away, got {bias:g}"
        )
