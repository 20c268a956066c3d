"""Calibrated class probabilities from latent means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.probability.class_prior import class_prior, prior_ratios
from gpgc.probability.score_curve import ScoreCurve, fit_curve
from gpgc.probability.softmax import softmax
from gpgc.probability.temperature import (
    SquareSums,
    fit_temperature_with_prior,
    flatness,
    square_sums,
    usual_sharpness,
)

BIAS_PENALTY = 1.5
"""Ridge on the class biases that held-out labels fit, over their number."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """softmax(s(mean) + a log f + b), and the class prior where labels say nothing.

    f are the fractions of the labels. Latent means, regressions of 0/1 targets, know them where
    they are sharp, and know nothing where they are flat: a = exp(−t r) goes to 1 as t does to 0, so
    that flat probabilities are the class prior.

    Attributes
    ----------
    curve : ScoreCurve
        s(m), t · m where there are few labels.
    bias : array of shape (k,)
        b = log(prior / f).
    class_prior : array of shape (k,)
        Fractions of the classes in the whole graph.
    flatness : float, default 0
        a (:func:`gpgc.probability.temperature.flatness`).
    """

    curve: ScoreCurve
    bias: Array
    class_prior: Array
    flatness: float = 0.0

    @classmethod
    def of(
        cls, curve: ScoreCurve, bias: Array, fractions: Array, flatness: float = 0.0
    ) -> Calibration:
        """Return a calibration from s, b, the fractions (k,) of the labels, and a."""
        with np.errstate(divide="ignore"):
            prior = softmax((np.log(fractions) + bias)[None])[0]
        return cls(curve, bias, prior, flatness)

    @property
    def temperature(self) -> float:
        """t, an inverse temperature: the slope of s where the latent mean is 0."""
        return self.curve.temperature

    def logits(self, mean: Array, reached: NDArray[np.bool_]) -> Array:
        """Return log probabilities up to a constant a node, those of the prior where not reached.

        Parameters
        ----------
        mean : array of shape (n, k)
            Latent means.
        reached : bool array of shape (n,)
            Which nodes the labels can say anything about.
        """
        of_labels = np.log(self.class_prior) - self.bias if self.flatness else 0.0
        logits = self.curve.scores(mean) + self.flatness * of_labels + self.bias
        return np.where(reached[:, None], logits, np.log(self.class_prior))

    def probabilities(self, mean: Array, reached: NDArray[np.bool_]) -> Array:
        """Return class probabilities (n, k)."""
        found = softmax(self.logits(mean, reached))
        found[~reached] = self.class_prior
        return found


class UnlabelledMeans(Protocol):
    """Latent means of the unlabelled nodes that labels reach, wherever they are."""

    def square_sums(self) -> SquareSums:
        """Return the sums of their squares."""

    def mean_probabilities(self, curve: ScoreCurve, offset: Array, chosen: Integers) -> Array:
        """Return the mean of softmax(s(means) + offset) over the chosen classes."""


@dataclass(frozen=True, eq=False)
class StoredMeans:
    """Latent means (n, k) in an array."""

    means: Array

    def square_sums(self) -> SquareSums:
        """Return the sums of their squares."""
        return square_sums(self.means)

    def mean_probabilities(self, curve: ScoreCurve, offset: Array, chosen: Integers) -> Array:
        """Return the mean of softmax(s(means) + offset) over the chosen classes."""
        return probabilities_of(self.means, curve, offset, chosen).mean(axis=0)


def probabilities_of(means: Array, curve: ScoreCurve, offset: Array, chosen: Integers) -> Array:
    """Return softmax(s(means) + offset) over the chosen classes, (n, number of them)."""
    return softmax((curve.scores(means) + offset)[:, chosen])


def calibrate_left_out(
    left_out: Array,
    unlabelled: UnlabelledMeans,
    targets: Array,
    weights: Array,
    fractions: Array,
    prior: Any = "estimated",
    alike: float = 1.0,
) -> Calibration:
    """Fit s to leave-one-out predictions, and b to the class prior.

    Parameters
    ----------
    left_out : array of shape (D, k)
        Leave-one-out means of the labelled nodes.
    unlabelled : UnlabelledMeans
        Means of the unlabelled nodes that labels reach.
    targets : array of shape (D, k)
        Labels of the labelled nodes, one-hot or rows of probabilities.
    weights : array of shape (D,)
        What leaving each labelled node out counts.
    fractions : array of shape (k,)
        Of the classes among the labels.
    prior : {"estimated", "labels"} or array of shape (k,), default "estimated"
        See :func:`gpgc.probability.class_prior.class_prior`.
    alike : float, default 1
        How far neighbours are alike (:func:`gpgc.probability.temperature.usual_sharpness`).
    """
    sums = unlabelled.square_sums()
    spread = sums.root_mean_square
    usual = usual_sharpness(len(targets), alike, len(fractions))
    t = fit_temperature_with_prior(left_out, targets, weights, spread, usual, fractions)
    flat = flatness(t * spread)
    curve = fit_curve(left_out, targets, weights, t, flat * np.log(fractions))
    flat = 0.0 if curve.curvature else flat
    offset = flat * np.log(fractions)

    def estimate() -> Array:
        """Return the class prior; classes that cannot be left out keep their fraction."""
        shares = weights[:, None] * targets
        chosen = np.flatnonzero(shares.sum(axis=0) > 0)
        ratio = np.ones(len(fractions))
        if sums.n_nodes and len(chosen) > 1:
            ratio[chosen] = prior_ratios(
                probabilities_of(left_out, curve, offset, chosen),
                shares[:, chosen],
                fractions[chosen] / fractions[chosen].sum(),
                unlabelled.mean_probabilities(curve, offset, chosen),
            )
        return fractions * ratio

    known = class_prior(prior, fractions, estimate)
    return Calibration.of(curve, np.log(known / fractions), fractions, flat)


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
