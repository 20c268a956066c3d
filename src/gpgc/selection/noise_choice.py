"""Choosing the noise from the labels alone."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Literal, Self

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp.level_path import LevelPath
from gpgc.probability.softmax import cross_entropies
from gpgc.probability.temperature import fit_temperature

Criterion = Literal["density", "cross_entropy", "evidence"]

RELATIVE_NOISE = np.logspace(-5, 1, 61)
"""Noise levels that are tried first, relative to the mean prior variance of the labelled nodes."""

DECADE = np.logspace(0.1, 1, 10)
"""By what the last level is multiplied or divided where the best one lies at the end."""

LEAST_RELATIVE_NOISE = 1e-9

PULL = 1.0
"""What the square of a decade away from the usual noise costs, in units of one label's loss."""

MANY_SCORES = 2**23
"""Leave-one-out means at all levels from which every ``COARSE``-th level is tried first, then those
around the best; also how many are held at once."""

COARSE = 5


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
    losses : array of shape (D,)
        What leaving each labelled node out costs at this level, smaller is better; empty where
        nothing was left out.
    grid, scores : arrays of shape (n_levels,)
        Absolute noise levels and their scores, larger is better; empty for a fixed choice.
    """

    noise_variance: float
    temperature: float = 1.0
    losses: Array = field(default_factory=lambda: np.empty(0))
    grid: Array = field(default_factory=lambda: np.empty(0))
    scores: Array = field(default_factory=lambda: np.empty(0))


def choose_noise(
    path: LevelPath,
    criterion: Criterion,
    weights: Array | None = None,
    usual_noise: float | None = None,
) -> NoiseChoice:
    """Choose the noise on a grid: the best score, the larger noise among equals.

    Where the best level is the last one, the grid goes on, decade by decade, until the best lies
    inside or where more or less noise changes nothing (:func:`noise_bounds`).

    Parameters
    ----------
    path : LevelPath
        Of the labelled nodes.
    criterion : {"density", "cross_entropy", "evidence"}
        Leave-one-out log density (regression), leave-one-out cross-entropy of a softmax with a
        fitted temperature (one-hot targets), or log marginal likelihood. The first two need two
        labels or more; density must not be compared across kernels of different scale.
    weights : array of shape (D,), optional
        What leaving each node out counts; 1 when not given. Where all are 0 the usual noise is
        taken as it is.
    usual_noise : float, optional
        Relative noise that is usual for the covariance; with it, each decade away from it costs as
        much as the square of that distance, in units of one node's loss.

    Returns
    -------
    NoiseChoice
    """
    if usual_noise is not None and weights is not None and not weights.any():
        return NoiseChoice(usual_noise * path.scale, losses=np.zeros(len(weights)))
    is_large = len(RELATIVE_NOISE) * path.targets.size > MANY_SCORES
    relative = RELATIVE_NOISE[:: COARSE if is_large else 1]
    table = _Table.of(path, relative, criterion, weights)
    low, high = noise_bounds(path)
    while True:
        scores = table.scores
        if usual_noise is not None and criterion != "evidence":
            scores = scores - PULL * np.log10(relative / usual_noise) ** 2
        best = len(scores) - 1 - int(np.argmax(scores[::-1]))
        more = _levels_beyond(relative, scores, best)
        more = more[(more >= low) & (more <= high)]
        if not len(more) and is_large:
            is_large, near = False, np.abs(np.log10(RELATIVE_NOISE / relative[best])) < 0.5
            more = np.setdiff1d(RELATIVE_NOISE[near], relative)
        if not len(more):
            break
        relative, new = np.append(relative, more), _Table.of(path, more, criterion, weights)
        order = np.argsort(relative)
        relative, table = relative[order], table.joined(new, order)
    grid = relative * path.scale
    temperature, losses = float(table.temperatures[best]), table.losses[best]
    return NoiseChoice(float(grid[best]), temperature, losses, grid, scores)


def leave_out_at(
    path: LevelPath, noise: float, criterion: Criterion, weights: Array | None = None
) -> NoiseChoice:
    """Return a noise that is known, with what leaving each node out costs at it.

    Parameters
    ----------
    path, criterion, weights
        As in :func:`choose_noise`; the criterion is one that leaves out.
    noise : float
        σ_τ².

    Returns
    -------
    NoiseChoice
    """
    table = _Table.of(path, np.array([noise / path.scale]), criterion, weights)
    return NoiseChoice(float(noise), float(table.temperatures[0]), table.losses[0])


def noise_bounds(path: LevelPath) -> tuple[float, float]:
    """Return the relative noise below and above which nothing changes.

    Less noise than ten times the rounding error of Γ_DD cannot be told from none. With ten times
    more noise than D prior variances, the largest eigenvalue that Γ_DD can have, all means are
    sums Γ Y / σ², and with ten times the targets' mean square all of them is noise.
    """
    n_labels, mean_square = len(path.targets), float(np.mean(path.targets**2))
    low = max(LEAST_RELATIVE_NOISE, 10 * path.rounding / path.scale)
    return low, 10 * max(n_labels, mean_square / path.scale)


@dataclass(frozen=True)
class _Table:
    """Scores (n_levels,), temperatures (n_levels,) and losses (n_levels, D) of noise levels."""

    scores: Array
    temperatures: Array
    losses: Array

    @classmethod
    def of(
        cls, path: LevelPath, relative: Array, criterion: Criterion, weights: Array | None
    ) -> Self:
        few = max(1, MANY_SCORES // max(1, path.targets.size))
        if len(relative) > few:
            both = [relative[:few], relative[few:]]
            first, rest = (cls.of(path, part, criterion, weights) for part in both)
            return first.joined(rest, np.arange(len(relative)))
        grid = relative * path.scale
        temperatures: Array = np.ones(len(grid))
        if criterion == "evidence":
            scores = path.log_marginal_likelihood(grid)
            return cls(scores, temperatures, np.empty((len(grid), 0)))
        mean, variance = path.leave_one_out(grid)
        if criterion == "density":
            error = (path.targets - mean) ** 2 / variance[:, :, None]
            losses = 0.5 * (error + np.log(2 * np.pi * variance)[:, :, None]).sum(axis=2)
        else:
            temperatures = fit_temperature(mean, path.targets, 1 / path.relative_noise)
            losses = cross_entropies(mean, path.targets, temperatures)
        losses = losses if weights is None else losses * weights
        return cls(-losses.sum(axis=1), temperatures, losses)

    def joined(self, other: Self, order: Integers) -> Self:
        """Return the levels of both in the given order."""
        pairs = [(getattr(self, name.name), getattr(other, name.name)) for name in fields(self)]
        return type(self)(*(np.concatenate(pair)[order] for pair in pairs))


def _levels_beyond(relative: Array, scores: Array, best: int) -> Array:
    """Return further levels beyond the end of the grid at which the best one lies, if it does."""
    if best == len(relative) - 1 and scores[best] > scores[best - 1]:
        return np.asarray(relative[-1] * DECADE)
    if best == 0 and scores[0] > scores[1]:
        return np.asarray(relative[0] / DECADE)
    return np.empty(0)
