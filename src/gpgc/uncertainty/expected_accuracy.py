"""How many of the other nodes are right, where labels were drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.inputs import LabelsDrawn, check_drawn
from gpgc.probability.fraction import LEAST, exact_interval

UNKNOWN = {
    "unknown": "it was not said whether labels were drawn at random",
    "chosen": "labels that were chosen say nothing about the others",
    "balanced": "labels drawn class by class do not say how frequent the classes are",
}
"""Why, by how labels were drawn."""

ONE_EACH = "no label drawn at random has another one of its class"


@dataclass(frozen=True)
class ExpectedAccuracy:
    """The fraction of the other nodes that get the right label, or why it is unknown.

    Attributes
    ----------
    estimate, low, high : float, or None
        The fraction and its interval; None where it is unknown.
    level : float
        How often the interval is to hold the fraction.
    counted : int
        Labels drawn at random, each of which was left out.
    right : int
        How many of these the others predict.
    reason : str, or None
        Why it is unknown.
    """

    estimate: float | None
    low: float | None
    high: float | None
    level: float
    counted: int = 0
    right: int = 0
    reason: str | None = None

    def __str__(self) -> str:
        if self.estimate is None or self.low is None or self.high is None:
            return f"unknown: {self.reason}"
        return (
            f"{self.estimate:.1%}, {self.level:.0%} interval {self.low:.1%} to {self.high:.1%}, "
            f"by {self.counted:,} random labels"
        )


def expected_accuracy(
    estimator: GPGCClassifier, labels_drawn: LabelsDrawn | Any = None, level: float = 0.9
) -> ExpectedAccuracy:
    """Return the expected accuracy on nodes without a label."""
    check_is_fitted(estimator)
    if not isinstance(level, float | int) or not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level!r:.60}")
    labelled, codes = estimator.labelled_nodes_, estimator.codes_
    said = estimator.labels_drawn if labels_drawn is None else labels_drawn
    nodes = check_drawn(said, labelled, len(estimator.prior_.nodes), estimator.node_names_)
    if nodes is None and said != "random":
        return _unknown(level, UNKNOWN[said])
    drawn = np.ones(len(labelled), dtype=bool) if nodes is None else np.isin(labelled, nodes)
    n_drawn = int(drawn.sum())
    if not n_drawn:
        return _unknown(level, UNKNOWN["chosen"])
    if not (np.bincount(codes)[codes] > 1)[drawn].any():
        return _unknown(level, ONE_EACH, n_drawn)
    if n_drawn < LEAST:
        few = f"labels drawn at random are too few, {n_drawn} in place of {LEAST} or more"
        return _unknown(level, few, n_drawn)
    right = int(np.sum((estimator.leave_one_out_predict() == estimator.classes_[codes])[drawn]))
    found = exact_interval(right, n_drawn, level)
    return ExpectedAccuracy(found.mean, found.low, found.high, float(level), n_drawn, right)


def _unknown(level: float, reason: str, counted: int = 0) -> ExpectedAccuracy:
    return ExpectedAccuracy(None, None, None, float(level), counted, reason=reason)
