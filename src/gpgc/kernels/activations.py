r"""Activations by name: what an infinitely wide layer of units does to covariances.

Each is scaled so that a standard normal value keeps its variance, E[φ(z)²] = 1. Below, u and v are
normal values of standard deviations s and t, with correlation c and k = c s t.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import erf, ndtr

from gpgc._typing import Array
from gpgc.compute.numbers import is_real
from gpgc.compute.primitives import NUMPY, Primitives
from gpgc.errors import InputError
from gpgc.kernels.covariance import inverse_or_zero

ERF_GAIN = float((2 / np.pi * np.arcsin(2 / 3)) ** -0.5)
"""1/√E[erf(z)²] of a standard normal z."""

GELU_GAIN = float((1 / 3 + 1 / (2 * np.pi * 3**0.5)) ** -0.5)
"""1/√E[GELU(z)²] of a standard normal z."""

SIN_GAIN = float((-np.expm1(-2.0) / 2) ** -0.5)
"""1/√E[sin(z)²] of a standard normal z."""

COS_GAIN = float(((1 + np.exp(-2.0)) / 2) ** -0.5)
"""1/√E[cos(z)²] of a standard normal z."""


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


class Rectifier(ABC):
    r"""max(z, 0) + a min(z, 0), scaled by √(2/(1 + a²)): of one shape, however long rows are.

    .. math:: \hat\kappa_a(c) = \frac{2a\,c + (1 - a)^2 \hat\kappa(c)}{1 + a^2}
    """

    @property
    @abstractmethod
    def slope(self) -> float:
        """Return a, the slope below 0."""

    @property
    def gain(self) -> float:
        """√(2/(1 + a²))."""
        return float((2 / (1 + self.slope**2)) ** 0.5)

    def __call__(self, values: Array) -> Array:
        """Return the scaled rectifier of values."""
        return np.asarray(self.gain * np.where(values > 0, values, self.slope * values))

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return κ̂_a of the correlations, which does not depend on the standard deviations."""
        a = self.slope
        if a == 1:
            return correlation
        if a == 0:
            return primitives.relu_correlation(correlation)
        linear = 2 * a * np.clip(correlation, -1, 1)
        rectified = primitives.relu_correlation(correlation)
        rectified *= (1 - a) ** 2
        rectified += linear
        rectified /= 1 + a**2
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
class ReLU(Rectifier):
    """√2 max(z, 0) (equation 9 of the paper)."""

    slope: ClassVar[float] = 0.0


@dataclass(frozen=True)
class LeakyReLU(Rectifier):
    """A rectifier of any slope a below 0."""

    slope: float = 0.2

    def __post_init__(self) -> None:
        if not is_real(self.slope):
            raise InputError(f"slope must be finite, got {self.slope!r}")


@dataclass(frozen=True)
class Identity(Rectifier):
    """z itself: a linear network."""

    slope: ClassVar[float] = 1.0


@dataclass(frozen=True)
class Step:
    """√2 where z > 0, 0 where z < 0, half of that at 0.

    Ill-conditioned for nearly equal nodes: an error e in a correlation becomes √(2e)/π.
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


class ByProduct(ABC):
    """An activation that is known by E[φ(u) φ(v)], from which standard deviations follow."""

    @abstractmethod
    def product(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[φ(u) φ(v)] as a new array."""

    def correlation(
        self, correlation: Array, left: Array, right: Array, primitives: Primitives = NUMPY
    ) -> Array:
        """Return E[φ(u) φ(v)] over the standard deviations that follow."""
        left, right = np.asarray(left), np.asarray(right)
        after = self.product(correlation, left, right)
        after *= inverse_or_zero(self.std(left))
        after *= inverse_or_zero(self.std(right))
        return after

    def std(self, std: Array) -> Array:
        """Return √E[φ(u)²]."""
        return np.sqrt(self.product(np.ones_like(std), std, std))


@dataclass(frozen=True)
class Erf(ByProduct):
    r"""The error function, scaled by ``ERF_GAIN`` (Williams 1997, "Computing with infinite nets").

    .. math:: E[\mathrm{erf}(u)\,\mathrm{erf}(v)] =
        \frac{2}{\pi} \arcsin \frac{2 c s t}{\sqrt{(1 + 2 s^2)(1 + 2 t^2)}}

    The arc sine is taken as the angle of 2cst and the hypotenuse, which neither overflows nor
    cancels.
    """

    def __call__(self, values: Array) -> Array:
        """Return the scaled error function of values."""
        return np.asarray(ERF_GAIN * erf(values))

    def product(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return the formula above, scaled."""
        c = np.clip(correlation, -1, 1)
        e = _hypotenuse(c, 2**0.5 * left, 2**0.5 * right)
        c *= 2 * left
        c *= right
        angle = np.arctan2(c, e, out=c)
        angle *= 2 / np.pi * ERF_GAIN**2
        return angle

    def mean(self, std: Array) -> Array:
        """Return 0."""
        return np.zeros_like(std)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return 4/π / √((1 + 2s²)(1 + 2t²) − 4 c² s² t²), scaled."""
        e = _hypotenuse(np.clip(correlation, -1, 1), 2**0.5 * left, 2**0.5 * right)
        return np.asarray(4 / np.pi * ERF_GAIN**2 / e)


@dataclass(frozen=True)
class GELU:
    r"""z Φ(z) with the normal distribution function Φ, scaled by ``GELU_GAIN``.

    With :math:`k = c s t`, :math:`p = s^2 t^2`, :math:`d = (1 + s^2)(1 + t^2)` and
    :math:`e = \sqrt{d - k^2}` (Tsuchida et al. 2021, "Avoiding kernel fixed points"):

    .. math:: E[\phi(u)\,\phi(v)] = \frac{k}{4}
        + \frac{1}{2\pi}\left(\frac{k^2 + p\,e^2}{d\,e} + k \arcsin\frac{k}{\sqrt d}\right)

    It is computed over :math:`s t`, with the arc sine as the angle of k and e, so that neither
    long nor short rows overflow or cancel.
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


@dataclass(frozen=True)
class Sin(ByProduct):
    """The sine, scaled by ``SIN_GAIN``: E[sin u sin v] = exp(−(s² + t²)/2) sinh k.

    Units of random Fourier features, whose covariance is that of rbf kernels.
    """

    def __call__(self, values: Array) -> Array:
        """Return the scaled sine of values."""
        return np.asarray(SIN_GAIN * np.sin(values))

    def product(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[sin u sin v], scaled."""
        return np.asarray(SIN_GAIN**2 * sine_product(correlation, left, right))

    def mean(self, std: Array) -> Array:
        """Return 0."""
        return np.zeros_like(std)

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[cos u cos v], scaled."""
        return np.asarray(SIN_GAIN**2 * cosine_product(correlation, left, right))


@dataclass(frozen=True)
class Cos(ByProduct):
    """The cosine, scaled by ``COS_GAIN``: E[cos u cos v] = exp(−(s² + t²)/2) cosh k."""

    def __call__(self, values: Array) -> Array:
        """Return the scaled cosine of values."""
        return np.asarray(COS_GAIN * np.cos(values))

    def product(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[cos u cos v], scaled."""
        return np.asarray(COS_GAIN**2 * cosine_product(correlation, left, right))

    def mean(self, std: Array) -> Array:
        """Return exp(−s²/2), scaled."""
        return np.asarray(COS_GAIN * np.exp(-(std**2) / 2))

    def derivative(self, correlation: Array, left: Array, right: Array) -> Array:
        """Return E[sin u sin v], scaled."""
        return np.asarray(COS_GAIN**2 * sine_product(correlation, left, right))


def same_side(correlation: Array) -> Array:
    """Return 1 − arccos(c)/π, twice the probability that two normal values are above 0."""
    return np.asarray(1 - np.arccos(np.clip(correlation, -1, 1)) / np.pi)


def sine_product(correlation: Array, left: Array, right: Array) -> Array:
    """Return E[sin u sin v]; neither large nor small variances lose digits."""
    near, twice = _terms(correlation, left, right)
    return np.asarray(np.sign(correlation) * near * -np.expm1(-twice) / 2)


def cosine_product(correlation: Array, left: Array, right: Array) -> Array:
    """Return E[cos u cos v]."""
    near, twice = _terms(correlation, left, right)
    return np.asarray(near * (1 + np.exp(-twice)) / 2)


def _terms(correlation: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """Return exp(−(s² + t² − 2|k|)/2) and 2|k|."""
    size, product = np.minimum(np.abs(correlation), 1), left * right
    # s² + t² − 2|c|st = (s − t)² + 2st (1 − |c|), which does not cancel
    near = np.exp(-((left - right) ** 2) / 2 - product * (1 - size))
    return near, 2 * size * product


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
