"""The posterior of several targets, each at a noise level of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpgc._typing import Array
from gpgc.gp.posterior import Posterior


class TargetwisePosterior:
    """Independent Gaussian process regressions of k targets on the same D nodes.

    Parameters
    ----------
    gamma : array of shape (D, D)
        Γ_DD.
    targets : array of shape (D, k)
        Y.
    noise_variance : array of shape (k,)
        σ_τ² of each target; targets of equal noise share one factorisation.

    Attributes
    ----------
    weights : array of shape (D, k)
        (Γ_DD + σ²I)⁻¹ y of each target.

    Examples
    --------
    >>> targets = np.array([[1.0, 1.0], [0.0, 0.0]])
    >>> posterior = TargetwisePosterior(np.eye(2), targets, np.array([1.0, 3.0]))
    >>> posterior.weights
    array([[0.5 , 0.25],
           [0.  , 0.  ]])
    >>> posterior.variance(np.array([[1.0, 0.0]]), np.array([1.0]))
    array([[0.5 , 0.75]])
    """

    def __init__(self, gamma: Array, targets: Array, noise_variance: Array) -> None:
        self.targets = np.asarray(targets, dtype=np.float64)
        levels, self._level = np.unique(noise_variance, return_inverse=True)
        self._parts = [
            Posterior(gamma, self.targets[:, self._level == index], float(level))
            for index, level in enumerate(levels)
        ]
        self.weights = np.empty_like(self.targets)
        for index, part in enumerate(self._parts):
            self.weights[:, self._level == index] = part.weights

    def variance(self, cross: Array, prior: Array) -> Array:
        """Return the variance (n, k) of the latent values, given the prior variances (n,)."""
        return self._for_each_target(lambda part: part.variance(cross, prior))

    def covariance(self, cross: Array, prior: Array) -> Array:
        """Return the covariance (n, n, k), given the prior covariance (n, n)."""
        return self._for_each_target(lambda part: part.covariance(cross, prior))

    def log_marginal_likelihood(self) -> float:
        """Return the log evidence, summed over the targets."""
        return sum(part.log_marginal_likelihood() for part in self._parts)

    def leave_one_out(self) -> tuple[Array, Array]:
        """Return mean and variance, both (D, k), of each value predicted from the others."""
        mean = np.empty_like(self.targets)
        for index, part in enumerate(self._parts):
            mean[:, self._level == index] = part.leave_one_out()[0]
        return mean, self._for_each_target(lambda part: part.leave_one_out()[1])

    def _for_each_target(self, answer: Callable[[Posterior], Array]) -> Array:
        by_level = np.stack([answer(part) for part in self._parts], axis=-1)
        return np.asarray(by_level[..., self._level])
