"""How sharp probabilities are: the inverse temperature t of softmax(t · scores)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from gpgc._typing import Array
from gpgc.probability.softmax import cross_entropies


class Sharpness(NamedTuple):
    """Mean and standard deviation of log(t · r) before labels say it, r the length of means."""

    mean: float
    std: float


SURE = 0.9
"""Where neighbors are alike, the probability of its class at a node whose latent means are as long
as usual and all in one class."""

ALIKE_STD = 0.5
"""Standard deviation of log(t · r) over graphs of many kinds whose neighbors are alike."""

UNLIKE = Sharpness(-2.5, 1.0)
"""Where the features of linked nodes are unlike: next to nothing is known without labels."""

AGREEING = 0.5
"""Cosine between views' means from which on the usual sharpness is what it is; below it falls in
proportion. Cosines with one label a class, and how far the best log sharpness was from the usual
one: digits .82, +.3; iris .59, -.2; Cora .46, 0; Citeseer .44, -.3; image segments .41, -.2; power
grid .30 and .26, -.6 and -.8; yeast proteins .29, -.8; pima .03, -1.7 (design draws)."""

LEAST_CONTRAST = 1e-3
"""Differences between classes, relative to the latent means themselves, below which they are as
likely to come from rounding and from a sample of landmarks as from the labels."""

SHARPEST = 5.0
"""How many units of log t the labels may move the sharpness from its usual value."""

SHARPNESS_STEPS = 41
"""Values of log t that are tried before the best one is refined."""

CHANCE_GAIN = 2.0
"""Nats that leave-one-out gains by chance over the labels' fractions, since it has chosen noise and
views too, and loses by chance where labels are few; between, a nat for each LABELS_A_NAT labels."""

LABELS_A_NAT = 6.0
"""exp(min(0, G − min(CHANCE_GAIN, n / this − CHANCE_GAIN))) of the sharpness is believed."""

BISECTIONS, NEWTON_STEPS = 10, 3
"""Steps towards t: of log t, then of t."""


def fit_temperature(
    scores: Array,
    targets: Array,
    weights: Array | None = None,
    bounds: tuple[float, float] = (1e-2, 1e3),
) -> Array:
    """Return the t (...) that minimise the cross-entropy of softmax(t · scores), (..., D, k).

    It is convex in t: bisection of log t brackets the root of its slope, and Newton polishes it.
    """
    by_class = np.moveaxis(scores, -1, 0)
    by_class = np.ascontiguousarray(by_class - by_class.max(axis=0))
    observed = np.einsum("k...d,dk->...d", by_class, targets)
    observed = np.average(observed, axis=-1, weights=weights)
    low, high = (np.full(observed.shape, bound) for bound in bounds)
    t = np.sqrt(low * high)
    for step in range(BISECTIONS + NEWTON_STEPS):
        powers = np.exp(t[..., None] * by_class)
        total = powers.sum(axis=0)
        powers *= by_class
        expected = powers.sum(axis=0) / total
        powers *= by_class
        slope = np.average(expected, axis=-1, weights=weights) - observed
        variance = powers.sum(axis=0) / total - expected**2
        curvature = np.average(variance, axis=-1, weights=weights)
        low, high = np.where(slope < 0, t, low), np.where(slope < 0, high, t)
        newton = t - slope / np.maximum(curvature, np.finfo(np.float64).tiny)
        inside = (step >= BISECTIONS) & (newton > low) & (newton < high)
        t = np.where(inside, newton, np.sqrt(low * high))
    return np.asarray(t)


def square_sums(means: Array) -> Array:
    """Return Σ ‖m − m̄‖², Σ ‖m‖² and n of latent means (n, k); those of several sets add up."""
    around = means - means.mean(axis=1, keepdims=True)
    return np.array([np.vdot(around, around), np.vdot(means, means), len(means)])


def root_mean_square(sums: Array) -> float:
    """Return √(Σ ‖m − m̄‖² / n) of :func:`square_sums`, the usual length of means around their own.

    At least a thousandth of their size, below which they say nothing; 1 of no nodes.
    """
    around, size, n_nodes = sums
    return float(np.sqrt(max(around, LEAST_CONTRAST**2 * size) / n_nodes)) if n_nodes else 1.0


def agreement(means: Sequence[Array]) -> float:
    """Return the mean cosine between latent means (n, k) of views, around those of each node.

    Nodes of which one of two views says nothing do not count; 1 where no two views speak.

    >>> agreement([np.eye(2), 3 * np.eye(2)]), agreement([np.eye(2), 1 - np.eye(2)])
    (1.0, -1.0)
    """
    found = []
    for one, other in combinations([mean - mean.mean(axis=1, keepdims=True) for mean in means], 2):
        speaking = one.any(axis=1) & other.any(axis=1)
        one, other = one[speaking], other[speaking]
        length = float(np.linalg.norm(one) * np.linalg.norm(other))
        if length:
            found.append(float(np.vdot(one, other)) / length)
    return float(np.clip(np.mean(found), -1.0, 1.0)) if found else 1.0  # rounding


def usual_sharpness(
    n_labels: float, alike: float, n_classes: int, agreeing: float = 1.0
) -> Sharpness:
    """Return how sharp probabilities usually are, ``agreeing`` the :func:`agreement` of views."""
    k = max(n_classes, 2)
    sure = np.sqrt(1 - 1 / k) * np.log(SURE / (1 - SURE) * (k - 1)) * min(1.0, agreeing / AGREEING)
    least = float(np.exp(UNLIKE.mean))
    mean = min(float(np.log(max(sure, least))), float(np.log(n_labels)) - 1)
    return Sharpness(
        alike * mean + (1 - alike) * UNLIKE.mean, alike * ALIKE_STD + (1 - alike) * UNLIKE.std
    )


def sharpness_penalty(log_sharpness: float, usual: Sharpness) -> float:
    """Return how unusual log(t · r) is in nats: a parabola within one deviation, a line beyond."""
    far = abs(log_sharpness - usual.mean) / usual.std
    return far**2 / 2 if far < 1 else far - 0.5


def credibility(gain: float, n_counted: float) -> float:
    """Return the part of the sharpness that is believed: min(1, exp(G − min(2, n/6 − 2)))."""
    return float(np.exp(min(0.0, gain - min(CHANCE_GAIN, n_counted / LABELS_A_NAT - CHANCE_GAIN))))


def fit_temperature_with_prior(
    scores: Array,
    targets: Array,
    weights: Array,
    contrast: float,
    usual: Sharpness,
    fractions: Array,
) -> float:
    """Return the inverse temperature t of softmax(t · scores + a log f), a = exp(−t · contrast).

    Leave-one-out is blind with few labels: each node counts 1 − 1/n for n labels of its class, and
    :func:`sharpness_penalty` takes over where nothing is left; then :func:`credibility` shrinks t.
    """
    if contrast <= 0:
        return 1.0
    if not weights.any():
        return float(np.exp(usual.mean) / contrast)

    known = np.log(fractions)

    def cost(sharpness: float) -> float:
        logits = sharpness / contrast * scores + np.exp(-sharpness) * known
        return float(weights @ cross_entropies(logits, targets))

    def loss(log_sharpness: float) -> float:
        return cost(np.exp(log_sharpness)) + sharpness_penalty(log_sharpness, usual)

    tried = np.linspace(usual.mean - SHARPEST, usual.mean + SHARPEST, SHARPNESS_STEPS)
    best, step = tried[int(np.argmin([loss(one) for one in tried]))], tried[1] - tried[0]
    found = minimize_scalar(loss, bounds=(best - step, best + step), method="bounded")
    sharpness = float(np.exp(found.x))
    return credibility(cost(0.0) - cost(sharpness), weights.sum()) * sharpness / contrast
