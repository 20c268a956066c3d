"""What networks of layers share: their inputs, how far they reach, their finite network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.graph.node_keys import spread_nodes
from gpgc.graph.nodes import JoinedNodes, NodeInputs, Nodes
from gpgc.kernels import (
    Activate,
    Covariance,
    DenseLayer,
    Features,
    activation_from,
    base_kernel_from,
    tangent,
)
from gpgc.kernels.deep import Step, layers
from gpgc.kernels.rows import Rows, StoredRows, propagated_rows
from gpgc.models.architecture import Architecture
from gpgc.models.finite import RandomLayers


class NetworkInputs(NamedTuple):
    """Nodes, how arithmetic is done, and which of all fitted and joined nodes they are.

    ``field`` None stands for all ``n_fitted`` nodes; ``keys`` gives those of the fitted nodes
    (:mod:`gpgc.graph.node_keys`) by a seed.
    """

    nodes: NodeInputs
    context: Context
    n_fitted: int
    field: Integers | None
    keys: Callable[[int], Array]


@dataclass(frozen=True, kw_only=True)
class Network(Architecture):
    """Layers that end in Γ, or in the tangent kernel Θ.

    A subclass gives ``hops``, ``layers`` (its covariance as an expression of the algebra) and
    ``network`` (the same with explicit weights).

    Parameters
    ----------
    exact_nodes : int, default 6000
        Number of nodes up to which a network that reaches farther than the neighbors of the
        labels is exact, by N × N matrices. On larger graphs each of its layers is a Nyström
        approximation; ``approximations_`` says so.
    n_landmarks : int, default 1000
        Of the Nyström approximation, spread over all kinds of nodes.
    """

    exact_nodes: int = 6000
    n_landmarks: int = 1000

    @abstractmethod
    def layers(self, inputs: NetworkInputs) -> Covariance:
        """Return Γ of the outputs as an expression of the algebra."""

    @abstractmethod
    def network(self, nodes: Nodes, layers: RandomLayers) -> Any:
        """Return the outputs (N, width) of one network of finite width, layer by layer."""

    @property
    def reaches_far(self) -> bool:
        """Whether the labels' columns need more than the columns of their neighbors."""
        return self.hops > 1

    def inputs(self, nodes: NodeInputs, context: Context) -> NetworkInputs:
        """Return the nodes as they are, which no parameter changes."""
        return NetworkInputs(nodes, context, nodes.propagation.shape[0], None, nodes.keys)

    def covariance(self, inputs: NetworkInputs) -> Covariance:
        """Return Γ, or Θ with ``kernel="ntk"``."""
        gamma = self.layers(inputs)
        return tangent(gamma) if self.kernel == "ntk" else gamma

    def sample(self, nodes: Nodes, width: int, rng: np.random.Generator) -> Array:
        """Return the covariance of the outputs of one random network, over its units."""
        outputs = np.asarray(self.network(nodes, RandomLayers(self, width, rng)))
        return np.asarray(outputs @ outputs.T / width)

    def approximations(self, inputs: NetworkInputs) -> tuple[str, ...]:
        """Return that layers are approximated over landmarks, where they are."""
        landmarks = self.landmarks(inputs)
        return () if landmarks is None else (f"Nyström layers over {len(landmarks):,} landmarks",)

    def landmarks(self, inputs: NetworkInputs) -> Integers | None:
        """Return the landmarks among the nodes of the inputs; None where all is exact."""
        if not self.reaches_far or inputs.n_fitted <= self.exact_nodes:
            return None
        keys = inputs.keys(self.seed)
        # Nodes of key 0 are alike in everything, and with a bias they are correlated with others.
        kinds = np.union1d(np.flatnonzero(keys), np.flatnonzero(keys == 0)[:1])
        drawn = spread_nodes(keys, self.n_landmarks, kinds)
        return drawn if inputs.field is None else np.searchsorted(inputs.field, drawn)

    def field(self, inputs: NetworkInputs, joined: JoinedNodes, labelled: Integers) -> Integers:
        """Return what new and labelled nodes, and landmarks, see."""
        landmarks = self.landmarks(inputs)
        wanted = np.union1d(labelled, joined.new)
        if landmarks is not None:
            wanted = np.union1d(wanted, landmarks)
        return joined.field(wanted, self.hops)

    def joined_inputs(
        self, inputs: NetworkInputs, joined: JoinedNodes, field: Integers, context: Context
    ) -> NetworkInputs:
        """Return the nodes of a field, of which some are new."""
        return NetworkInputs(joined.restricted(field), context, inputs.n_fitted, field, inputs.keys)

    def repeated(
        self, inputs: NetworkInputs, first: Covariance, step: Step, n_layers: int
    ) -> Covariance:
        """Return a step taken several times: by columns, by N × N matrices, or by landmarks."""
        return layers(first, step, n_layers, self.reaches_far, self.landmarks(inputs))

    def leaf(self, rows: Rows, context: Context) -> Covariance:
        """Return K_θ of rows."""
        return Features(base_kernel_from(self.base_kernel), rows, context)

    def dense(self, below: Covariance, factor: float = 1.0) -> Covariance:
        """Return σ_b² + factor · δ_W K."""
        return DenseLayer(below, factor * self.weight_variance, self.bias_variance)

    def activate(self, below: Covariance) -> Activate:
        """Return the covariance after the activation."""
        return Activate(below, activation_from(self.activation))


def own_rows(inputs: NetworkInputs) -> Rows:
    """Return the rows of X of the nodes themselves; one-hot rows where there are no features."""
    nodes = inputs.nodes
    every = features_or_one_hot(nodes)
    return StoredRows.of(every[nodes.own], inputs.context.dtype)


def aggregated_rows(matrix: sp.csr_array, inputs: NetworkInputs) -> Rows:
    """Return the rows of S X for a matrix S (n, N)."""
    features = inputs.nodes.features
    if features is None:
        return StoredRows.of(matrix, inputs.context.dtype)
    return propagated_rows(matrix, features, inputs.context)


def features_or_one_hot(nodes: NodeInputs) -> Any:
    """Return X of all nodes, or the identity where there are no features."""
    if nodes.features is not None:
        return nodes.features
    return sp.eye_array(nodes.incoming.shape[1], format="csr")
