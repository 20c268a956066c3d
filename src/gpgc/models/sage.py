r"""*sage*: a node's own values and the mean of its neighbors' pass weights of their own.

With M the mean over neighbors, :math:`M_{ij} = A_{ij} / \sum_k A_{ik}`, and a fraction a:

.. math::
    \Gamma^{(1)} = \sigma_b^2 + \delta_W \big(a K_\theta(X) + (1 - a) K_\theta(M X)\big), \qquad
    \Gamma^{(l)} = \sigma_b^2 + \delta_W \big(a \kappa + (1 - a) M \kappa M^\top\big)

with κ = κ(Γ^(l−1)). A node without neighbors has the mean 0.

Reference: Hamilton et al. 2017, "Inductive representation learning on large graphs", algorithm 1
with the mean aggregator, without sampling and without scaling rows to length 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.graph.nodes import NodeInputs, Nodes
from gpgc.kernels import Covariance, Mix, Propagate
from gpgc.kernels.covariance import inverse_or_zero
from gpgc.models.architecture import register
from gpgc.models.finite import RandomLayers
from gpgc.models.network import (
    Network,
    NetworkInputs,
    aggregated_rows,
    features_or_one_hot,
    own_rows,
)


@dataclass(frozen=True, kw_only=True)
class SAGE(Network):
    """GraphSAGE with the mean aggregator.

    Parameters
    ----------
    own : float, default 0.2
        a in [0, 1], the fraction of the weights' variance that a node's own values get; ½ is equal
        weights. The default did better on validation labels of Cora.

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import Prior
    >>> nodes = Nodes(as_adjacency(([0, 1], [1, 2])), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> Prior(SAGE(), nodes).covariance().block([0, 2], [1]).round(4)
    array([[0.5672],
           [0.5382]])
    """

    learns: ClassVar[Mapping[str, tuple[float, float]]] = {**Network.learns, "own": (0.0, 1.0)}

    own: float = 0.2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.own <= 1:
            raise InputError(f"own must lie between 0 and 1, got {self.own!r}")

    @property
    def hops(self) -> int:
        """One hop for each hidden layer."""
        return self.depth - 1

    def layers(self, inputs: NetworkInputs) -> Covariance:
        """Return Γ of the last layer."""
        means, nodes = neighbor_means(inputs.nodes), inputs.nodes
        among, weights = sp.csr_array(means[:, nodes.own]), [self.own, 1 - self.own]
        rows = (own_rows(inputs), aggregated_rows(means, inputs))
        first = Mix([self.leaf(part, inputs.context) for part in rows], weights)

        def step(number: int, below: Covariance) -> Covariance:
            hidden = self.activate(below)
            return self.dense(Mix([hidden, Propagate(among, hidden)], weights))

        return self.repeated(inputs, self.dense(first), step, self.depth - 1)

    def network(self, nodes: Nodes, layers: RandomLayers) -> Any:
        """Return H W_own + (M H) W_neighbors + b of the last layer."""
        means, values = neighbor_means(nodes), features_or_one_hot(nodes)
        of_own, of_others = self.own, 1 - self.own
        outputs = layers.input(values, of_own) + layers.input(means @ values, of_others, bias=False)
        for _ in range(self.depth - 1):
            hidden = layers.activate(outputs)
            near = layers.aggregate(means, hidden)
            outputs = layers.dense(hidden, of_own) + layers.dense(near, of_others, bias=False)
        return outputs


def neighbor_means(nodes: NodeInputs) -> sp.csr_array:
    """Return M (n, N), whose rows sum to 1, or to 0 for a node without neighbors."""
    sums = np.asarray(nodes.links.sum(axis=1), dtype=np.float64)
    return sp.csr_array(sp.diags_array(inverse_or_zero(sums)) @ nodes.links)


register("sage", SAGE)
