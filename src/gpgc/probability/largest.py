"""From latent Gaussians to class probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from gpgc._typing import Array

GRID = np.linspace(-8.0, 8.0, 65)
"""Where the integrand is evaluated, in standard deviations around the largest mean."""

ROWS = 4096
"""Nodes that are integrated at once."""


def largest_probability(mean: Array, std: Array) -> Array:
    r"""Return the probability that each class has the largest latent value.

    .. math::
        p_c = \int \mathcal N(t;\, \mu_c, s^2) \prod_{j \ne c} \Phi\!\left(\frac{t - \mu_j}{s}
        \right) dt

    for independent classes of one standard deviation s a node, by the trapezoidal rule, which
    converges exponentially for such integrands.

    Parameters
    ----------
    mean : array of shape (n, k)
        Latent means μ.
    std : array of shape (n,)
        Latent standard deviations s; where s is 0 the largest means share the probability.

    Returns
    -------
    array of shape (n, k)
        Rows sum to 1.

    Examples
    --------
    >>> largest_probability(np.array([[1.0, 0.0]]), np.array([1.0])).round(4)
    array([[0.7602, 0.2398]])
    """
    mean, std = np.asarray(mean, dtype=np.float64), np.asarray(std, dtype=np.float64)
    gap = mean - mean.max(axis=1, keepdims=True)
    out = (gap == 0).astype(np.float64)
    uncertain = np.flatnonzero(std > 0)
    for start in range(0, len(uncertain), ROWS):
        nodes = uncertain[start : start + ROWS]
        standard = GRID[None, :, None] - (gap[nodes] / std[nodes, None])[:, None, :]
        log_below = log_ndtr(standard)
        log_density = -0.5 * standard**2
        product = log_below.sum(axis=2, keepdims=True) - log_below + log_density
        out[nodes] = np.exp(product).sum(axis=1)
    return np.asarray(out / out.sum(axis=1, keepdims=True))
