"""How many of the other nodes are right, where labels were drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.inputs import check_choice, check_nodes
from gpgc.probability.fraction import LEAST, exact_interval

LabelsDrawn = Literal["random", "chosen", "unknown"]

NOT_SAID = "it was not said whether labels were drawn at random"
CHOSEN = "labels that were chosen say nothing about the others"
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
    estimator: GPGCClassifier,
    labels_drawn: LabelsDrawn | Any = "unknown",
    level: float = 0.9,
) -> ExpectedAccuracy:
    """Return the expected accuracy on nodes without a label."""
    check_is_fitted(estimator)
    if not isinstance(level, float | int) or not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level!r:.60}")
    labelled, codes = estimator.labelled_nodes_, estimator.codes_
    drawn = np.ones(len(labelled), dtype=bool)
    if isinstance(labels_drawn, str):
        check_choice("labels_drawn", labels_drawn, get_args(LabelsDrawn))
        if labels_drawn != "random":
            return _unknown(level, CHOSEN if labels_drawn == "chosen" else NOT_SAID)
    else:
        size, names = len(estimator.prior_.nodes), estimator.node_names_
        nodes = check_nodes(labels_drawn, size, names, "labels_drawn")
        if nodes is None or not np.isin(nodes, labelled).all():
            raise InputError(
                "labels_drawn must be random, chosen, unknown or nodes that have a label, "
                f"got {labels_drawn!r:.60}"
            )
        drawn = np.isin(labelled, nodes)
    n_drawn = int(drawn.sum())
    if not n_drawn:
        return _unknown(level, CHOSEN)
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
