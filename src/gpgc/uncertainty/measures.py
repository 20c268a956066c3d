"""How good probabilities are: calibration, scores, and what holding back buys."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.errors import InputError

N_BINS = 15


class Reliability(NamedTuple):
    """Mean confidence, accuracy and size of each bin of confidence, all of shape (n_bins,).

    Confidence and accuracy are NaN in empty bins.
    """

    confidence: Array
    accuracy: Array
    size: Integers


class RiskCoverage(NamedTuple):
    """Share of errors (n,) among the most confident ``coverage`` (n,) of the nodes."""

    coverage: Array
    risk: Array


def reliability(probabilities: Any, labels: Any, n_bins: int = N_BINS) -> Reliability:
    """Compare confidence with accuracy in bins of equal width.

    Parameters
    ----------
    probabilities : array of shape (n, k)
        Rows sum to 1.
    labels : int array of shape (n,)
        Column of the true class.
    n_bins : int
        Number of bins of the largest probability, between 0 and 1.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> half = np.full((4, 2), 0.5)
    >>> bins = reliability(half, [0, 0, 1, 1], n_bins=2)
    >>> bins.confidence[0], bins.accuracy[0], bins.size
    (np.float64(0.5), np.float64(0.5), array([4, 0]))
    """
    table, truth = _check(probabilities, labels)
    confidence, right = table.max(axis=1), table.argmax(axis=1) == truth
    place = np.clip(np.ceil(confidence * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
    size = np.bincount(place, minlength=n_bins)
    divisor = np.where(size > 0, size, np.nan)
    return Reliability(
        np.bincount(place, confidence, n_bins) / divisor,
        np.bincount(place, right, n_bins) / divisor,
        size,
    )


def expected_calibration_error(probabilities: Any, labels: Any, n_bins: int = N_BINS) -> float:
    """Return the mean over nodes of |confidence − accuracy| of their bin.

    Parameters
    ----------
    probabilities, labels, n_bins
        As in :func:`reliability`.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> sure = np.array([[1.0, 0.0]] * 4)
    >>> expected_calibration_error(sure, [0, 0, 0, 1])
    0.25
    """
    bins = reliability(probabilities, labels, n_bins)
    gap = np.nan_to_num(np.abs(bins.confidence - bins.accuracy))
    return float(np.average(gap, weights=bins.size))


def brier_score(probabilities: Any, labels: Any) -> float:
    """Return the mean over nodes of Σ_c (p_c − [y = c])², between 0 and 2.

    Examples
    --------
    >>> brier_score([[0.5, 0.5], [1.0, 0.0]], [0, 0])
    0.25
    """
    table, truth = _check(probabilities, labels)
    return float(np.mean(np.sum((table - np.eye(table.shape[1])[truth]) ** 2, axis=1)))


def log_loss(probabilities: Any, labels: Any) -> float:
    """Return the mean of −log p of the true class, with p at least the smallest float.

    Examples
    --------
    >>> round(log_loss([[0.5, 0.5], [1.0, 0.0]], [0, 0]), 4)
    0.3466
    """
    table, truth = _check(probabilities, labels)
    likelihood = table[np.arange(len(truth)), truth]
    return float(-np.mean(np.log(np.maximum(likelihood, np.finfo(np.float64).tiny))))


def risk_coverage(probabilities: Any, labels: Any) -> RiskCoverage:
    """Return how many of the most confident nodes are wrong, for each number of them.

    Parameters
    ----------
    probabilities, labels
        As in :func:`reliability`.

    Returns
    -------
    RiskCoverage
        Nodes of equal confidence count as one step, so that their order does not matter.

    Examples
    --------
    >>> coverage, risk = risk_coverage([[0.9, 0.1], [0.6, 0.4]], [0, 1])
    >>> coverage, risk
    (array([0.5, 1. ]), array([0. , 0.5]))
    """
    table, truth = _check(probabilities, labels)
    confidence, wrong = table.max(axis=1), table.argmax(axis=1) != truth
    order = np.argsort(-confidence, kind="stable")
    ranked = confidence[order]
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    n_kept = last + 1
    return RiskCoverage(n_kept / len(ranked), np.cumsum(wrong[order])[last] / n_kept)


def auroc(scores: Any, positive: Any) -> float:
    """Return the probability that a positive scores above a negative, ties counting half.

    Parameters
    ----------
    scores : array of shape (n,)
        Any score.
    positive : bool array of shape (n,)
        Which are positive; at least one and not all.

    Returns
    -------
    float

    Examples
    --------
    >>> auroc([0.1, 0.4, 0.4, 0.8], [False, False, True, True])
    0.875
    """
    values, chosen = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=bool)
    n_positive = int(chosen.sum())
    n_negative = len(chosen) - n_positive
    if values.shape != chosen.shape or values.ndim != 1 or not n_positive or not n_negative:
        raise InputError(
            f"positive must name some but not all of the {values.size} scores, got {n_positive}"
        )
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    above = rank[chosen].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * n_negative))


def _check(probabilities: Any, labels: Any) -> tuple[Array, Integers]:
    table, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(labels)
    if table.ndim != 2 or truth.shape != table.shape[:1] or not len(truth):
        raise InputError(
            "probabilities must be (n, k) and labels (n,) with n at least 1, "
            f"got {table.shape} and {truth.shape}"
        )
    if truth.dtype.kind not in "iu" or truth.min() < 0 or truth.max() >= table.shape[1]:
        raise InputError(
            f"labels must be columns of probabilities, 0 to {table.shape[1] - 1}, "
            f"got {truth.min()} to {truth.max()}"
        )
    return table, truth.astype(np.intp)
