"""How good a forecast of classes is, by every measure that the tables show."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from gpgc.uncertainty.measures import expected_calibration_error, log_loss
from gpgc_lab.array_types import Array, Integers

Scores = dict[str, float | None]


def score_classes(forecast: Array, truth: Integers, learnt: Integers | None = None) -> Scores:
    """Return accuracy, log loss, calibration error and area under the ROC curve.

    Parameters
    ----------
    forecast : ndarray of shape (n, C)
        Class probabilities, or scores of which only the order counts.
    truth : ndarray of int, shape (n,)
        The classes.
    learnt : ndarray of int, optional
        Classes that had a training label; log loss leaves out nodes of others. All when not given.

    Returns
    -------
    dict
        The area is None unless there are two classes and both occur; log loss and calibration
        error are None where rows are no probabilities.

    Examples
    --------
    >>> score_classes(np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0, 1]))["accuracy"]
    1.0
    """
    n_classes = forecast.shape[1]
    both = n_classes == 2 and len(np.unique(truth)) == 2
    known = np.ones(len(truth), dtype=bool) if learnt is None else np.isin(truth, learnt)
    is_probability = bool((forecast >= 0).all() and np.allclose(forecast.sum(axis=1), 1))
    judged = is_probability and bool(known.any())
    return {
        "accuracy": float(np.mean(forecast.argmax(axis=1) == truth)),
        "log_loss": log_loss(forecast[known], truth[known]) if judged else None,
        "calibration_error": (
            expected_calibration_error(forecast, truth) if is_probability else None
        ),
        "area_under_curve": (
            float(roc_auc_score(truth == 1, forecast[:, 1] - forecast[:, 0])) if both else None
        ),
    }


def calibration_floor(forecast: Array, n_draws: int = 20) -> float:
    """Return the calibration error that these probabilities would have if they were calibrated.

    With few nodes bins hold few, and the error is not zero: labels are drawn so that each forecast
    is right with its own probability, and the error is averaged over the draws.

    Parameters
    ----------
    forecast : ndarray of shape (n, C)
        Class probabilities.
    n_draws : int, default 20
        Number of draws.

    Examples
    --------
    >>> calibration_floor(np.array([[1.0, 0.0]] * 4))
    0.0
    """
    rng = np.random.default_rng(0)
    chosen, confidence = forecast.argmax(axis=1), forecast.max(axis=1)
    other = (chosen + 1) % forecast.shape[1]
    draws = [np.where(rng.random(len(chosen)) < confidence, chosen, other) for _ in range(n_draws)]
    return float(np.mean([expected_calibration_error(forecast, drawn) for drawn in draws]))
