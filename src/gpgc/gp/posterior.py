"""The posterior at one noise level."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from gpgc._typing import Array
from gpgc.engine import small_matrices
from gpgc.errors import GPGCWarning, InputError

JITTERS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)
"""Tried in turn, relative to the mean of the diagonal, until the matrix factorises."""


class Posterior:
    r"""Gaussian process regression on D observed nodes, always in float64.

    With :math:`K = \Gamma_{DD} + \sigma_\tau^2 I` (section "Semi-supervised Classification with
    Gaussian Process") the mean is :math:`\Gamma_{UD} K^{-1} Y` and the covariance is
    :math:`\Lambda = \Gamma_{UU} - \Gamma_{UD} K^{-1} \Gamma_{DU}`.

    Parameters
    ----------
    gamma : array of shape (D, D)
        Γ_DD.
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
        gamma = np.asarray(gamma, dtype=np.float64)
        self.targets = np.asarray(targets, dtype=np.float64)
        noise = np.asarray(noise_variance, dtype=np.float64)
        if not np.isfinite(noise).all() or (noise < 0).any():
            raise InputError(f"noise_variance must be finite and at least 0, got {noise_variance}")
        if gamma.shape != (len(self.targets),) * 2 or self.targets.ndim != 2:
            raise InputError(
                "gamma must be (D, D) and targets (D, k), "
                f"got {gamma.shape} and {self.targets.shape}"
            )
        self.noise_variance = noise
        with small_matrices(len(gamma)):
            self._factor, self.jitter = _factorise(gamma, noise)
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


def _factorise(gamma: Array, noise: Array) -> tuple[Array, float]:
    """Factorise Γ + σ²I, with as little added to the diagonal as it takes."""
    scale = float(np.mean(np.diagonal(gamma))) or 1.0
    for relative in JITTERS:
        jitter = relative * scale
        matrix = gamma.copy()
        matrix[np.diag_indices_from(matrix)] += noise + jitter
        try:
            factor = cholesky(matrix, lower=True, overwrite_a=True)
        except np.linalg.LinAlgError:
            continue
        if jitter:
            warnings.warn(
                f"the covariance of the labelled nodes is singular at noise variance "
                f"{float(np.mean(noise)):g}; {jitter:g} was added to its diagonal",
                GPGCWarning,
                stacklevel=3,
            )
        return factor, jitter
    raise InputError(
        "the covariance of the labelled nodes is not positive semi-definite: "
        f"adding {JITTERS[-1]:g} of its mean diagonal did not help"
    )
