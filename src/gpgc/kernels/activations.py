"""Activations: what an infinitely wide layer of units does to covariances, in closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from gpgc._typing import Array
from gpgc.compute.primitives import NUMPY, Primitives
from gpgc.errors import InputError

CHUNK = 2**16
"""Entries that pass all steps of the formula at once: few enough to stay in a core's cache, many
enough that threads seldom wait for each other between two steps."""


def relu_correlation(correlation: Array) -> Array:
    r"""Map the correlation before a ReLU to the one after it, in place.

    .. math:: \hat\kappa(c) = \frac{1}{\pi}\left(\sqrt{1 - c^2} + (\pi - \arccos c)\, c\right)

    which is equation 9 of the paper at unit variance, with cos α = c. It maps 1 to 1 and is well
    conditioned there although the arc cosine is not.

    Examples
    --------
    >>> relu_correlation(np.array([1.0, 0.0, -1.0])).round(6)
    array([1.     , 0.31831, 0.     ])
    """
    if not correlation.flags.c_contiguous:
        correlation[...] = relu_correlation(np.ascontiguousarray(correlation))
        return correlation
    flat = correlation.reshape(-1)
    angles = np.empty(min(CHUNK, flat.size), dtype=flat.dtype)
    sines = np.empty_like(angles)
    for start in range(0, flat.size, CHUNK):
        c = flat[start : start + CHUNK]
        angle, sine = angles[: c.size], sines[: c.size]
        np.clip(c, -1, 1, out=c)
        np.arccos(c, out=angle)
        np.subtract(np.pi, angle, out=angle)
        np.multiply(c, c, out=sine)
        np.subtract(1, sine, out=sine)
        np.sqrt(sine, out=sine)
        c *= angle
        c += sine
        c *= 1 / np.pi
    return correlation


@runtime_checkable
class Activation(Protocol):
    """What an object must offer to serve as ``activation``.

    Both are expectations over two normal values of given standard deviations and correlation.
    """

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Map the correlation of two values before the activation to the one after it.

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
        """Map the standard deviation before the activation to the one after it."""


@dataclass(frozen=True)
class ReLU:
    """max(z, 0), scaled by √2 so that variances stay as they are (equation 9 of the paper).

    Examples
    --------
    >>> ReLU().correlation(np.array([[0.0]]), np.ones((1, 1)), np.ones(1)).round(6)
    array([[0.31831]])
    """

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return κ̂ of the correlations, which does not depend on the standard deviations."""
        if not primitives.relu_correlation(correlation):
            relu_correlation(correlation)
        return correlation

    def std(self, std: Array) -> Array:
        """Return the standard deviations as they are."""
        return std


ACTIVATIONS: dict[str, type[Activation]] = {"relu": ReLU}


def activation_from(choice: str | Activation) -> Activation:
    """Return an activation by its name, or the object that was given."""
    if isinstance(choice, str):
        if choice in ACTIVATIONS:
            return ACTIVATIONS[choice]()
    elif isinstance(choice, Activation) and not isinstance(choice, type):
        return choice
    raise InputError(
        f"activation must be one of {', '.join(ACTIVATIONS)}, "
        f"or an object with the methods correlation and std, got {choice!r}"
    )
