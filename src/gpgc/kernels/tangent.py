r"""The tangent kernel Θ of an infinitely wide network, as an expression of the algebra.

Θ is the inner product of the gradients of a network's outputs by all its weights, which training
by gradient descent leaves as it is where the network is infinitely wide (Jacot et al. 2018;
graphs: Du et al. 2019). Every part passes a K + Θ on, so that the K that a dense layer adds for
its own weights takes no expression of its own:

.. math::
    \text{dense layer:}\quad a K' + \Theta'
        = (a + 1)\, \sigma_b^2 + \delta_W \left((a + 1) K + \Theta\right), \qquad
    \text{activation:}\quad a\, \kappa(K) + \dot\kappa(K) \circ \Theta, \qquad
    \text{aggregation:}\quad S (a K + \Theta) S^\top
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gpgc.errors import InputError
from gpgc.kernels.activate import Activate, Chain
from gpgc.kernels.covariance import Covariance
from gpgc.kernels.deep import Deep
from gpgc.kernels.diffuse import Diffuse
from gpgc.kernels.features import Features
from gpgc.kernels.given import Cross, Given
from gpgc.kernels.low_rank import LowRank
from gpgc.kernels.mix import DenseLayer, Mix
from gpgc.kernels.propagate import Propagate

Known: TypeAlias = tuple[Covariance, Covariance]
"""A part of an expression, and its tangent kernel."""


def tangent(covariance: Covariance, share: float = 0.0, known: Known | None = None) -> Covariance:
    """Return aΓ + Θ, with Θ the tangent kernel of the network whose covariance Γ is given.

    ``share`` is a; ``known`` is a part of the expression, and its Θ.
    """

    def below(part: Covariance, share: float = share) -> Covariance:
        return tangent(part, share, known)

    match covariance:
        case _ if known is not None and covariance is known[0]:
            return Mix(known, [share, 1.0]) if share else known[1]
        case Features() | Given() | LowRank() | Cross():
            return covariance if share == 1 else Mix([covariance], [share])
        case DenseLayer(inner=inner, weights=(passed,), constant=bias):
            under = below(inner, share + covariance.trained_variance / passed)
            if under is inner and not share:  # a network's first layer, whose Θ is its K
                return covariance
            return DenseLayer(under, passed, (share + 1) * bias)
        case Activate(inner=inner):
            return Chain(covariance, below(inner, 0.0), share)
        case Propagate(matrix=matrix, inner=inner):
            return Propagate(matrix, below(inner))
        case Diffuse(operator=operator, inner=inner):
            return Diffuse(operator, below(inner))
        case Mix(parts=parts, weights=weights, constant=constant):
            under_parts = tuple(below(part) for part in parts)
            if under_parts == parts:
                return covariance
            return Mix(under_parts, weights, share * constant)
        case Deep():
            kernel = TangentOfDeep(covariance)
            return Mix([covariance, kernel], [share, 1.0]) if share else kernel
    raise InputError(
        "tangent must be of a network of Features, Given, LowRank, Cross, DenseLayer, Activate, "
        f"Propagate, Diffuse, Mix and Deep, got {type(covariance).__name__}, which is no layer "
        "of weights and has no tangent kernel: use its covariance as it is (kernel='nngp'), or "
        "the tangent kernel of what is inside it"
    )


class TangentOfDeep(Deep):
    """Θ of a step that is taken several times: that of each layer is computed once, and kept."""

    n_kernels = 2

    def __init__(self, network: Deep) -> None:
        super().__init__(network.inner, network.step, network.n_layers, network.landmarks)
        self.first = tangent(network.inner)

    def __repr__(self) -> str:
        return f"tangent of {super().__repr__()}"

    def keep(self, layer: Covariance) -> Covariance:
        """Return what is kept of a layer; rounding of variances moves derivatives most."""
        kept = super().keep(layer)
        if isinstance(kept, Given):
            np.fill_diagonal(kept.matrix, layer.diag())
        return kept

    def after(self, keep: Callable[[Covariance], Covariance]) -> Covariance:
        """Return Θ after the last layer, of which and of Γ each layer is kept."""
        layer, kernel = self.inner, self.first
        for number in range(self.n_layers):
            output = self.step(number, layer)
            kernel = keep(tangent(output, known=(layer, kernel)))
            layer = keep(output)
        return kernel
