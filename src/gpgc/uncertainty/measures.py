"""How good probabilities are: calibration and log loss."""

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
