"""What a covariance of labels costs by a criterion, and how that changes with each entry of it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import log_softmax

from gpgc._typing import Array
from gpgc.compute import small_matrices

Cost = Literal["cross_entropy", "density", "evidence"]


class Graded(NamedTuple):
    """A cost, its derivatives by the entries (D, D) of K, and that by the log of t."""

    cost: float
    by_covariance: Array
    by_temperature: float


def graded_cost(
    covariance: Array, targets: Array, criterion: Cost, weights: Array, temperature: float = 1.0
) -> Graded:
    r"""Return a cost of K = Γ_DD + noise and its gradient.

    With :math:`\alpha = K^{-1} Y` and :math:`a_i = (K^{-1})_{ii}` the mean of a label that is left
    out is :math:`\mu_i = y_i - \alpha_i / a_i`, its variance :math:`1 / a_i` (Rasmussen and
    Williams 2006, equations 5.10 to 5.13, and 5.9 for the evidence).

    Parameters
    ----------
    covariance : array of shape (D, D)
        K.
    targets : array of shape (D, k)
        Y.
    criterion : {"cross_entropy", "density", "evidence"}
        Of softmax(t μ), the log density of the labels that are left out, or the evidence.
    weights : array of shape (D,)
        What leaving each label out counts.
    temperature : float, default 1
        t, for the cross-entropy.

    Examples
    --------
    >>> found = graded_cost(np.eye(2), np.eye(2), "evidence", np.ones(2))
    >>> round(found.cost, 4), found.by_covariance
    (4.6758, array([[0.5, 0. ],
           [0. , 0.5]]))
    """
    with small_matrices(len(covariance)):
        factor = cho_factor(covariance, lower=True)
        A = cho_solve(factor, np.eye(len(covariance)))
        alpha, a, n_targets = A @ targets, np.diagonal(A), targets.shape[1]
        if criterion == "evidence":
            log_determinant = 2 * float(np.log(np.diagonal(factor[0])).sum())
            fit = float((targets * alpha).sum())
            constant = len(targets) * np.log(2 * np.pi)
            cost = float(0.5 * (fit + n_targets * (log_determinant + constant)))
            return Graded(cost, 0.5 * (n_targets * A - alpha @ alpha.T), 0.0)
        if criterion == "density":
            squares = (alpha**2).sum(axis=1)
            losses = 0.5 * (squares / a + n_targets * (np.log(2 * np.pi) - np.log(a)))
            by_alpha = weights[:, None] * alpha / a[:, None]
            by_a = -0.5 * weights * (squares / a**2 + n_targets / a)
            return Graded(float(weights @ losses), _through(A, alpha, by_alpha, by_a), 0.0)
        means = targets - alpha / a[:, None]
        log_p = log_softmax(temperature * means, axis=1)
        losses = -(targets * log_p).sum(axis=1)
        total = targets.sum(axis=1, keepdims=True)
        by_logit = weights[:, None] * (np.exp(log_p) * total - targets)
        by_mean = temperature * by_logit
        by_alpha = -by_mean / a[:, None]
        by_a = (by_mean * alpha).sum(axis=1) / a**2
        by_temperature = float((by_logit * temperature * means).sum())
        cost = float(weights @ losses)
        return Graded(cost, _through(A, alpha, by_alpha, by_a), by_temperature)


def _through(A: Array, alpha: Array, by_alpha: Array, by_a: Array) -> Array:
    """Return the derivatives by K, from those by α = A Y and a = diag(A), since dA = −A dK A."""
    gradient = -(A @ by_alpha @ alpha.T) - (A * by_a) @ A
    return np.asarray((gradient + gradient.T) / 2)
