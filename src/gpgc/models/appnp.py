r"""*appnp*: a network of each node by itself, then personalised PageRank of its outputs.

.. math::
    \Gamma^{(1)} = \sigma_b^2 + \delta_W K_\theta(X), \qquad
    \Gamma^{(l)} = \sigma_b^2 + \delta_W \kappa(\Gamma^{(l-1)}), \qquad
    \Gamma = P\, \Gamma^{(L)} P^\top

with P the PageRank of teleport α after a number of steps, or with ``steps=None`` its limit
:math:`\alpha (I - (1 - \alpha) \hat A)^{-1}` (PPNP).

Reference: Gasteiger et al. 2019, "Predict then propagate", equations 3 (PPNP) and 5 (APPNP).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gpgc.compute.numbers import is_whole
from gpgc.errors import InputError
from gpgc.graph.nodes import Nodes
from gpgc.kernels import Covariance, Diffuse
from gpgc.kernels.diffuse import PageRank
from gpgc.models.architecture import register
from gpgc.models.finite import RandomLayers
from gpgc.models.network import Network, NetworkInputs, features_or_one_hot, own_rows

LEFT_OUT = 1e-12
"""What walks beyond the steps of PPNP weigh at most."""


@dataclass(frozen=True, kw_only=True)
class APPNP(Network):
    """Personalised PageRank after the last layer.

    Parameters
    ----------
    teleport : float, default 0.1
        α in (0, 1].
    steps : int or None, default 10
        Of the PageRank; None for its limit, to rounding.

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import Prior
    >>> nodes = Nodes(as_adjacency(([0, 1], [1, 2])), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> Prior(APPNP(), nodes).covariance().block([0, 2], [1]).round(4)
    array([[0.7653],
           [0.706 ]])
    """

    learns: ClassVar[Mapping[str, tuple[float, float]]] = {
        **Network.learns,
        "teleport": (0.0, 1.0),
    }

    teleport: float = 0.1
    steps: int | None = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.teleport <= 1:
            raise InputError(f"teleport must lie above 0 and up to 1, got {self.teleport!r}")
        if self.steps is not None and not is_whole(self.steps, 1):
            raise InputError(
                f"steps must be a whole number of at least 1, or None, got {self.steps!r}"
            )

    @property
    def hops(self) -> int:
        """One hop for each step."""
        if self.steps is not None:
            return self.steps
        if self.teleport == 1:
            return 1
        return int(np.ceil(np.log(LEFT_OUT) / np.log(1 - self.teleport)))

    def layers(self, inputs: NetworkInputs) -> Covariance:
        """Return P Γ_L Pᵀ."""
        rank = PageRank(inputs.nodes.propagation, self.teleport, self.hops)

        def step(number: int, below: Covariance) -> Covariance:
            if number:
                return Diffuse(rank, below)
            layer = self.dense(below)
            for _ in range(self.depth - 1):
                layer = self.dense(self.activate(layer))
            return layer

        return self.repeated(inputs, self.leaf(own_rows(inputs), inputs.context), step, 2)

    def network(self, nodes: Nodes, layers: RandomLayers) -> Any:
        """Return Z after Z ← (1 − α) Â Z + α H, from Z = H, the outputs of dense layers."""
        hidden = layers.input(features_or_one_hot(nodes))
        for _ in range(self.depth - 1):
            hidden = layers.dense(layers.activate(hidden))
        if self.steps is None:
            matrix = np.eye(len(nodes)) - (1 - self.teleport) * nodes.propagation.toarray()
            return layers.aggregate(self.teleport * np.linalg.inv(matrix), hidden)
        ranked = hidden
        for _ in range(self.steps):
            walked = layers.aggregate(sp.csr_array(nodes.propagation), ranked)
            ranked = (1 - self.teleport) * walked + self.teleport * hidden
        return ranked


register("appnp", APPNP)
