"""Activations with a kink or a jump at 0: functions of the angle between two nodes.

Each is scaled so that a standard normal value keeps its variance, E[φ(z)²] = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgc._typing import Array
from gpgc.compute.numbers import is_real
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


def same_side(correlation: Array) -> Array:
    """Return 1 − arccos(c)/π, twice the probability that two normal values are above 0.

    Examples
    --------
    >>> same_side(np.array([1.0, 0.0, -1.0]))
    array([1. , 0.5, 0. ])
    """
    return np.asarray(1 - np.arccos(np.clip(correlation, -1, 1)) / np.pi)


@dataclass(frozen=True)
class ReLU:
    """√2 max(z, 0) (equation 9 of the paper).

    Examples
    --------
    >>> ReLU().correlation(np.array([[0.0]]), np.ones((1, 1)), np.ones(1)).round(6)
    array([[0.31831]])
    """

    def __call__(self, values: Array) -> Array:
        """Return √2 max(z, 0)."""
        return np.asarray(2**0.5 * np.maximum(values, 0.0))

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

    def mean(self, std: Array) -> Array:
        """Return s/√π."""
        return np.asarray(std / np.pi**0.5)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return 1 − arccos(c)/π."""
        return same_side(correlation)


@dataclass(frozen=True)
class LeakyReLU:
    r"""max(z, 0) + a min(z, 0), scaled by √(2/(1 + a²)).

    .. math:: \hat\kappa_a(c) = \frac{2a\,c + (1 - a)^2 \hat\kappa(c)}{1 + a^2}

    Parameters
    ----------
    slope : float, default 0.2
        a, the slope below 0; 0 is the ReLU, 1 the identity.

    Examples
    --------
    >>> LeakyReLU(1.0).correlation(np.array([[0.3]]), np.ones((1, 1)), np.ones(1))
    array([[0.3]])
    """

    slope: float = 0.2

    def __post_init__(self) -> None:
        if not is_real(self.slope):
            raise InputError(f"slope must be finite, got {self.slope!r}")

    @property
    def gain(self) -> float:
        """√(2/(1 + a²))."""
        return float((2 / (1 + self.slope**2)) ** 0.5)

    def __call__(self, values: Array) -> Array:
        """Return the scaled leaky ReLU of values."""
        return np.asarray(self.gain * np.where(values > 0, values, self.slope * values))

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return κ̂_a of the correlations, which does not depend on the standard deviations."""
        linear = 2 * self.slope * np.clip(correlation, -1, 1)
        rectified = ReLU().correlation(correlation, left, right, primitives)
        rectified *= (1 - self.slope) ** 2
        rectified += linear
        rectified /= 1 + self.slope**2
        return rectified

    def std(self, std: Array) -> Array:
        """Return the standard deviations as they are."""
        return std

    def mean(self, std: Array) -> Array:
        """Return gain (1 − a) s/√(2π)."""
        return np.asarray(self.gain * (1 - self.slope) * std / (2 * np.pi) ** 0.5)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return (2a + (1 − a)² (1 − arccos(c)/π)) / (1 + a²)."""
        a = self.slope
        return np.asarray((2 * a + (1 - a) ** 2 * same_side(correlation)) / (1 + a**2))


@dataclass(frozen=True)
class Step:
    """√2 where z > 0, 0 where z < 0, half of that at 0.

    Ill-conditioned for nearly equal nodes: an error e in a correlation becomes √(2e)/π.

    Examples
    --------
    >>> Step().correlation(np.array([[1.0, 0.0]]), np.ones((1, 1)), np.ones(2))
    array([[1. , 0.5]])
    """

    def __call__(self, values: Array) -> Array:
        """Return the scaled step of values."""
        return np.asarray(2**0.5 * np.heaviside(values, 0.5))

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return 1 − arccos(c)/π over the standard deviations after the step."""
        after = same_side(correlation)
        after /= self.std(np.asarray(left))
        after /= self.std(np.asarray(right))
        return after

    def std(self, std: Array) -> Array:
        """Return 1, or √½ for a value that is always 0."""
        return np.where(std > 0, 1.0, 0.5**0.5).astype(std.dtype)

    def mean(self, std: Array) -> Array:
        """Return √½."""
        return np.full_like(std, 0.5**0.5)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Refuse: a jump has no derivative, and its network no tangent kernel."""
        raise InputError("kernel must be 'nngp' for activation='step', which has no derivative")
