"""K = Γ_DD + noise, factorised once for all that is asked of it."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.linalg.lapack import dtrtri

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.errors import GPGCWarning, InputError
from gpgc.gp.rounding import MOST_UNITS, checked_gram

MOST_JITTER = 1e-4
"""Jitter, relative to the mean of the diagonal, that is tried in any case."""


class Factor(ABC):
    """A factorisation K⁻¹ = WᵀW of the D × D matrix K, in float64."""

    jitter: float = 0.0
    """What had to be added to the diagonal beside the noise; 0 if nothing."""

    @abstractmethod
    def solve(self, values: Array) -> Array:
        """Return K⁻¹ values, of shape (D, k)."""

    @abstractmethod
    def whiten(self, cross: Array) -> Array:
        """Return W crossᵀ, of shape (D, n), for covariances (n, D) with the labelled nodes."""

    @abstractmethod
    def inverse_diagonal(self, among: Integers | None = None) -> Array:
        """Return the diagonal of K⁻¹, of shape (D,), or its entries at some labels."""

    @abstractmethod
    def log_determinant(self) -> float:
        """Return log det K."""


class CholeskyFactor(Factor):
    """K = L Lᵀ, W = L⁻¹: what a single noise level needs.

    Parameters
    ----------
    gamma : array of shape (D, D)
        Γ_DD, in the number format in which it was computed: a float32 matrix has negative
        eigenvalues by rounding, of the order of D float32 roundings, and is treated so.
    noise_variance : float or array of shape (D,)
        σ_τ² ≥ 0, one for all labels or one each.

    Examples
    --------
    >>> CholeskyFactor(np.eye(2), 1.0).solve(np.array([[1.0], [0.0]]))
    array([[0.5],
           [0. ]])
    """

    def __init__(self, gamma: Any, noise_variance: float | Array) -> None:
        matrix, scale, unit = checked_gram(gamma)
        noise = np.asarray(noise_variance, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"gamma must be of shape (D, D), got {matrix.shape}")
        if not np.isfinite(noise).all() or (noise < 0).any():
            raise InputError(f"noise_variance must be finite and at least 0, got {noise_variance}")
        with small_matrices(len(matrix)):
            self._lower, self.jitter = _factorise(matrix, noise, scale, unit)

    def solve(self, values: Array) -> Array:
        """Return K⁻¹ values."""
        with small_matrices(len(self._lower)):
            return np.asarray(cho_solve((self._lower, True), values))

    def whiten(self, cross: Array) -> Array:
        """Return L⁻¹ crossᵀ."""
        right = np.asarray(cross, dtype=np.float64).T
        return np.asarray(solve_triangular(self._lower, right, lower=True, check_finite=False))

    def inverse_diagonal(self, among: Integers | None = None) -> Array:
        """Return the diagonal of K⁻¹: the squared columns of L⁻¹, summed."""
        n_labels = len(self._lower)
        with small_matrices(n_labels):
            if among is not None and 3 * len(among) < n_labels:  # D² an entry, D³/3 for all
                columns = np.zeros((len(among), n_labels))
                columns[np.arange(len(among)), among] = 1.0
                return _column_squares(self.whiten(columns))
            inverse, _ = dtrtri(self._lower, lower=1)
        squares = _column_squares(inverse)
        return squares if among is None else squares[among]

    def log_determinant(self) -> float:
        """Return 2 Σ log L_ii."""
        return 2 * float(np.log(np.diagonal(self._lower)).sum())


class SpectralFactor(Factor):
    """K = R^½ Q diag(λ + σ²) Qᵀ R^½: one level of a noise path, which knows Q and λ already.

    Parameters
    ----------
    vectors : array of shape (D, D)
        Q, eigenvectors of R^−½ Γ_DD R^−½ in columns.
    shrinkage : array of shape (D,)
        λ + σ².
    relative_noise : array of shape (D,)
        The diagonal of R: the noise of each label over σ².
    """

    def __init__(self, vectors: Array, shrinkage: Array, relative_noise: Array) -> None:
        self._vectors, self._shrinkage = vectors, shrinkage
        self._relative, self._root = relative_noise, np.sqrt(relative_noise)

    def solve(self, values: Array) -> Array:
        """Return K⁻¹ values."""
        rotated = self._vectors.T @ (values / self._root[:, None])
        return np.asarray(
            self._vectors @ (rotated / self._shrinkage[:, None]) / self._root[:, None]
        )

    def whiten(self, cross: Array) -> Array:
        """Return (λ + σ²)^−½ Qᵀ R^−½ crossᵀ."""
        rotated = self._vectors.T @ (np.asarray(cross, dtype=np.float64) / self._root).T
        return np.asarray(rotated / np.sqrt(self._shrinkage)[:, None])

    def inverse_diagonal(self, among: Integers | None = None) -> Array:
        """Return Σ_j Q_ij² / (λ_j + σ²) / R_ii."""
        chosen = slice(None) if among is None else among
        squares = self._vectors[chosen] ** 2
        return np.asarray(squares @ (1 / self._shrinkage) / self._relative[chosen])

    def log_determinant(self) -> float:
        """Return Σ log(λ + σ²) + Σ log R_ii."""
        return float(np.log(self._shrinkage).sum() + np.log(self._relative).sum())


def _column_squares(matrix: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", matrix, matrix))


def _factorise(gamma: Array, noise: Array, scale: float, unit: float) -> tuple[Array, float]:
    """Factorise Γ + σ²I, and return what had to be added to the diagonal.

    Noise far above the rounding of Γ makes it definite. Otherwise Γ itself is made so first, else
    a negative eigenvalue just above −σ² would leave a tiny one, whose inverse means nothing.
    """
    n_labels = len(gamma)
    rounding = n_labels * unit * scale
    if noise.min(initial=np.inf) > MOST_UNITS * rounding:
        factor = _cholesky(gamma, noise)
        if factor is not None:
            return factor, 0.0
    jitter = _least_jitter(gamma, scale, unit)
    factor = None if jitter is None else _cholesky(gamma, noise + jitter)
    if jitter is None or factor is None:
        raise InputError(
            "the covariance of the labelled nodes is not positive semi-definite: adding "
            f"{_most_jitter(n_labels, unit):g} of its mean diagonal did not help"
        )
    is_rounding = jitter <= rounding and noise.min(initial=np.inf) > 0
    if jitter and not is_rounding:
        warnings.warn(
            f"the covariance of the labelled nodes is singular at noise variance "
            f"{float(np.mean(noise)):g}; {jitter:g} was added to its diagonal",
            GPGCWarning,
            stacklevel=4,
        )
    return factor, jitter


def _least_jitter(gamma: Array, scale: float, unit: float) -> float | None:
    """Return the least of a few jitters that make Γ positive definite; None if none does."""
    most = _most_jitter(len(gamma), unit) * scale
    if _cholesky(gamma, np.zeros(())) is not None:
        return 0.0
    jitter = len(gamma) * unit * scale
    while jitter <= most:
        if _cholesky(gamma, np.asarray(jitter)) is not None:
            return float(jitter)
        jitter *= 4
    return None


def _most_jitter(n_labels: int, unit: float) -> float:
    return max(MOST_UNITS * n_labels * unit, MOST_JITTER)


def _cholesky(gamma: Array, added: Array) -> Array | None:
    """Return the lower factor of Γ with something added to its diagonal; None if indefinite."""
    matrix = gamma.copy()
    matrix[np.diag_indices_from(matrix)] += added
    try:
        return np.asarray(cholesky(matrix, lower=True, overwrite_a=True, check_finite=False))
    except np.linalg.LinAlgError:
        return None
