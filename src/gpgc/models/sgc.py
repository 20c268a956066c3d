r"""*sgc*: powers of the propagation matrix, and one dense layer.

.. math:: \Gamma = \sigma_b^2 + \delta_W K_\theta(\hat A^L X)

Reference: Wu et al. 2019, "Simplifying graph convolutional networks", equation 8. The activations
between the layers of a GCN are left out, so that its weights are one matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpgc.graph.nodes import Nodes
from gpgc.kernels import Covariance
from gpgc.kernels.rows import propagated_rows
from gpgc.models.architecture import register
from gpgc.models.finite import RandomLayers
from gpgc.models.network import Network, NetworkInputs, aggregated_rows, features_or_one_hot


@dataclass(frozen=True, kw_only=True)
class SGC(Network):
    """A graph convolution without activations; ``depth`` is the power L of Â.

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import Prior
    >>> nodes = Nodes(as_adjacency(([0, 1], [1, 2])), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> Prior(SGC(), nodes).covariance().block([0, 2], [1]).round(4)
    array([[0.6506],
           [0.5395]])
    """

    @property
    def hops(self) -> int:
        """One hop for each power beyond the first."""
        return self.depth - 1

    @property
    def reaches_far(self) -> bool:
        """False: the rows of Â^L X hold all that is seen."""
        return False

    def layers(self, inputs: NetworkInputs) -> Covariance:
        """Return σ_b² + δ_W K_θ(Â^L X)."""
        nodes, context = inputs.nodes, inputs.context
        if self.depth == 1:
            return self.dense(self.leaf(aggregated_rows(nodes.incoming, inputs), context))
        features = nodes.incoming @ features_or_one_hot(nodes)
        for _ in range(self.depth - 2):
            features = nodes.propagation @ features
        return self.dense(self.leaf(propagated_rows(nodes.propagation, features, context), context))

    def network(self, nodes: Nodes, layers: RandomLayers) -> Any:
        """Return Â … Â X W + b."""
        values = features_or_one_hot(nodes)
        for _ in range(self.depth):
            values = nodes.propagation @ values
        return layers.input(values)


register("sgc", SGC)
