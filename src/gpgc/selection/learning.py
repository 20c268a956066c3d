"""Learning the numbers of an architecture and the noise by gradients of a criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky
from scipy.optimize import minimize
from scipy.special import expit, logit

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.gp import Cholesky, LabelFactor, left_out
from gpgc.models import Architecture, Prior
from gpgc.models.learnable import learnable, values_of, with_values
from gpgc.probability.softmax import softmax_loss
from gpgc.probability.temperature import fit_temperature
from gpgc.selection.choice import ChosenView, label_sample
from gpgc.selection.noise_choice import Criterion, NoiseSelector

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
    """What was learnt."""

    architecture: Architecture
    levels: Array
    numbers: Mapping[str, tuple[float, float]]
    costs: tuple[float, float]


class LearningProblem:
    """The criterion as a function of coordinates: logarithms of variances, logits of fractions."""

    def __init__(
        self,
        prior: Prior,
        view: str,
        labelled: Integers,
        levels: Array,
        selector: NoiseSelector,
    ) -> None:
        exact = replace(prior.context, dtype=np.dtype(np.float64))
        self.prior = Prior(prior.architecture, prior.nodes, exact)
        self.view, self.labelled, self.targets = view, labelled, selector.targets
        self.cost, self.weights = selector.measured_by, selector.weights
        relative = selector.relative_noise
        self.relative = np.ones(len(labelled)) if relative is None else relative
        self.levels, self.learn_noise = np.maximum(levels, 1e-12), isinstance(selector.noise, str)
        self.ranges = learnable(prior.architecture)
        start = values_of(prior.architecture)
        if start.get("bias_variance") == 0:
            start["bias_variance"] = LEAST * start["weight_variance"]
        numbers = [_coordinate(start[name], *ends) for name, ends in self.ranges.items()]
        noise = np.log(self.levels) if self.learn_noise else np.empty(0)
        K = self._gram_of(prior.architecture) + np.diag(self.levels[0] * self.relative)
        sharpness = [self._log_temperature(K)] if self.cost == "cross_entropy" else []
        self.start = np.concatenate([numbers, noise, sharpness])

    def _log_temperature(self, K: Array) -> float:
        """Return the log of the temperature that fits labels which are left out best."""
        inverse = np.linalg.inv(K)
        means = left_out(self.targets, inverse @ self.targets, np.diagonal(inverse)).mean
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
        covariance = self.prior.variant(architecture).view(self.view)
        block = covariance.block(self.labelled, self.labelled)
        np.fill_diagonal(block, covariance.diag(self.labelled))
        return np.asarray((block + block.T) / 2)

    def cost_of_start(self) -> float:
        """Return the criterion of the architecture as it is."""
        return self._cost(self._gram_of(self.prior.architecture), self.start)[0]

    def graded(self, at: Array) -> tuple[float, Array]:
        """Return the criterion and its gradient."""
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
    chosen: ChosenView,
    selector: NoiseSelector,
    iterations: int = 30,
) -> Learnt:
    """Move the numbers of an architecture, and free noise, to where a criterion is least."""
    few = label_sample(prior.keys[labelled], selector.targets, MANY_LABELS)
    some = selector.restricted(few)
    problem = LearningProblem(prior, chosen.name, labelled[few], chosen.levels, some)
    before = values_of(prior.architecture)
    cost_before = problem.cost_of_start()
    best = problem.minimise(iterations) if iterations else problem.start
    cost_after = problem.graded(best)[0]
    if cost_after >= cost_before or not iterations:
        return Learnt(prior.architecture, chosen.levels, {}, (cost_before, cost_before))
    values, levels = problem.values(best), problem.levels_at(best)
    numbers = {name: (before[name], value) for name, value in values.items()}
    if problem.learn_noise and len(levels) == 1:
        numbers["noise_variance"] = (float(chosen.levels[0]), float(levels[0]))
    architecture = with_values(prior.architecture, values)
    return Learnt(architecture, levels, numbers, (cost_before, cost_after))


class Graded(NamedTuple):
    """A cost, its derivatives by the entries (D, D) of K, and that by the log of t."""

    cost: float
    by_covariance: Array
    by_temperature: float


def graded_cost(
    covariance: Array,
    targets: Array,
    criterion: Criterion,
    weights: Array,
    temperature: float = 1.0,
) -> Graded:
    """Return a cost of K = Γ_DD + noise and its gradient."""
    with small_matrices(len(covariance)):
        inverse = Cholesky(cholesky(covariance, lower=True))
        A, n_targets = inverse.solve(np.eye(len(covariance))), targets.shape[1]
        alpha, a = A @ targets, np.diagonal(A)
        if criterion == "evidence":
            cost = -float(LabelFactor(targets, inverse).log_marginal_likelihood())
            return Graded(cost, 0.5 * (n_targets * A - alpha @ alpha.T), 0.0)
        if criterion == "density":
            squares = (alpha**2).sum(axis=1)
            losses = 0.5 * (squares / a + n_targets * (np.log(2 * np.pi) - np.log(a)))
            by_alpha = weights[:, None] * alpha / a[:, None]
            by_a = -0.5 * weights * (squares / a**2 + n_targets / a)
            return Graded(float(weights @ losses), _through(A, alpha, by_alpha, by_a), 0.0)
        means = left_out(targets, alpha, a).mean
        losses, excess = softmax_loss(temperature * means, targets)
        by_logit = weights[:, None] * excess
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


def _coordinate(value: float, low: float, high: float) -> float:
    """Return the logarithm of a number above low, or the logit of one between two ends."""
    if np.isinf(high):
        return float(np.log(value - low))
    return float(logit(np.clip((value - low) / (high - low), 1e-3, 1 - 1e-3)))


def _number(x: float, low: float, high: float) -> float:
    """Return the number at a coordinate."""
    return float(low + (np.exp(x) if np.isinf(high) else (high - low) * expit(x)))
