r"""The paper's networks *small* and *big*.

.. math::
    \Gamma^{(1)} = \sigma_b^2 + \delta_W K_\theta(\hat A X), \qquad
    \Gamma^{(l)} = \sigma_b^2 + \delta_W P\, \kappa(\Gamma^{(l-1)})\, P^\top

with P = Â for *big* and P = I for *small* (section "GPs with Two-Layer GCNs").
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph.nodes import NodeInputs, Nodes
from gpgc.kernels import (
    Activate,
    Covariance,
    Deep,
    DenseLayer,
    Features,
    Propagate,
    activation_from,
    base_kernel_from,
    tangent,
)
from gpgc.kernels.deep import layers
from gpgc.kernels.rows import Rows, StoredRows, propagated_rows
from gpgc.models.architecture import Architecture, register
from gpgc.models.finite import RandomLayers, rows_with_kernel

MOST_ENTRIES = 10**10
"""Entries of one layer's covariance that a deep network may need."""

STORED_BYTES = 2**29
"""Size of N × N matrices up to which a network of three layers stores them."""


class GCNInputs(NamedTuple):
    """The rows of ÂX, Â among the nodes, and how arithmetic is done."""

    rows: Rows
    propagation: sp.csr_array
    context: Context


@dataclass(frozen=True, kw_only=True)
class GCN(Architecture):
    """The graph convolutional network of the paper.

    Parameters
    ----------
    hidden_propagation : bool, default True
        Whether hidden layers aggregate over the graph (*big*), or only the input does (*small*).

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import Prior
    >>> nodes = Nodes(as_adjacency(([0, 1], [1, 2])), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> Prior(GCN(), nodes).covariance().block([0, 2], [1]).round(4)
    array([[0.6627],
           [0.5504]])
    """

    hidden_propagation: bool = True

    @property
    def hops(self) -> int:
        """One hop for each hidden layer that aggregates."""
        return self.depth - 1 if self.hidden_propagation else 0

    def inputs(self, nodes: NodeInputs, context: Context) -> GCNInputs:
        """Return the rows of ÂX, or of Â itself for one-hot features."""
        if nodes.features is None:
            rows: Rows = StoredRows.of(nodes.incoming, context.dtype)
        else:
            rows = propagated_rows(nodes.incoming, nodes.features, context)
        return GCNInputs(rows, nodes.propagation, context)

    def covariance(self, inputs: GCNInputs) -> Covariance:
        """Return Γ of the last layer, or Θ with ``kernel="ntk"``."""
        kernel = base_kernel_from(self.base_kernel)
        layer: Covariance = Features(kernel, inputs.rows, inputs.context)
        layer = DenseLayer(layer, self.weight_variance, self.bias_variance)
        propagation = inputs.propagation if self.hidden_propagation else None
        # From four layers on the whole graph is reached; with three it depends on the size.
        size, most = Deep.bytes_for(layer.n_nodes, layer.dtype), inputs.context.whole(STORED_BYTES)
        stored = self.hops > 2 or (self.hops == 2 and size <= most)
        gamma = layers(layer, partial(self._layer, propagation), self.depth - 1, stored)
        return tangent(gamma) if self.kernel == "ntk" else gamma

    def _layer(
        self, propagation: sp.csr_array | None, number: int, below: Covariance
    ) -> Covariance:
        """Return σ_b² + δ_W P κ(K) Pᵀ for the layer below, K."""
        layer: Covariance = Activate(below, activation_from(self.activation))
        if propagation is not None:
            layer = Propagate(propagation, layer)
        return DenseLayer(layer, self.weight_variance, self.bias_variance)

    def sample(self, nodes: Nodes, width: int, rng: np.random.Generator) -> Array:
        r"""Return the covariance of the outputs of one random network, given its hidden weights.

        The first weights have variance δ_W, every later one δ_W / width, biases σ_b² (the ReLU is
        scaled by √2, since the 1/π of the paper is twice E[ReLU · ReLU]). With the last hidden
        activations h the outputs have the covariance σ_b² + (δ_W / width) P h hᵀ Pᵀ. For base
        kernels other than the inner product the input is a square root of K_θ(ÂX).
        """
        propagation, layers = nodes.propagation, RandomLayers(self, width, rng)
        rows = propagation if nodes.features is None else propagation @ nodes.features
        hidden, variance = rows_with_kernel(base_kernel_from(self.base_kernel), rows), 1.0
        for layer in range(self.depth - 1):
            hidden = layers.dense(hidden) if layer else layers.input(rows)
            hidden, variance = layers.activate(hidden), 1 / width
            if self.hidden_propagation:
                hidden = propagation @ hidden
        return np.asarray(
            self.bias_variance + self.weight_variance * variance * (hidden @ hidden.T)
        )

    def check_field(self, nodes: Nodes, labelled: Integers) -> None:
        """Refuse depths whose receptive field makes the exact covariance hopeless."""
        if self.hops < 2:
            return
        reached = len(nodes.field(labelled, self.hops))
        if reached * len(nodes) > MOST_ENTRIES:
            raise InputError(
                f"depth={self.depth} is too deep for this graph: {self.hops} hops from the labels "
                f"reach {reached:,} of {len(nodes):,} nodes, so the exact covariance needs "
                f"{reached * len(nodes):.1e} entries a layer where {MOST_ENTRIES:.0e} are allowed; "
                "use depth=2, model='small' or model='broad'"
            )


register("small", partial(GCN, hidden_propagation=False))
register("big", GCN)
