"""Learning the numbers of an architecture and the noise by gradients of a criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize

from gpgc._typing import Array, Integers
from gpgc.models import Architecture, Prior, ViewWeights
from gpgc.models.learnable import learnable, values_of, with_values
from gpgc.probability.temperature import fit_temperature
from gpgc.selection.choice import Choice
from gpgc.selection.graded_cost import Cost, graded_cost
from gpgc.selection.subset import label_sample

MANY_LABELS = 1000
"""Labels from which on so many of them teach for all."""

STEP = 3e-4
"""Of a coordinate, by which Γ_DD is differentiated: large against the root of the rounding."""

FARTHEST = float(np.log(1e4))
"""How far a coordinate, a logarithm or logit, may move."""

LEAST = 1e-3
"""In place of a variance of 0, which has no logarithm, relative to that of the weights."""

TEMPERATURES = (float(np.log(1e-2)), float(np.log(1e3)))


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt.

    Attributes
    ----------
    architecture : Architecture
        With the numbers that were learnt.
    levels : array of shape (1,) or (k,)
        Noise variances.
    numbers : mapping
        Name → numbers before and after; ``noise_variance`` where it was learnt.
    costs : (float, float)
        Criterion before and after, the second never larger.
    """

    architecture: Architecture
    levels: Array
    numbers: Mapping[str, tuple[float, float]]
    costs: tuple[float, float]


class LearningProblem:
    """The criterion as a function of coordinates: logarithms of variances, logits of fractions.

    Each decade that a coordinate moves from its start costs as much as the square of that
    distance, halved, in units of one label's loss, so that few labels do not move much.

    Parameters
    ----------
    prior : Prior
        Of all nodes, with the architecture to start from.
    view_weights : mapping
        Weights of the views, which stay.
    labelled : int array of shape (D,)
    targets : array of shape (D, k)
        NaN where a target with a level of its own is not known.
    levels : array of shape (1,) or (k,)
        Noise variances to start from.
    cost : {"cross_entropy", "density", "evidence"}
        What is minimised.
    weights : array of shape (D,)
        What leaving each label out counts.
    relative_noise : array of shape (D,)
        The noise of each label over σ_τ².
    learn_noise : bool
        Whether the noise moves too.
    """

    def __init__(
        self,
        prior: Prior,
        view_weights: ViewWeights,
        labelled: Integers,
        targets: Array,
        levels: Array,
        cost: Cost,
        weights: Array,
        relative_noise: Array,
        learn_noise: bool,
    ) -> None:
        exact = replace(prior.context, dtype=np.dtype(np.float64))
        self.prior = Prior(prior.architecture, prior.nodes, exact)
        self.view_weights, self.labelled, self.targets = view_weights, labelled, targets
        self.cost, self.weights, self.relative = cost, weights, relative_noise
        self.levels, self.learn_noise = np.maximum(levels, 1e-12), learn_noise
        self.ranges = learnable(prior.architecture)
        start = values_of(prior.architecture)
        if start.get("bias_variance") == 0:
            start["bias_variance"] = LEAST * start["weight_variance"]
        numbers = [_coordinate(start[name], *ends) for name, ends in self.ranges.items()]
        noise = np.log(self.levels) if learn_noise else np.empty(0)
        K = self._gram_of(prior.architecture) + np.diag(self.levels[0] * self.relative)
        sharpness = [self._log_temperature(K)] if cost == "cross_entropy" else []
        self.start = np.concatenate([numbers, noise, sharpness])

    def _log_temperature(self, K: Array) -> float:
        """Return the log of the temperature that fits labels which are left out best."""
        inverse = np.linalg.inv(K)
        means = self.targets - (inverse @ self.targets) / np.diagonal(inverse)[:, None]
        return float(np.log(fit_temperature(means, self.targets, self.weights)))

    def values(self, at: Array) -> dict[str, float]:
        """Return the numbers of the architecture at some coordinates."""
        names = zip(self.ranges.items(), at[: len(self.ranges)], strict=True)
        return {name: _number(float(x), *ends) for (name, ends), x in names}

    def levels_at(self, at: Array) -> Array:
        """Return the noise variances at some coordinates."""
        if not self.learn_noise:
            return self.levels
        first = len(self.ranges)
        return np.asarray(np.exp(at[first : first + len(self.levels)]))

    def gram(self, at: Array) -> Array:
        """Return Γ_DD at some coordinates."""
        return self._gram_of(with_values(self.prior.architecture, self.values(at)))

    def _gram_of(self, architecture: Architecture) -> Array:
        covariance = self.prior.variant(architecture).covariance(self.view_weights)
        block = covariance.block(self.labelled, self.labelled)
        np.fill_diagonal(block, covariance.diag(self.labelled))
        return np.asarray((block + block.T) / 2)

    def cost_of_start(self) -> float:
        """Return the criterion of the architecture as it is."""
        return self._cost(self._gram_of(self.prior.architecture), self.start)[0]

    def graded(self, at: Array) -> tuple[float, Array]:
        """Return the criterion and its gradient.

        The criterion's derivatives by Γ_DD, the noise and the temperature are closed forms; those
        of Γ_DD by the numbers of an architecture are central differences in float64.
        """
        total, by_gram, gradient = self._cost(self.gram(at), at)
        for place in range(len(self.ranges)):
            step = np.zeros_like(at)
            step[place] = STEP
            slope = (self.gram(at + step) - self.gram(at - step)) / (2 * STEP)
            gradient[place] = float((by_gram * slope).sum())
        moved = at - self.start
        moved[len(moved) - (self.cost == "cross_entropy") :] = 0  # the temperature is free
        decades = moved / np.log(10)
        return total + 0.5 * float(decades @ decades), gradient + decades / np.log(10)

    def _cost(self, gram: Array, at: Array) -> tuple[float, Array, Array]:
        """Return the cost of Γ_DD, its derivatives by Γ_DD, and by noise and temperature."""
        levels = self.levels_at(at)
        temperature = float(np.exp(at[-1])) if self.cost == "cross_entropy" else 1.0
        apart = len(levels) > 1
        total, by_gram, gradient = 0.0, np.zeros_like(gram), np.zeros_like(at)
        n_numbers = len(self.ranges)
        for place, level in enumerate(levels):
            targets = self.targets[:, [place]] if apart else self.targets
            known = np.flatnonzero(~np.isnan(targets[:, 0]))
            relative, among = self.relative[known], np.ix_(known, known)
            K = gram[among] + np.diag(level * relative)
            found = graded_cost(K, targets[known], self.cost, self.weights[known], temperature)
            total += found.cost
            by_gram[among] += found.by_covariance
            if self.learn_noise:
                by_level = np.diagonal(found.by_covariance) @ relative
                gradient[n_numbers + place] = level * by_level
            if self.cost == "cross_entropy":
                gradient[-1] = found.by_temperature
        return total, by_gram, gradient

    def minimise(self, iterations: int) -> Array:
        """Return the best coordinates that L-BFGS finds, the start at worst."""
        bounds = [(x - FARTHEST, x + FARTHEST) for x in self.start]
        start = self.start.copy()
        if self.cost == "cross_entropy":
            bounds[-1] = TEMPERATURES
        found = minimize(
            self.graded,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": iterations},
        )
        return np.asarray(found.x if np.isfinite(found.fun) else start)


def learn(
    prior: Prior,
    labelled: Integers,
    targets: Array,
    choice: Choice,
    cost: Cost,
    weights: Array,
    relative_noise: Array | None = None,
    *,
    learn_noise: bool = True,
    iterations: int = 30,
) -> Learnt:
    """Move the numbers of an architecture, and the noise, to where a criterion is least.

    Parameters
    ----------
    prior, labelled, targets, weights, relative_noise
        As in :func:`gpgc.selection.choice.choose`.
    choice : Choice
        Weights of the views, which stay, and the noise to start from.
    cost : {"cross_entropy", "density", "evidence"}
        The criterion.
    learn_noise : bool, default True
        Whether the noise moves too.
    iterations : int, default 30
        Of L-BFGS, at most.

    Returns
    -------
    Learnt
    """
    few = label_sample(prior.keys[labelled], targets, MANY_LABELS)
    relative = np.ones(len(labelled)) if relative_noise is None else relative_noise
    problem = LearningProblem(
        prior,
        choice.view_weights,
        labelled[few],
        targets[few],
        choice.levels,
        cost,
        weights[few],
        relative[few],
        learn_noise,
    )
    before = values_of(prior.architecture)
    cost_before = problem.cost_of_start()
    best = problem.minimise(iterations) if iterations else problem.start
    cost_after = problem.graded(best)[0]
    if cost_after >= cost_before or not iterations:
        return Learnt(prior.architecture, choice.levels, {}, (cost_before, cost_before))
    values, levels = problem.values(best), problem.levels_at(best)
    numbers = {name: (before[name], value) for name, value in values.items()}
    if learn_noise and len(levels) == 1:
        numbers["noise_variance"] = (float(choice.levels[0]), float(levels[0]))
    architecture = with_values(prior.architecture, values)
    return Learnt(architecture, levels, numbers, (cost_before, cost_after))


def _coordinate(value: float, low: float, high: float) -> float:
    """Return the logarithm of a number above low, or the logit of one between two ends."""
    if np.isinf(high):
        return float(np.log(value - low))
    inside = np.clip((value - low) / (high - low), 1e-3, 1 - 1e-3)
    return float(np.log(inside / (1 - inside)))


def _number(x: float, low: float, high: float) -> float:
    """Return the number at a coordinate."""
    if np.isinf(high):
        return float(low + np.exp(x))
    return float(low + (high - low) / (1 + np.exp(-x)))
