"""K = Γ_DD + noise, inverted once: what all others say of each label, and the evidence.

Answers at several noise levels at once have leading axes, written `...` below.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.linalg import cho_solve, cholesky, eigh, solve_triangular
from scipy.linalg.lapack import dtrtri

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.errors import GPGCWarning, InputError

MOST_UNITS = 64
"""Largest jitter, in units of D times the rounding of one entry; more is no rounding."""

MOST_JITTER = 1e-4
"""Jitter, relative to the mean of the diagonal, that is tried in any case."""

CHOSEN_A_VIEW = 2
"""Numbers that left-out values choose for each view that counts: its weight and its noise."""


class LeaveOneOut(NamedTuple):
    """How each label is predicted from the others: means (D, k), variances (D,) with noise."""

    mean: Array
    variance: Array


def left_out(targets: Array, alpha: Array, precision: Array) -> LeaveOneOut:
    """Return y − α / diag K⁻¹ and 1 / diag K⁻¹ (Rasmussen and Williams 2006, equation 5.12)."""
    return LeaveOneOut(targets - alpha / precision[..., None], 1 / precision)


def residual_scale(n_values: float, n_chosen: int) -> float:
    """Return √(n / (n − p)): left-out residuals are too small where they chose p numbers.

    >>> residual_scale(30, 0), round(residual_scale(30, 6), 3), residual_scale(2, 4)
    (1.0, 1.118, 1.4142135623730951)
    """
    return float(np.sqrt(n_values / max(n_values - n_chosen, 1.0))) if n_values > 1 else 1.0


class Factor(ABC):
    """What posteriors ask of K and of the targets Y (D, k)."""

    targets: Array

    @abstractmethod
    def solved(self, among: Integers | None = None) -> tuple[Array, Array]:
        """Return α = K⁻¹Y (..., m, k) and diag K⁻¹ (..., m), at all labels or at some."""

    @abstractmethod
    def fit_and_volume(self) -> tuple[Array, Array]:
        """Return Σ_k y_kᵀK⁻¹y_k (...) and log det K (...)."""

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return how each label, or each of some, is predicted from all others."""
        return left_out(self.targets if among is None else self.targets[among], *self.solved(among))

    def log_marginal_likelihood(self) -> Array:
        """Return −½ Σ_k (y_kᵀK⁻¹y_k + log det K + D log 2π) (Rasmussen and Williams, 5.8)."""
        n, k = self.targets.shape
        fit, volume = self.fit_and_volume()
        return np.asarray(-0.5 * (fit + k * (volume + n * np.log(2 * np.pi))))


@dataclass(frozen=True, eq=False)
class LabelFactor(Factor):
    """Of the D × D matrix K itself, by its inverse."""

    targets: Array
    inverse: Inverse

    @cached_property
    def weights(self) -> Array:
        """K⁻¹Y (..., D, k)."""
        return self.inverse.solve(self.targets)

    def solved(self, among: Integers | None = None) -> tuple[Array, Array]:
        """Return K⁻¹Y and diag K⁻¹."""
        chosen = slice(None) if among is None else among
        return self.weights[..., chosen, :], self.inverse.diagonal(among)

    def fit_and_volume(self) -> tuple[Array, Array]:
        """Return Σ_k y_kᵀK⁻¹y_k and log det K."""
        return (self.targets * self.weights).sum(axis=(-2, -1)), self.inverse.log_determinant()


@dataclass(frozen=True, eq=False)
class Cholesky:
    """K = L Lᵀ, W = L⁻¹, of a single noise level; ``jitter`` had to be added to the diagonal."""

    lower: Array
    jitter: float = 0.0

    def solve(self, values: Array) -> Array:
        """Return K⁻¹ values (D, k)."""
        with small_matrices(len(self.lower)):
            return np.asarray(cho_solve((self.lower, True), values))

    def whiten(self, cross: Array) -> Array:
        """Return W crossᵀ (D, n) of rows (n, D)."""
        right = np.array(cross, dtype=np.float64, order="C").T
        solved = solve_triangular(
            self.lower, right, lower=True, overwrite_b=True, check_finite=False
        )
        return np.asarray(solved)

    def quadratic(self, cross: Array) -> Array:
        """Return cᵀK⁻¹c = ‖L⁻¹c‖² for each row c of ``cross`` (n, D)."""
        return _column_squares(self.whiten(cross))

    def diagonal(self, among: Integers | None = None) -> Array:
        """Return the diagonal of K⁻¹, or some entries: squared columns of L⁻¹, summed."""
        with small_matrices(len(self.lower)):
            inverse, _ = dtrtri(self.lower, lower=1)
        squares = _column_squares(inverse)
        return squares if among is None else squares[among]

    def log_determinant(self) -> Array:
        """Return log det K = 2 Σ log L_ii."""
        return np.asarray(2 * np.log(np.diagonal(self.lower)).sum())


@dataclass(frozen=True, eq=False)
class Spectral:
    """K = S Q diag(λ + σ²) Qᵀ S at levels of σ²: ``shrinkage`` (..., D) is λ + σ², S² = R (D,)."""

    vectors: Array
    shrinkage: Array
    scaling: Array

    def solve(self, values: Array) -> Array:
        """Return K⁻¹ values (..., D, k)."""
        rotated = self.vectors.T @ (values / self.scaling[:, None])
        solved = times_each(self.vectors, rotated / self.shrinkage[..., None])
        return np.asarray(solved / self.scaling[:, None])

    def whiten(self, cross: Array) -> Array:
        """Return W crossᵀ (..., D, n), W = (λ + σ²)^−½ Qᵀ S⁻¹."""
        rotated = (np.asarray(cross, dtype=np.float64) / self.scaling) @ self.vectors
        return np.asarray(rotated.T / np.sqrt(self.shrinkage)[..., None])

    def quadratic(self, cross: Array) -> Array:
        """Return cᵀK⁻¹c = Σ_j (q_jᵀ S⁻¹ c)² / (λ_j + σ²) (..., n) for each row c."""
        rotated = (np.asarray(cross, dtype=np.float64) / self.scaling) @ self.vectors
        return np.asarray((1 / self.shrinkage) @ (rotated**2).T)

    def diagonal(self, among: Integers | None = None) -> Array:
        """Return the diagonal (..., D) of K⁻¹: Σ_j Q_ij² / (λ_j + σ²) / R_ii."""
        chosen = slice(None) if among is None else among
        squares = (1 / self.shrinkage) @ (self.vectors[chosen] ** 2).T
        return np.asarray(squares / self.scaling[chosen] ** 2)

    def log_determinant(self) -> Array:
        """Return log det K (...) = Σ log(λ + σ²) + Σ log R_ii."""
        volume = np.log(self.shrinkage).sum(axis=-1)
        return np.asarray(volume + 2 * np.log(self.scaling).sum())


Inverse: TypeAlias = Cholesky | Spectral
"""K⁻¹ = WᵀW in float64, of one matrix, or of several along leading axes."""


class NoisePath:
    """K⁻¹ = R^−½ Q diag(1 / (λ + σ²)) Qᵀ R^−½ at any σ², with R^−½ Γ_DD R^−½ = Q diag(λ) Qᵀ.

    Negative λ are rounding; where the noise is not far above it, all are shifted up by as much.
    ``scale`` is the mean prior variance of the labels, ``rounding`` how far the λ may be off.
    """

    scale: float
    rounding: float

    def __init__(self, gamma: Any, targets: Any, relative_noise: Array | None = None) -> None:
        matrix, self.scale, unit = checked_gram(gamma)
        self.targets: Array = np.asarray(targets, dtype=np.float64)
        self.relative_noise = np.ones(len(matrix)) if relative_noise is None else relative_noise
        self._scaling: Array = np.sqrt(self.relative_noise)
        if relative_noise is not None:
            matrix = matrix / np.outer(self._scaling, self._scaling)
        with small_matrices(len(matrix)):
            self._values, self._vectors = eigh(matrix, driver="evd", check_finite=False)
        self._unit = len(matrix) * unit * self.scale
        lowest = float(self._values.min(initial=0.0))
        self._shift = max(-lowest, self._unit) if lowest < 0 else 0.0
        self._floor = float(np.finfo(np.float64).eps) * len(matrix) * self.scale
        self.rounding = max(-lowest, self._floor)

    def of_targets(self, columns: Any) -> Self:
        """Return the path of some columns of the targets, with the same eigendecomposition."""
        other = copy(self)
        other.targets = self.targets[:, columns]
        return other

    def inverse(self, noise: float | Array) -> Spectral:
        """Return the inverse at noise levels: λ + σ² is kept away from 0 by the rounding of λ."""
        levels = np.asarray(noise, dtype=np.float64)[..., None]
        shifted = levels + np.where(levels > MOST_UNITS * self._unit, 0.0, self._shift)
        shrinkage = np.maximum(self._values + shifted, self._floor)
        return Spectral(self._vectors, shrinkage, self._scaling)

    def at(self, noise: float | Array) -> Factor:
        """Return the factor of noise levels."""
        return LabelFactor(self.targets, self.inverse(noise))


def times_each(matrix: Array, values: Array) -> Array:
    """Return matrix (n, D) @ values (..., D, k), as one product."""
    first = np.moveaxis(values, -2, 0)
    product = matrix @ first.reshape(len(first), -1)
    return np.moveaxis(product.reshape(len(matrix), *first.shape[1:]), 0, -2)


def factorised(gamma: Any, noise_variance: float | Array) -> Cholesky:
    """Return the inverse of K = Γ_DD + noise, one variance for all labels or one each.

    Noise far above the rounding of Γ makes it definite. Otherwise Γ itself is made so first, else
    a negative eigenvalue just above −σ² would leave a tiny one, whose inverse means nothing.
    """
    matrix, scale, unit = checked_gram(gamma)
    noise = np.asarray(noise_variance, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"gamma must be of shape (D, D), got {matrix.shape}")
    if not np.isfinite(noise).all() or (noise < 0).any():
        raise InputError(f"noise_variance must be finite and at least 0, got {noise_variance}")
    least, rounding = noise.min(initial=np.inf), len(matrix) * unit * scale
    most = max(MOST_UNITS * rounding, MOST_JITTER * scale)
    with small_matrices(len(matrix)):
        lower = _cholesky(matrix, noise) if least > MOST_UNITS * rounding else None
        jitter = 0.0
        if lower is None:
            while jitter <= most and _cholesky(matrix, np.asarray(jitter)) is None:
                jitter = 4 * jitter or rounding
            lower = _cholesky(matrix, noise + jitter) if jitter <= most else None
    if lower is None:
        raise InputError(
            "the covariance of the labelled nodes is not positive semi-definite: adding "
            f"{most / scale:g} of its mean diagonal did not help"
        )
    if jitter > rounding or (jitter and not least):
        warnings.warn(
            f"the covariance of the labelled nodes is singular at noise variance "
            f"{float(np.mean(noise)):g}; {jitter:g} was added to its diagonal",
            GPGCWarning,
            stacklevel=3,
        )
    return Cholesky(lower, jitter)


def checked_gram(gamma: Any) -> tuple[Array, float, float]:
    """Return Γ_DD in float64, the mean of its diagonal, and its rounding relative to that.

    A float32 matrix has that of its format: D errors make eigenvalues of up to D units from zeros.
    """
    given = np.asarray(gamma)
    computed_in = given.dtype if given.dtype == np.float32 else np.dtype(np.float64)
    matrix = given.astype(np.float64, copy=False)
    format_ = np.finfo(computed_in)
    diagonal = np.diagonal(matrix)
    if not np.isfinite(matrix).all():
        raise InputError(
            "X, weight_variance, bias_variance and depth must lead to covariances that "
            f"{computed_in} can hold, up to {float(format_.max):.0e}, got infinity or NaN: scale "
            "them down, or choose dtype='float64'"
        )
    largest = float(diagonal.max(initial=0.0))
    if 0 < largest < float(format_.tiny / format_.eps):
        raise InputError(
            "X, weight_variance and depth must lead to covariances that "
            f"{computed_in} can hold, from {float(format_.tiny / format_.eps):.0e} on, got "
            f"{largest:.0e} as the largest: scale them up, or choose dtype='float64'"
        )
    scale = float(np.mean(diagonal)) if len(diagonal) else 0.0
    return matrix, scale or 1.0, float(format_.eps)


def _column_squares(matrix: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", matrix, matrix))


def _cholesky(gamma: Array, added: Array) -> Array | None:
    """Return the lower factor of Γ with something added to its diagonal; None if indefinite."""
    matrix = gamma.copy()
    matrix[np.diag_indices_from(matrix)] += added
    try:
        return np.asarray(cholesky(matrix, lower=True, overwrite_a=True, check_finite=False))
    except np.linalg.LinAlgError:
        return None
