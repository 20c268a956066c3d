"""Smooth activations: the covariance after them depends on the standard deviations before.

Each is scaled so that a standard normal value keeps its variance, E[φ(z)²] = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import erf, ndtr

from gpgc._typing import Array
from gpgc.compute.primitives import NUMPY, Primitives
from gpgc.kernels.covariance import inverse_or_zero


@dataclass(frozen=True)
class Identity:
    """z itself: a linear network.

    Examples
    --------
    >>> Identity().correlation(np.array([[0.3]]), np.ones((1, 1)), np.ones(1))
    array([[0.3]])
    """

    def __call__(self, values: Array) -> Array:
        """Return the values."""
        return values

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return the correlations as they are."""
        return correlation

    def std(self, std: Array) -> Array:
        """Return the standard deviations as they are."""
        return std

    def mean(self, std: Array) -> Array:
        """Return 0."""
        return np.zeros_like(std)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return 1."""
        return np.ones_like(correlation)


ERF_GAIN = float((2 / np.pi * np.arcsin(2 / 3)) ** -0.5)
"""1/√E[erf(z)²] of a standard normal z."""


@dataclass(frozen=True)
class Erf:
    r"""The error function, scaled by ``ERF_GAIN`` (Williams 1997, "Computing with infinite nets").

    .. math:: E[\mathrm{erf}(u)\,\mathrm{erf}(v)] =
        \frac{2}{\pi} \arcsin \frac{2 c s t}{\sqrt{(1 + 2 s^2)(1 + 2 t^2)}}

    for values u, v of standard deviations s, t and correlation c. The arc sine is taken as the
    angle of 2cst and the hypotenuse, which neither overflows nor cancels.

    Examples
    --------
    >>> Erf().correlation(np.array([[1.0, 0.0]]), np.ones((1, 1)), np.ones(2)).round(6)
    array([[1., 0.]])
    """

    def __call__(self, values: Array) -> Array:
        """Return the scaled error function of values."""
        return np.asarray(ERF_GAIN * erf(values))

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return the formula above over the standard deviations that follow."""
        left, right = np.asarray(left), np.asarray(right)
        c = np.clip(correlation, -1, 1)
        e = _hypotenuse(c, 2**0.5 * left, 2**0.5 * right)
        c *= 2 * left
        c *= right
        after = np.arctan2(c, e, out=c)
        after *= 2 / np.pi * ERF_GAIN**2
        after *= inverse_or_zero(self.std(left))
        after *= inverse_or_zero(self.std(right))
        return after

    def std(self, std: Array) -> Array:
        """Return the square root of the formula above at u = v."""
        angle = np.arctan2(2 * std**2, np.sqrt(1 + 4 * std**2))
        return np.asarray(ERF_GAIN * np.sqrt(2 / np.pi * angle))

    def mean(self, std: Array) -> Array:
        """Return 0."""
        return np.zeros_like(std)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return 4/π / √((1 + 2s²)(1 + 2t²) − 4 c² s² t²), scaled."""
        e = _hypotenuse(np.clip(correlation, -1, 1), 2**0.5 * left, 2**0.5 * right)
        return np.asarray(4 / np.pi * ERF_GAIN**2 / e)


GELU_GAIN = float((1 / 3 + 1 / (2 * np.pi * 3**0.5)) ** -0.5)
"""1/√E[GELU(z)²] of a standard normal z."""


@dataclass(frozen=True)
class GELU:
    r"""z Φ(z) with the normal distribution function Φ, scaled by ``GELU_GAIN``.

    With :math:`k = c s t`, :math:`p = s^2 t^2`, :math:`d = (1 + s^2)(1 + t^2)` and
    :math:`e = \sqrt{d - k^2}` (Tsuchida et al. 2021, "Avoiding kernel fixed points"):

    .. math:: E[\phi(u)\,\phi(v)] = \frac{k}{4}
        + \frac{1}{2\pi}\left(\frac{k^2 + p\,e^2}{d\,e} + k \arcsin\frac{k}{\sqrt d}\right)

    It is computed over :math:`s t`, with the arc sine as the angle of k and e, so that neither
    long nor short rows overflow or cancel.

    Examples
    --------
    >>> GELU().correlation(np.array([[1.0]]), np.ones((1, 1)), np.ones(1)).round(6)
    array([[1.]])
    """

    def __call__(self, values: Array) -> Array:
        """Return the scaled GELU of values."""
        return np.asarray(GELU_GAIN * values * ndtr(values))

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return the formula above over the standard deviations that follow."""
        left, right = np.asarray(left), np.asarray(right)
        after = _gelu_slope(np.clip(correlation, -1, 1), left, right)
        after /= _gelu_gain(left)
        after /= _gelu_gain(right)
        return after

    def std(self, std: Array) -> Array:
        """Return the square root of the formula above at u = v."""
        return np.asarray(std * _gelu_gain(std))

    def mean(self, std: Array) -> Array:
        """Return s² / √(2π (1 + s²)), scaled."""
        return np.asarray(GELU_GAIN * std**2 / np.sqrt(2 * np.pi * (1 + std**2)))

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return the derivative of the formula above by k."""
        c = np.clip(correlation, -1, 1)
        k, e = c * left * right, _hypotenuse(c, left, right)
        # (1/e² + (1 − p)/d + 1) k/e, where (1 − p)/d + 1 = 1/(1 + s²) + 1/(1 + t²)
        rational = (1 / e**2 + 1 / (1 + left**2) + 1 / (1 + right**2)) * (k / e)
        return np.asarray(GELU_GAIN**2 * (0.25 + (rational + np.arctan2(k, e)) / (2 * np.pi)))


def _hypotenuse(c: Array, left: Array, right: Array) -> Array:
    """Return √((1 + s²)(1 + t²) − c²s²t²) as √(1 + s² + t² + s²t²(1 − c²)), without squares."""
    across = left * right * np.sqrt((1 - c) * (1 + c))
    return np.asarray(np.hypot(np.hypot(np.hypot(1, left), right), across))


def _gelu_slope(c: Array, left: Array, right: Array) -> Array:
    """Return the formula over s t."""
    e, lengths = _hypotenuse(c, left, right), np.hypot(1, left) * np.hypot(1, right)
    # (k² + p e²) / (d e) / (s t) = (c²/e + e) s t / d
    rational = (left / lengths) * (right / lengths) * (c**2 / e + e)
    angle = np.arctan2(c * left * right, e)
    return np.asarray(GELU_GAIN**2 * (c / 4 + (rational + c * angle) / (2 * np.pi)))


def _gelu_gain(std: Array) -> Array:
    """Return the standard deviation after the activation over the one before it."""
    return np.sqrt(_gelu_slope(np.ones_like(std), std, std))
