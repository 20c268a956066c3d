"""Calibrated class probabilities from latent means."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from gpgc._typing import Array
from gpgc.engine import small_matrices
from gpgc.gp.selection import cross_entropies

PRIOR_LABELS = 60
"""Number of labels from which the unlabelled nodes say more on the class shares than they do."""

SHARPNESS = (1.3, 0.5)
"""Mean and standard deviation of the log of t · r: how sharp good probabilities are on graphs of
many kinds, with r the root mean square of the latent means around their mean over classes."""

LEAST_CONTRAST = 1e-3
"""Differences between classes, relative to the latent means themselves, below which they are as
likely to come from rounding and from a sample of landmarks as from the labels."""

SHARPEST = 5.0
"""How many units of log t the labels may move the sharpness from its usual value."""

PRIOR_STEPS = 30

BIAS_PENALTY = 1.5
"""Ridge on the class biases that held-out labels fit, over their number."""


def softmax(logits: Array) -> Array:
    """Return the softmax of each row.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def root_mean_square(means: Array) -> float:
    """Return the root mean square length of latent means (n, k) around their mean over classes.

    It is at least a thousandth of their own, below which they say nothing, and 1 where there are
    none, the range of 0/1 targets.

    Examples
    --------
    >>> root_mean_square(np.array([[1.0, 0.0], [0.0, 1.0]])).__round__(3)
    0.707
    """
    if not len(means):
        return 1.0
    around = means - means.mean(axis=1, keepdims=True)
    contrast, size = (np.sqrt(np.vdot(part, part) / len(part)) for part in (around, means))
    return float(max(contrast, LEAST_CONTRAST * size))


def information(losses: Array, weights: Array, shares: Array) -> float:
    """Return how much of the entropy of the labels leave-one-out predictions explain, from 0 to 1.

    1 − CE / H with CE the weighted mean of the cross-entropies and H the entropy of the shares; 0
    where nothing can be left out.

    Parameters
    ----------
    losses, weights : arrays of shape (D,)
        Leave-one-out cross-entropies, and what each node counts.
    shares : array of shape (k,)
        Class shares among the labels.

    Examples
    --------
    >>> information(np.log([2.0, 1.0]), np.ones(2), np.array([0.5, 0.5]))
    0.5
    """
    entropy = float(-np.sum(shares * np.log(shares)))
    if entropy == 0 or not weights.any():
        return 0.0
    return max(0.0, 1 - float(np.average(losses, weights=weights)) / entropy)


def fit_temperature_with_prior(
    scores: Array, targets: Array, weights: Array, spread: float
) -> float:
    """Return the inverse temperature t of softmax(t · scores), shrunk towards a usual sharpness.

    Leave-one-out is blind with few labels: the class of the node that is left out has one label
    less than the others, so each node counts 1 − 1/n for n labels of its class, and a normal
    prior on log(t · spread) takes over where nothing is left.

    Parameters
    ----------
    scores, targets : arrays of shape (D, k)
        Leave-one-out means and one-hot labels.
    weights : array of shape (D,)
        What each node counts.
    spread : float
        :func:`root_mean_square` of the unlabelled nodes' means; t lies within e^±5 of what is
        usual for it.

    Returns
    -------
    float
    """
    if spread <= 0:
        return 1.0
    mean, deviation = SHARPNESS

    def loss(log_t: float) -> float:
        entropies = cross_entropies(scores, targets, np.asarray(np.exp(log_t)))
        prior = (log_t + np.log(spread) - mean) ** 2 / (2 * deviation**2)
        return float(weights @ entropies + prior)

    usual = mean - np.log(spread)
    bounds = (usual - SHARPEST, usual + SHARPEST)
    found = minimize_scalar(loss, bounds=bounds, method="bounded")
    return float(np.exp(found.x))


def estimate_prior(
    probabilities: Array, shares: Array, n_labels: int, information: float = 1.0
) -> Array:
    """Estimate the shares of the classes among unlabelled nodes by expectation-maximisation.

    Labels are often balanced where the world is not. Each step reweighs the probabilities by the
    ratio of the current prior to the labels' shares, and takes their mean as the next prior
    (Saerens, Latinne and Decaestecker, 2002), pulled towards the labels' shares, the more the fewer
    labels the probabilities come from and the less these say: where they say nothing the steps
    would run away to whatever class errs most.

    Parameters
    ----------
    probabilities : array of shape (n, k)
        Of the unlabelled nodes, under a prior equal to ``shares``.
    shares : array of shape (k,)
        Class shares among the labels.
    n_labels : int
        Number of labels.
    information : float
        How much of the labels' entropy leave-one-out explains (:func:`information`).

    Returns
    -------
    array of shape (k,)
        Positive, summing to 1.

    Examples
    --------
    >>> clear = np.eye(2)[[0, 0, 0, 1]]
    >>> estimate_prior(clear, np.array([0.5, 0.5]), n_labels=60).round(3)
    array([0.625, 0.375])
    """
    pull = 1 / (1 + (n_labels / PRIOR_LABELS) ** 2)
    prior, pull = shares, 1 - (1 - pull) * information
    if not len(probabilities):
        return prior
    for _ in range(PRIOR_STEPS):
        reweighed = probabilities * (prior / shares)
        reweighed /= reweighed.sum(axis=1, keepdims=True)
        prior = (1 - pull) * reweighed.mean(axis=0) + pull * shares
    return prior


def fit_scale_and_bias(scores: Array, targets: Array) -> tuple[float, Array]:
    """Fit t and b of softmax(t · scores + b) to held-out labels by penalised cross-entropy.

    The problem is convex; the ridge on b keeps classes that the labels do not show finite.

    Parameters
    ----------
    scores : array of shape (n, k)
        Latent means of the held-out nodes.
    targets : array of shape (n, k)
        Their labels, one-hot.

    Returns
    -------
    t : float
        Inverse temperature, at least 0.
    b : array of shape (k,)
        Class biases, summing to 0.
    """
    n, k = scores.shape

    def loss(parameters: Array) -> tuple[float, Array]:
        t, b = parameters[0], parameters[1:]
        logits = t * scores + b
        peak = logits.max(axis=1)
        log_normaliser = peak + np.log(np.exp(logits - peak[:, None]).sum(axis=1))
        value = np.mean(log_normaliser - (logits * targets).sum(axis=1))
        excess = (softmax(logits) - targets) / n
        slope = np.concatenate([[np.sum(excess * scores)], excess.sum(axis=0)])
        slope[1:] += 2 * BIAS_PENALTY / n * b
        return float(value + BIAS_PENALTY / n * np.sum(b**2)), slope

    start = np.concatenate([[1 / max(float(np.std(scores)), 1e-12)], np.zeros(k)])
    bounds = [(0.0, None)] + [(None, None)] * k
    with small_matrices(k):
        found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return float(found[0]), np.asarray(found[1:] - found[1:].mean())
