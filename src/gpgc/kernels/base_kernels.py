r"""Base kernels K_θ on the rows of ÂX: the paper's four, and the protocol for others.

Each is a function of the cosine c = x·y / (‖x‖ ‖y‖) of two rows and of their lengths. A row of
zeros has no direction: its cosine is 0 with everything, itself included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from gpgc._typing import Array
from gpgc.compute.numbers import is_real
from gpgc.errors import InputError


@runtime_checkable
class BaseKernel(Protocol):
    """What an object must offer to serve as ``base_kernel``.

    Examples
    --------
    A kernel of one's own, the exponential of the cosine:

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class ExponentialCosine:
    ...     sharpness: float = 1.0
    ...
    ...     def evaluate(self, cosine, left, right):
    ...         return np.exp(self.sharpness * cosine)
    ...
    ...     def variance(self, cosine, norms):
    ...         return np.exp(self.sharpness * cosine)
    >>> isinstance(ExponentialCosine(), BaseKernel)
    True
    """

    def evaluate(self, cosine: Array, left: Array, right: Array) -> Array:
        """Return K_θ for a block of cosines.

        Parameters
        ----------
        cosine : array of shape (m, n), or a stack (B, m, n)
            Cosines of the rows, in [-1, 1]; may be overwritten.
        left, right : arrays that broadcast against ``cosine``
            Lengths ‖x‖ of the rows on the left, ‖y‖ of those on the right.
        """

    def variance(self, cosine: Array, norms: Array) -> Array:
        """Return K_θ(x, x) exactly, for rows of lengths ``norms``.

        ``cosine`` is each row's cosine with itself: 1, and 0 for a row of zeros.
        """


@dataclass(frozen=True)
class InnerProduct:
    """K_IP = xᵀy, the covariance of a linear layer.

    Examples
    --------
    >>> InnerProduct().evaluate(np.array([[0.5]]), np.array([[2.0]]), np.array([[3.0]]))
    array([[3.]])
    """

    def evaluate(self, cosine: Array, left: Array, right: Array) -> Array:
        """Return ‖x‖ ‖y‖ c."""
        cosine *= left
        cosine *= right
        return cosine

    def variance(self, cosine: Array, norms: Array) -> Array:
        """Return ‖x‖²."""
        return norms**2


@dataclass(frozen=True)
class ArcCosine:
    """K_AC = 1 − arccos(c)/π, the arc-cosine kernel of order 0.

    Ill-conditioned for nearly parallel rows: an error e in the cosine becomes √(2e)/π.

    Examples
    --------
    >>> ArcCosine().evaluate(np.array([[1.0, 0.0]]), np.ones((1, 1)), np.ones((1, 2)))
    array([[1. , 0.5]])
    """

    def evaluate(self, cosine: Array, left: Array, right: Array) -> Array:
        """Return 1 − arccos(c)/π."""
        np.arccos(cosine, out=cosine)
        cosine *= -1 / np.pi
        cosine += 1
        return cosine

    def variance(self, cosine: Array, norms: Array) -> Array:
        """Return 1, or ½ for a row of zeros."""
        return (1 + cosine) / 2


@dataclass(frozen=True)
class Polynomial:
    """K_PL = (c + offset)^degree.

    Parameters
    ----------
    offset : float
        b ≥ 0 in the paper.
    degree : int
        a ≥ 1 in the paper. With a negative offset or a broken degree the kernel would not be
        positive semi-definite.

    Examples
    --------
    >>> Polynomial().evaluate(np.array([[1.0, 0.0]]), np.ones((1, 1)), np.ones((1, 2)))
    array([[2.25, 0.25]])
    """

    offset: float = 0.5
    degree: int = 2

    def __post_init__(self) -> None:
        if not is_real(self.offset) or self.offset < 0:
            raise InputError(f"offset must be finite and at least 0, got {self.offset!r}")
        if not is_real(self.degree) or int(self.degree) != self.degree or self.degree < 1:
            raise InputError(f"degree must be a whole number of at least 1, got {self.degree!r}")

    def evaluate(self, cosine: Array, left: Array, right: Array) -> Array:
        """Return (c + b)^a."""
        cosine += self.offset
        return np.power(cosine, int(self.degree), out=cosine)

    def variance(self, cosine: Array, norms: Array) -> Array:
        """Return (1 + b)^a, or b^a for a row of zeros."""
        return (cosine + self.offset) ** int(self.degree)


@dataclass(frozen=True)
class SquaredExponential:
    """K_SE = exp(−‖x − y‖² / (2 l²)).

    Parameters
    ----------
    length_scale : float
        l > 0 in the paper.

    Examples
    --------
    >>> SquaredExponential().evaluate(np.array([[1.0]]), np.array([[2.0]]), np.array([[2.0]]))
    array([[1.]])
    """

    length_scale: float = 1.0

    def __post_init__(self) -> None:
        if not is_real(self.length_scale) or self.length_scale <= 0:
            raise InputError(f"length_scale must be finite and above 0, got {self.length_scale!r}")

    def evaluate(self, cosine: Array, left: Array, right: Array) -> Array:
        """Return exp(−(‖x‖² + ‖y‖² − 2 ‖x‖ ‖y‖ c) / (2 l²))."""
        cosine *= -2 * left
        cosine *= right
        cosine += left**2
        cosine += right**2
        np.maximum(cosine, 0, out=cosine)
        cosine *= -0.5 / self.length_scale**2
        return np.exp(cosine, out=cosine)

    def variance(self, cosine: Array, norms: Array) -> Array:
        """Return 1."""
        return np.ones_like(norms)


BASE_KERNELS: dict[str, type[BaseKernel]] = {
    "inner_product": InnerProduct,
    "arc_cosine": ArcCosine,
    "polynomial": Polynomial,
    "squared_exponential": SquaredExponential,
}


def base_kernel_from(choice: str | BaseKernel) -> BaseKernel:
    """Return a base kernel by its name with default parameters, or the object that was given."""
    if isinstance(choice, str):
        if choice in BASE_KERNELS:
            return BASE_KERNELS[choice]()
    elif isinstance(choice, BaseKernel) and not isinstance(choice, type):
        return choice
    raise InputError(
        f"base_kernel must be one of {', '.join(BASE_KERNELS)}, "
        f"or an object with the methods evaluate and variance, got {choice!r}"
    )
