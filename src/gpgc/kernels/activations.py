"""Activations by name: what an infinitely wide layer of units does to covariances."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from gpgc._typing import Array
from gpgc.compute.primitives import NUMPY, Primitives
from gpgc.errors import InputError
from gpgc.kernels.periodic_activations import Cos, Sin
from gpgc.kernels.rectifiers import LeakyReLU, ReLU, Step
from gpgc.kernels.smooth_activations import GELU, Erf, Identity


@runtime_checkable
class Activation(Protocol):
    """What an object must offer to serve as ``activation``.

    All but the first are expectations over normal values of given standard deviations and
    correlation.

    Examples
    --------
    >>> import numpy as np
    >>> isinstance(GELU(), Activation), Erf().std(np.array([1.0])).round(6)
    (True, array([1.]))
    """

    def __call__(self, values: Array) -> Array:
        """Return φ(z) of values z: what a network of finite width does."""

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Map the correlation of two values before the activation to the one after it.

        E[φ(u) φ(v)] over the standard deviations after the activation.

        Parameters
        ----------
        correlation : array of shape (m, n), or a stack (B, m, n)
            May be overwritten.
        left, right : arrays that broadcast against ``correlation``
            Standard deviations before the activation.
        primitives : Primitives
            The innermost loops.
        """

    def std(self, std: Array) -> Array:
        """Map the standard deviation s before the activation to √E[φ(z)²] after it."""

    def mean(self, std: Array) -> Array:
        """Return E[φ(z)]."""

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[φ′(u) φ′(v)], for the tangent kernel; arguments as in ``correlation``."""


ACTIVATIONS: dict[str, type[Activation]] = {
    "relu": ReLU,
    "leaky_relu": LeakyReLU,
    "erf": Erf,
    "gelu": GELU,
    "identity": Identity,
    "step": Step,
    "sin": Sin,
    "cos": Cos,
}


def activation_from(choice: str | Activation) -> Activation:
    """Return an activation by its name with default parameters, or the object that was given."""
    if isinstance(choice, str):
        if choice in ACTIVATIONS:
            return ACTIVATIONS[choice]()
    elif isinstance(choice, Activation) and not isinstance(choice, type):
        return choice
    raise InputError(
        f"activation must be one of {', '.join(ACTIVATIONS)}, "
        "or an object with the methods __call__, correlation, std, mean and derivative, "
        f"got {choice!r}"
    )
