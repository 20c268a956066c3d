"""From latent means to probabilities, scores and one label: whatever is said of a node's class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.probability.class_prior import class_prior, prior_ratios
from gpgc.probability.score_curve import ScoreCurve, fit_curve
from gpgc.probability.softmax import softmax, softmax_loss
from gpgc.probability.temperature import fit_temperature_with_prior, usual_sharpness

BIAS_PENALTY = 1.5
"""Ridge on the class biases that held-out labels fit, over their number."""

DecisionRule = Literal["probable", "balanced"]
"""The most probable class, or that of the largest probability over its fraction of all nodes."""

MeanOf: TypeAlias = Callable[[Callable[[Array], Array]], Array]
"""Of a function of latent means (n, k) ↦ (n, j), its mean (j,) over unlabelled nodes."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """softmax(s(mean) + a log f + b), f the fractions of the labels, b = log(prior / f).

    Latent means know f where they are sharp, and know nothing where they are flat: a = exp(−t r)
    goes to 1 as t does to 0, so that flat probabilities are the class prior. A node that labels do
    not reach has the prior for probabilities, and its largest entry for a class under either rule.
    """

    curve: ScoreCurve
    bias: Array
    fractions: Array
    flatness: float = 0.0
    rule: DecisionRule = "probable"

    @cached_property
    def class_prior(self) -> Array:
        """Fractions (k,) of the classes in the whole graph."""
        with np.errstate(divide="ignore"):
            prior: Array = softmax((np.log(self.fractions) + self.bias)[None])[0]
        return prior

    def logits(self, mean: Array, reached: NDArray[np.bool_]) -> Array:
        """Return log probabilities (n, k) up to a constant a node; the prior's where unreached."""
        of_labels = np.log(self.class_prior) - self.bias if self.flatness else 0.0
        logits = self.curve.scores(mean) + self.flatness * of_labels + self.bias
        return np.where(reached[:, None], logits, np.log(self.class_prior))

    def probabilities(self, mean: Array, reached: NDArray[np.bool_]) -> Array:
        """Return class probabilities (n, k); they do not depend on the rule."""
        found = softmax(self.logits(mean, reached))
        found[~reached] = self.class_prior
        return found

    def scores(self, mean: Array, reached: NDArray[np.bool_]) -> Array:
        """Return scores (n, k), the largest of which is that of the class that is taken."""
        logits = self.logits(mean, reached)
        if self.rule == "balanced":
            logits[reached] -= np.log(self.class_prior)
        return logits

    def codes(self, mean: Array, reached: NDArray[np.bool_]) -> Integers:
        """Return the class (n,) that is taken, as a column of the means."""
        return np.asarray(self.scores(mean, reached).argmax(axis=1))


def probabilities_of(means: Array, curve: ScoreCurve, offset: Array, chosen: Integers) -> Array:
    """Return softmax(s(means) + offset) over the chosen classes, (n, number of them)."""
    return softmax((curve.scores(means) + offset)[:, chosen])


def calibrate_left_out(
    left_out: Array,
    targets: Array,
    weights: Array,
    fractions: Array,
    contrast: float,
    mean_of: MeanOf | None = None,
    prior: Any = "estimated",
    alike: float = 1.0,
    agreeing: float = 1.0,
) -> Calibration:
    """Fit s to leave-one-out means (D, k), and b to the class prior.

    ``contrast`` is the root mean square, ``mean_of`` the mean over unlabelled nodes that labels
    reach, if there are any; ``alike`` how far neighbors are, ``agreeing`` how far views agree.
    Classes that cannot be left out keep their fraction.
    """
    usual = usual_sharpness(len(targets), alike, len(fractions), agreeing)
    t = fit_temperature_with_prior(left_out, targets, weights, contrast, usual, fractions)
    flat = float(np.exp(-t * contrast))
    curve = fit_curve(left_out, targets, weights, t, flat * np.log(fractions))
    flat = 0.0 if curve.curvature else flat
    if not isinstance(prior, str) or prior != "estimated":
        bias = np.log(class_prior(prior, fractions) / fractions)
        return Calibration(curve, bias, fractions, flat)
    shares = weights[:, None] * targets
    chosen = np.flatnonzero(shares.sum(axis=0) > 0)
    ratio = np.ones(len(fractions))
    if mean_of is not None and len(chosen) > 1:
        offset = flat * np.log(fractions)
        said = partial(probabilities_of, curve=curve, offset=offset, chosen=chosen)
        among = fractions[chosen] / fractions[chosen].sum()
        ratio[chosen] = prior_ratios(said(left_out), shares[:, chosen], among, mean_of(said))
    return Calibration(curve, np.log(ratio), fractions, flat)


def fit_scale_and_bias(scores: Array, targets: Array) -> tuple[float, Array]:
    """Return t ≥ 0 and b (k,), Σ b = 0, of softmax(t · scores + b) by penalised cross-entropy.

    The ridge on b keeps classes that the held-out labels do not show finite.
    """
    n, k = scores.shape

    def loss(parameters: Array) -> tuple[float, Array]:
        t, b = parameters[0], parameters[1:]
        losses, slopes = softmax_loss(t * scores + b, targets)
        excess = slopes / n
        slope = np.concatenate([[np.sum(excess * scores)], excess.sum(axis=0)])
        slope[1:] += 2 * BIAS_PENALTY / n * b
        return float(np.mean(losses) + BIAS_PENALTY / n * np.sum(b**2)), slope

    start = np.concatenate([[1 / max(float(np.std(scores)), 1e-12)], np.zeros(k)])
    bounds = [(0.0, None)] + [(None, None)] * k
    with small_matrices(k):
        found = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return float(found[0]), np.asarray(found[1:] - found[1:].mean())
