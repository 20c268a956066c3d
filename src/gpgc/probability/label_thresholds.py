"""Probabilities of several labels a node, and from which probability on a label is given."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from gpgc._typing import Array

FEWEST = 5
"""Nodes with a label, and nodes without it, that it takes to have a threshold of its own."""

SLOPE_PRIOR = (np.log(6.0), 1.0)
"""Mean and standard deviation of the log of the slope: 0 and 1 are then 95 % apart."""


class LabelScale(NamedTuple):
    """p = 1 / (1 + exp(−(a m + b))) of latent means m."""

    slope: float
    bias: Array

    def probabilities(self, mean: Array) -> Array:
        """Return the probability of each label, from means of the same shape (n, k)."""
        return np.asarray(expit(self.slope * mean + self.bias))


def fit_label_scale(left_out: Array, targets: Array, weights: Array) -> LabelScale:
    """Fit the probabilities of labels to left-out means (D, k), by Platt's method.

    The log loss is that of targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) in place of 1 and 0, so that a
    label that few nodes have is never certain; a slope of its own would have too few nodes.
    """
    known = ~np.isnan(targets)
    counts = weights[:, None] * known
    truth, means = np.nan_to_num(targets), np.nan_to_num(left_out)
    n_with = (counts * truth).sum(axis=0)
    n_without = counts.sum(axis=0) - n_with
    softened = np.where(truth > 0.5, (n_with + 1) / (n_with + 2), 1 / (n_without + 2))
    usual, deviation = SLOPE_PRIOR

    def loss(parameters: Array) -> tuple[float, Array]:
        slope, bias = np.exp(parameters[0]), parameters[1:]
        logits = slope * means + bias
        losses = np.logaddexp(0, logits) - softened * logits
        by_logit = counts * (expit(logits) - softened)
        far = (parameters[0] - usual) / deviation
        by_slope = slope * float((by_logit * means).sum()) + far / deviation
        total = float((counts * losses).sum()) + 0.5 * far**2
        return total, np.concatenate([[by_slope], by_logit.sum(axis=0)])

    start = np.concatenate([[usual], np.full(targets.shape[1], -0.5 * np.exp(usual))])
    found = minimize(loss, start, jac=True, method="L-BFGS-B").x
    return LabelScale(float(np.exp(found[0])), np.asarray(found[1:]))


def label_thresholds(probabilities: Array, targets: Array) -> Array:
    """Return from which probability on each label is given: where F1 of nodes left out is best."""
    known = ~np.isnan(targets)
    common = _best_threshold(probabilities[known], targets[known] > 0.5)
    thresholds = np.full(targets.shape[1], common)
    for label in range(targets.shape[1]):
        rows = known[:, label]
        has = targets[rows, label] > 0.5
        if min(has.sum(), (~has).sum()) >= FEWEST:
            thresholds[label] = _best_threshold(probabilities[rows, label], has)
    return thresholds


def _best_threshold(probability: Array, has: NDArray[np.bool_]) -> float:
    """Return the threshold of the best F1, half-way between two probabilities that occur."""
    order = np.argsort(-probability, kind="stable")
    ordered, both = probability[order], np.cumsum(has[order])
    f1 = 2 * both / (np.arange(1, len(order) + 1) + max(1, int(has.sum())))
    f1[:-1][ordered[:-1] == ordered[1:]] = -1.0  # equal probabilities are cut nowhere
    best = int(np.argmax(f1))
    below = ordered[best + 1] if best + 1 < len(ordered) else 0.0
    return float((ordered[best] + below) / 2)
