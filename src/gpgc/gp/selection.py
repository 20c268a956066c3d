"""Choosing the noise from the labels alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from gpgc._typing import Array
from gpgc.gp.noise import NoisePath

Criterion = Literal["density", "cross_entropy", "evidence"]

RELATIVE_NOISE = np.logspace(-5, 1, 61)
"""Noise levels that are tried, relative to the mean prior variance of the labelled nodes."""

FALLBACK_NOISE = 0.2
"""Relative noise where there are too few labels to leave one out."""


@dataclass(frozen=True)
class NoiseChoice:
    """A chosen noise level, with the score of every level that was tried.

    Attributes
    ----------
    noise_variance : float
        σ_τ².
    temperature : float
        The inverse temperature t of softmax(t · mean) that fits the leave-one-out means; 1 where
        none was fitted.
    grid, scores : arrays of shape (n_levels,)
        Absolute noise levels and their scores, larger is better; empty for a fixed choice.
    """

    noise_variance: float
    temperature: float = 1.0
    grid: Array = field(default_factory=lambda: np.empty(0))
    scores: Array = field(default_factory=lambda: np.empty(0))


def choose_noise(
    path: NoisePath, criterion: Criterion, relative_noise: Array = RELATIVE_NOISE
) -> NoiseChoice:
    """Choose the noise on a grid: the best score, the larger noise among equals.

    Parameters
    ----------
    path : NoisePath
        Of the labelled nodes.
    criterion : {"density", "cross_entropy", "evidence"}
        Leave-one-out log density (regression), leave-one-out cross-entropy of a softmax with a
        fitted temperature (one-hot targets), or log marginal likelihood. The first two need two
        labels or more; density must not be compared across kernels of different scale.
    relative_noise : array of shape (n_levels,)
        Levels relative to ``path.scale``.

    Returns
    -------
    NoiseChoice
    """
    grid = relative_noise * path.scale
    scored = [_score(path, criterion, level) for level in grid]
    scores = np.array([score for score, _ in scored])
    best = len(scores) - 1 - int(np.argmax(scores[::-1]))
    return NoiseChoice(float(grid[best]), scored[best][1], grid, scores)


def _score(path: NoisePath, criterion: Criterion, noise: float) -> tuple[float, float]:
    if criterion == "evidence":
        return path.log_marginal_likelihood(noise), 1.0
    mean, variance = path.leave_one_out(noise)
    if criterion == "density":
        error = (path.targets - mean) ** 2 / variance[:, None]
        density = -0.5 * (error + np.log(2 * np.pi * variance)[:, None])
        return float(density.sum()), 1.0
    temperature = fit_temperature(mean, path.targets)
    return -cross_entropy(mean, path.targets, temperature), temperature


def cross_entropy(scores: Array, targets: Array, temperature: float) -> float:
    """Return the mean cross-entropy of softmax(t · scores) with one-hot targets."""
    scaled = temperature * scores
    peak = scaled.max(axis=1)
    log_normaliser = peak + np.log(np.exp(scaled - peak[:, None]).sum(axis=1))
    return float(np.mean(log_normaliser - (scaled * targets).sum(axis=1)))


def fit_temperature(
    scores: Array, targets: Array, bounds: tuple[float, float] = (1e-2, 1e3)
) -> float:
    """Return the inverse temperature t that minimises the cross-entropy of softmax(t · scores).

    The cross-entropy is convex in t, so the root of its slope is found by bisection of log t.

    Examples
    --------
    >>> means = np.array([[0.6, 0.4], [0.3, 0.7], [0.6, 0.4]])
    >>> bool(fit_temperature(means, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])) < 10)
    True
    """
    observed = float((scores * targets).sum(axis=1).mean())
    low, high = np.log(bounds)
    for _ in range(40):
        middle = (low + high) / 2
        scaled = np.exp(middle) * scores
        probability = np.exp(scaled - scaled.max(axis=1, keepdims=True))
        probability /= probability.sum(axis=1, keepdims=True)
        expected = float((probability * scores).sum(axis=1).mean())
        low, high = (middle, high) if expected < observed else (low, middle)
    return float(np.exp((low + high) / 2))
