"""The noise that fits a covariance of labels best, by leaving them out or by the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import (
    LabelledRoot,
    LeaveOneOut,
    NoisePath,
    RootFactor,
    gap_groups,
)
from gpgc.kernels import LowRank
from gpgc.probability.softmax import cross_entropies
from gpgc.probability.temperature import fit_temperature
from gpgc.selection.constants import (
    COARSE,
    DECADE,
    LEAST_RELATIVE_NOISE,
    MANY_SCORES,
    NOISE_PULL,
    NOISE_STEP,
    RELATIVE_NOISE,
)

Criterion = Literal["density", "cross_entropy", "evidence"]


class NoiseChoice(NamedTuple):
    """A chosen σ_τ², with the levels (n_levels,) that were tried and their scores."""

    noise_variance: float
    grid: Array
    scores: Array


@dataclass(frozen=True, eq=False)
class NoiseSelector:
    """Chooses σ_τ² of covariances of the same labels: one for all classes, or one for each value.

    ``noise`` is known, "loo" or "evidence"; ``weights`` (D,) what leaving each label out counts;
    ``usual_noise`` relative to the prior variance, ``relative_noise`` (D,) to σ_τ².
    """

    targets: Array
    noise: Array | str
    criterion: Criterion
    weights: Array
    usual_noise: float
    relative_noise: Array | None = None

    @property
    def measured_by(self) -> Criterion:
        """What free noise is chosen by."""
        by_evidence = isinstance(self.noise, str) and self.noise == "evidence"
        return "evidence" if by_evidence else self.criterion

    def restricted(self, labels: Integers, columns: Any = slice(None)) -> NoiseSelector:
        """Return one for some labels and targets; a single value cannot be left out."""
        return replace(
            self,
            targets=self.targets[labels][:, columns],
            noise=self.noise if isinstance(self.noise, str) else self.noise[columns],
            weights=self.weights[labels] * (len(labels) > 1),
            relative_noise=None if self.relative_noise is None else self.relative_noise[labels],
        )

    def on_path(self, path: NoisePath) -> Array:
        """Return one level for all targets, or one for each."""
        if not isinstance(self.noise, str):
            return self.noise
        by_evidence = self.measured_by == "evidence"
        usual = () if by_evidence else (self.weights, self.usual_noise)
        n_apart = self.targets.shape[1] if self.criterion == "density" else 1
        found = []
        for column in range(n_apart):
            part = path if n_apart == 1 else path.of_targets([column])
            if part.targets.any():
                found.append(choose_noise(part, self.measured_by, *usual).noise_variance)
            else:  # a constant target tells nothing of its noise
                found.append(self.usual_noise * path.scale)
        return np.array(found)

    def on_gram(self, gram: Array) -> tuple[Array, NoisePath | None]:
        """Return the levels of a covariance (D, D), and its path where all targets are known.

        A target that no label knows has the usual level.
        """
        if not np.isnan(self.targets).any():
            path = NoisePath(gram, self.targets, self.relative_noise)
            return self.on_path(path), path
        scale = float(np.trace(gram, dtype=np.float64)) / len(gram) or 1.0
        levels = np.full(self.targets.shape[1], self.usual_noise * scale)
        for labels, columns in gap_groups(self.targets):
            if len(labels):
                block = gram[labels][:, labels]
                levels[columns], _ = self.restricted(labels, columns).on_gram(block)
        return levels, None

    def search(self, root: LabelledRoot, among: Integers, start: Array) -> Array:
        """Walk from noise levels to better ones while the score on all labels grows.

        More labels want less noise (Pubmed, 10,000 labels: 2,000 of them choose 1.6e-3, all of them
        1e-4 and less, and 0.6 % more nodes are right). The score is that of :func:`choose_noise`,
        of the labels ``among``, whose rows are computed once: r³/3 a level, r² a label.
        """
        places = np.zeros(len(root.labelled), dtype=np.intp)
        places[among] = np.arange(len(among))
        rows = LowRank(root.covariance.root(root.labelled[among]), root.covariance.context)
        sampled = replace(root, covariance=rows, labelled=places)
        rounding = float(np.finfo(np.float64).eps * np.trace(root.gram))
        weights = self.weights[among] * (len(root.labelled) / len(among))
        relative_noise = root.relative_noise[among]

        @cache  # levels are powers of the step, so that targets share what is computed at a level
        def factor_at(exponent: int) -> tuple[RootFactor, LeaveOneOut | None]:
            factor = RootFactor.of(sampled, root.scale * NOISE_STEP**exponent)
            by_evidence = self.measured_by == "evidence"
            return factor, None if by_evidence else factor.leave_one_out(among)

        def score(exponent: int, columns: Any, low: float, high: float) -> float:
            relative = NOISE_STEP**exponent
            if not low <= relative <= high:
                return -np.inf
            factor, found = factor_at(exponent)
            if found is None:
                some = replace(factor, root=factor.root.of_targets(columns))
                return float(some.log_marginal_likelihood())
            part, targets = found._replace(mean=found.mean[:, columns]), root.targets[among]
            losses = left_out_losses(part, targets[:, columns], relative_noise, self.criterion)
            return float(-losses @ weights - distance(relative, self.usual_noise))

        levels = []
        for column, first in enumerate(start.tolist()):
            columns = slice(None) if len(start) == 1 else [column]
            bounds = noise_bounds(root.targets[among][:, columns], root.scale, rounding)
            best = round(np.log(first / root.scale) / np.log(NOISE_STEP))
            begun, here = best, score(best, columns, *bounds)
            for direction in (-1, 1):
                while (there := score(best + direction, columns, *bounds)) > here:
                    best, here = best + direction, there
                if best != begun:
                    break
            levels.append(root.scale * NOISE_STEP**best)
        return np.array(levels)


def choose_noise(
    path: NoisePath,
    criterion: Criterion,
    weights: Array | None = None,
    usual_noise: float | None = None,
) -> NoiseChoice:
    """Choose the noise on a grid: the best score, the larger noise among equals.

    Where the best level is the last one, the grid goes on, decade by decade, until the best lies
    inside or where more or less noise changes nothing. Where no label can be left out, the usual
    noise is taken; else each decade away from it costs the square of that distance.
    """
    if usual_noise is not None and weights is not None and not weights.any():
        return NoiseChoice(usual_noise * path.scale, np.empty(0), np.empty(0))
    loo_weights = np.ones(len(path.targets)) if weights is None else weights
    at_once = max(1, MANY_SCORES // max(1, path.targets.size))

    def scores_of(relative: Array) -> Array:
        found = []
        for start in range(0, len(relative), at_once):  # as many as memory should hold
            factor = path.at(relative[start : start + at_once] * path.scale)
            if criterion == "evidence":
                found.append(factor.log_marginal_likelihood())
                continue
            left_out = factor.leave_one_out()
            losses = left_out_losses(left_out, path.targets, path.relative_noise, criterion)
            found.append(-losses @ loo_weights)
        scores = np.concatenate(found)
        if usual_noise is not None and criterion != "evidence":
            scores -= distance(relative, usual_noise)
        return scores

    is_large = len(RELATIVE_NOISE) * path.targets.size > MANY_SCORES
    relative = RELATIVE_NOISE[:: COARSE if is_large else 1]
    scores = scores_of(relative)
    low, high = noise_bounds(path.targets, path.scale, path.rounding)
    while True:
        best = len(scores) - 1 - int(np.argmax(scores[::-1]))
        more = np.empty(0)
        if best == len(relative) - 1 and scores[best] > scores[best - 1]:
            more = relative[-1] * DECADE
        elif best == 0 and scores[0] > scores[1]:
            more = relative[0] / DECADE
        more = more[(more >= low) & (more <= high)]
        if not len(more) and is_large:
            is_large, near = False, np.abs(np.log10(RELATIVE_NOISE / relative[best])) < 0.5
            more = np.setdiff1d(RELATIVE_NOISE[near], relative)
        if not len(more):
            grid = relative * path.scale
            return NoiseChoice(float(grid[best]), grid, scores)
        relative, scores = np.append(relative, more), np.append(scores, scores_of(more))
        order = np.argsort(relative)
        relative, scores = relative[order], scores[order]


def left_out_losses(
    left_out: LeaveOneOut, targets: Array, relative_noise: Array, criterion: Criterion
) -> Array:
    """Return what leaving each label out costs (..., D): by its density, or a fitted softmax."""
    mean, variance = left_out
    if criterion == "density":
        error = (targets - mean) ** 2 / variance[..., None]
        return np.asarray(0.5 * (error + np.log(2 * np.pi * variance)[..., None]).sum(axis=-1))
    temperatures = fit_temperature(mean, targets, 1 / relative_noise)
    return cross_entropies(mean, targets, temperatures)


def distance(relative: Any, usual: float) -> Any:
    """Return what noise costs that is not the usual one: so many nats a squared decade."""
    return NOISE_PULL * np.log10(relative / usual) ** 2


def noise_bounds(targets: Array, scale: float, rounding: float) -> tuple[float, float]:
    """Return the relative noise below and above which nothing changes.

    Less than ten times the rounding of Γ_DD cannot be told from none. With ten times more than D
    prior variances, the largest eigenvalue that Γ_DD can have, all means are sums Γ Y / σ², and
    with ten times the targets' mean square all of them is noise.
    """
    mean_square = float(np.mean(targets**2))
    low = max(LEAST_RELATIVE_NOISE, 10 * rounding / scale)
    return low, 10 * max(len(targets), mean_square / scale)
