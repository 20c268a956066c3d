r"""Sine and cosine: units of random Fourier features, whose covariance is that of rbf kernels.

For values u, v of standard deviations s, t and correlation c, and :math:`k = c s t`,

.. math::
    E[\cos(u - v)] = e^{-(s^2 + t^2 - 2k)/2}, \qquad
    E[\cos(u + v)] = e^{-(s^2 + t^2 + 2k)/2},

of which products of sines are half the difference and products of cosines half the sum. Each is
scaled so that a standard normal value keeps its variance, E[φ(z)²] = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgc._typing import Array
from gpgc.compute.primitives import NUMPY, Primitives
from gpgc.kernels.covariance import inverse_or_zero

SIN_GAIN = float((-np.expm1(-2.0) / 2) ** -0.5)
"""1/√E[sin(z)²] of a standard normal z."""

COS_GAIN = float(((1 + np.exp(-2.0)) / 2) ** -0.5)
"""1/√E[cos(z)²] of a standard normal z."""


@dataclass(frozen=True)
class Sin:
    r"""The sine, scaled by ``SIN_GAIN``: :math:`E[\sin u \sin v] = e^{-(s^2 + t^2)/2} \sinh k`.

    Examples
    --------
    >>> Sin().correlation(np.array([[1.0, 0.0]]), np.ones((1, 1)), np.ones(2)).round(6)
    array([[1., 0.]])
    """

    def __call__(self, values: Array) -> Array:
        """Return the scaled sine of values."""
        return np.asarray(SIN_GAIN * np.sin(values))

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return the formula above over the standard deviations that follow."""
        return _over_std(sine_product(correlation, left, right), self, left, right, SIN_GAIN)

    def std(self, std: Array) -> Array:
        """Return √((1 − exp(−2s²)) / 2), scaled."""
        return np.asarray(SIN_GAIN * np.sqrt(-np.expm1(-2 * std**2) / 2))

    def mean(self, std: Array) -> Array:
        """Return 0."""
        return np.zeros_like(std)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[cos u cos v], scaled."""
        return SIN_GAIN**2 * cosine_product(correlation, left, right)


@dataclass(frozen=True)
class Cos:
    r"""The cosine, scaled by ``COS_GAIN``: :math:`E[\cos u \cos v] = e^{-(s^2 + t^2)/2} \cosh k`.

    Examples
    --------
    >>> Cos().correlation(np.array([[1.0]]), np.ones((1, 1)), np.ones(1)).round(6)
    array([[1.]])
    """

    def __call__(self, values: Array) -> Array:
        """Return the scaled cosine of values."""
        return np.asarray(COS_GAIN * np.cos(values))

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return the formula above over the standard deviations that follow."""
        return _over_std(cosine_product(correlation, left, right), self, left, right, COS_GAIN)

    def std(self, std: Array) -> Array:
        """Return √((1 + exp(−2s²)) / 2), scaled."""
        return np.asarray(COS_GAIN * np.sqrt((1 + np.exp(-2 * std**2)) / 2))

    def mean(self, std: Array) -> Array:
        """Return exp(−s²/2), scaled."""
        return np.asarray(COS_GAIN * np.exp(-(std**2) / 2))

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[sin u sin v], scaled."""
        return COS_GAIN**2 * sine_product(correlation, left, right)


def sine_product(correlation: Array, left: Array, right: Array) -> Array:
    """Return E[sin u sin v]; neither large nor small variances lose digits.

    Examples
    --------
    >>> sine_product(np.array([1.0, -1.0]), np.array(40.0), np.array(40.0))
    array([ 0.5, -0.5])
    """
    near, twice = _terms(correlation, left, right)
    return np.asarray(np.sign(correlation) * near * -np.expm1(-twice) / 2)


def cosine_product(correlation: Array, left: Array, right: Array) -> Array:
    """Return E[cos u cos v].

    Examples
    --------
    >>> cosine_product(np.array([1.0, -1.0]), np.array(40.0), np.array(40.0))
    array([0.5, 0.5])
    """
    near, twice = _terms(correlation, left, right)
    return np.asarray(near * (1 + np.exp(-twice)) / 2)


def _terms(correlation: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """Return exp(−(s² + t² − 2|k|)/2) and 2|k|."""
    size, product = np.minimum(np.abs(correlation), 1), left * right
    # s² + t² − 2|c|st = (s − t)² + 2st (1 − |c|), which does not cancel
    near = np.exp(-((left - right) ** 2) / 2 - product * (1 - size))
    return near, 2 * size * product


def _over_std(
    product: Array, activation: Sin | Cos, left: Array, right: Array, gain: float
) -> Array:
    """Return a product of units, scaled, over the standard deviations after the activation."""
    product *= gain**2
    product *= inverse_or_zero(activation.std(np.asarray(left)))
    product *= inverse_or_zero(activation.std(np.asarray(right)))
    return product
