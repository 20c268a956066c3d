r"""*gcnii*: many layers, each with a way back to the first one and with an identity mapping.

With :math:`H_0 = \phi(X W_0)` and :math:`\beta_l = \log(\lambda / l + 1)`

.. math:: H_l = \phi\big(((1 - \alpha) \hat A H_{l-1} + \alpha H_0)
    ((1 - \beta_l) Q_l + \beta_l W_l)\big)

and outputs :math:`H_L W`. Infinitely wide, units of different layers are independent, of means μ:

.. math::
    C_l = (1 - \alpha)^2 \hat A \kappa_{l-1} \hat A^\top + \alpha^2 \kappa_0
        + \alpha (1 - \alpha)(\hat A \mu_{l-1} \mu_0^\top + \mu_0 \mu_{l-1}^\top \hat A^\top),
    \qquad \Gamma_l = \sigma_b^2 + ((1 - \beta_l)^2 + \beta_l^2 \delta_W)\, C_l

Reference: Chen et al. 2020, "Simple and deep graph convolutional networks", equation 5. The paper's
mapping is the identity, Q = I, which ties a unit to itself in all layers: its values are not normal
in the limit, and no closed form is known. Here Q is a random rotation that is not trained. It keeps
lengths and angles too, and the limit above is exact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.graph.nodes import Nodes
from gpgc.kernels import Covariance, Cross, DenseLayer, Mix, Propagate
from gpgc.models.architecture import register
from gpgc.models.finite import RandomLayers
from gpgc.models.network import Network, NetworkInputs, features_or_one_hot, own_rows


@dataclass(frozen=True, kw_only=True)
class GCNII(Network):
    """Graph convolutions with initial residual and identity mapping; ``depth`` of them.

    Parameters
    ----------
    teleport : float, default 0.1
        α in [0, 1], the weight of the first layer in all others.
    identity : float, default 0.5
        λ ≥ 0: the smaller, the more of a layer is its identity mapping.

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc.graph import as_adjacency
    >>> from gpgc.models import Prior
    >>> nodes = Nodes(as_adjacency(([0, 1], [1, 2])), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> Prior(GCNII(), nodes).covariance().block([0, 2], [1]).round(4)
    array([[0.2468],
           [0.2193]])
    """

    learns: ClassVar[Mapping[str, tuple[float, float]]] = dict(
        Network.learns, teleport=(0.0, 1.0), identity=(0.0, math.e - 1)
    )

    teleport: float = 0.1
    identity: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.teleport <= 1:
            raise InputError(f"teleport must lie between 0 and 1, got {self.teleport!r}")
        if not 0 <= self.identity <= math.e - 1:
            raise InputError(f"identity must lie between 0 and e - 1, got {self.identity!r}")

    @property
    def hops(self) -> int:
        """One hop a layer."""
        return self.depth

    def beta(self, number: int) -> float:
        """Return β of a layer, numbered from 0."""
        return math.log(self.identity / (number + 1) + 1)

    def layers(self, inputs: NetworkInputs) -> Covariance:
        """Return σ_b² + δ_W κ(Γ_L)."""
        matrix, context, alpha = inputs.nodes.propagation, inputs.context, self.teleport
        first = self.dense(self.leaf(own_rows(inputs), context))
        initial = self.activate(first)
        once = sp.csr_array((1 - alpha) * matrix + alpha * sp.eye_array(matrix.shape[0]))

        def step(number: int, below: Covariance) -> Covariance:
            hidden = self.activate(below)
            if number == self.depth:
                return self.dense(hidden)
            if number == 0:  # (1 − α) Â H_0 + α H_0 is one aggregation
                mixed: Covariance = Propagate(once, initial)
            else:
                means = Cross(matrix @ hidden.mean(), initial.mean(), context)
                parts = [Propagate(matrix, hidden), initial, means]
                mixed = Mix(parts, [(1 - alpha) ** 2, alpha**2, alpha * (1 - alpha)])
            beta = self.beta(number)
            trained = max(beta**2 * self.weight_variance, 1e-300)
            return DenseLayer(mixed, trained, self.bias_variance, (1 - beta) ** 2)

        return self.repeated(inputs, first, step, self.depth + 1)

    def network(self, nodes: Nodes, layers: RandomLayers) -> Any:
        """Return H_L W + b."""
        initial = hidden = layers.activate(layers.input(features_or_one_hot(nodes)))
        for number in range(self.depth):
            walked = layers.aggregate(nodes.propagation, hidden)
            mixed = (1 - self.teleport) * walked + self.teleport * initial
            beta = self.beta(number)
            mapped = layers.dense(mixed, beta**2)
            hidden = layers.activate((1 - beta) * layers.rotate(mixed) + mapped)
        return layers.dense(hidden)


register("gcnii", GCNII)
