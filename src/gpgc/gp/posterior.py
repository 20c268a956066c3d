"""The posterior at one noise level."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from gpgc._typing import Array
from gpgc.engine import small_matrices
from gpgc.errors import GPGCWarning, InputError
from gpgc.gp.rounding import MOST_UNITS, checked_gram

MOST_JITTER = 1e-4
"""Jitter, relative to the mean of the diagonal, that is tried in any case."""


class Posterior:
    r"""Gaussian process regression on D observed nodes, always in float64.

    With :math:`K = \Gamma_{DD} + \sigma_\tau^2 I` (section "Semi-supervised Classification with
    Gaussian Process") the mean is :math:`\Gamma_{UD} K^{-1} Y` and the covariance is
    :math:`\Lambda = \Gamma_{UU} - \Gamma_{UD} K^{-1} \Gamma_{DU}`.

    Parameters
    ----------
    gamma : array of shape (D, D)
        Γ_DD, in the number format in which it was computed: a float32 matrix has negative
        eigenvalues by rounding, of the order of D float32 roundings, and is treated so.
    targets : array of shape (D, k)
        Y.
    noise_variance : float or array of shape (D,)
        σ_τ² ≥ 0, one for all nodes or one each.

    Attributes
    ----------
    weights : array of shape (D, k)
        K⁻¹ Y; the mean anywhere is Γ[:, D] @ weights.
    jitter : float
        What had to be added to the diagonal beside the noise; 0 if nothing.

    Examples
    --------
    >>> posterior = Posterior(np.eye(2), np.array([[1.0], [0.0]]), noise_variance=1.0)
    >>> posterior.mean(np.array([[1.0, 0.0]]))
    array([[0.5]])
    >>> posterior.variance(np.array([[1.0, 0.0]]), np.array([1.0]))
    array([0.5])
    """

    def __init__(self, gamma: Any, targets: Any, noise_variance: float | Array) -> None:
        matrix, scale, unit = checked_gram(gamma)
        self.targets = np.asarray(targets, dtype=np.float64)
        noise = np.asarray(noise_variance, dtype=np.float64)
        if not np.isfinite(noise).all() or (noise < 0).any():
            raise InputError(f"noise_variance must be finite and at least 0, got {noise_variance}")
        if matrix.shape != (len(self.targets),) * 2 or self.targets.ndim != 2:
            raise InputError(
                "gamma must be (D, D) and targets (D, k), "
                f"got {matrix.shape} and {self.targets.shape}"
            )
        self.noise_variance = noise
        with small_matrices(len(matrix)):
            self._factor, self.jitter = _factorise(matrix, noise, scale, unit)
            self.weights = cho_solve((self._factor, True), self.targets)

    def mean(self, cross: Array) -> Array:
        """Return the mean (n, k) where ``cross`` (n, D) is the covariance with the observed."""
        return np.asarray(cross @ self.weights, dtype=np.float64)

    def variance(self, cross: Array, prior: Array) -> Array:
        """Return the variance (n,) of the latent values, given the prior variances (n,)."""
        explained = self.whiten(cross)
        return np.asarray(np.maximum(prior - np.einsum("dn,dn->n", explained, explained), 0.0))

    def covariance(self, cross: Array, prior: Array) -> Array:
        """Return the covariance Λ (n, n), given the prior covariance (n, n)."""
        explained = self.whiten(cross)
        covariance = np.asarray(prior, dtype=np.float64) - explained.T @ explained
        return np.asarray(covariance + covariance.T) / 2

    def whiten(self, cross: Array) -> Array:
        """Return L⁻¹ crossᵀ (D, n) with L the Cholesky factor of K."""
        right = np.asarray(cross, dtype=np.float64).T
        return np.asarray(solve_triangular(self._factor, right, lower=True, check_finite=False))

    def log_marginal_likelihood(self) -> float:
        """Return the log evidence, summed over the columns of the targets."""
        n, k = self.targets.shape
        fit = 0.5 * float((self.targets * self.weights).sum())
        volume = float(np.log(np.diagonal(self._factor)).sum())
        return float(-fit - k * (volume + 0.5 * n * np.log(2 * np.pi)))

    def leave_one_out(self) -> tuple[Array, Array]:
        """Return mean (D, k) and variance (D,) of each observation predicted from the others.

        The variance is that of a noisy observation. With q = diag(K⁻¹) they are
        y − K⁻¹y / q and 1 / q (Rasmussen and Williams, equation 5.12).
        """
        with small_matrices(len(self.targets)):
            inverse_factor = solve_triangular(
                self._factor, np.eye(len(self.targets)), lower=True, check_finite=False
            )
        precision = np.einsum("ij,ij->j", inverse_factor, inverse_factor)
        return self.targets - self.weights / precision[:, None], 1 / precision


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
