"""Intervals that hold a value with a wanted probability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.estimators.regressor import GPGCRegressor
from gpgc.gp import CHOSEN_A_VIEW, residual_scale

ROUNDING = 1e-4
"""ε: below it errors of means are what float32 rounds; where values are constant within what is
linked, left-out errors are no more than that, and their quantile says nothing."""


class Intervals(NamedTuple):
    """Ends of the intervals, of shape (n,), or (n, k) for several targets."""

    low: Array
    high: Array


def predict_interval(
    estimator: GPGCRegressor, level: float = 0.9, X: Any = None, adjacency: Any = None
) -> Intervals:
    """Return mean ± max(q √(variance + noise), ε s_y): a new value lies there with ``level``.

    q is the ⌈(D + 1) level⌉-th smallest of D left-out |y − m| / s, times √(D / (D − p)) for the p
    numbers they chose; with too few values the larger of the largest and the normal quantile.
    """
    check_is_fitted(estimator)
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level!r:.60}")
    mean, std = estimator.predict_latent(X=X, adjacency=adjacency, return_std=True)
    std_of_new = np.sqrt(std.reshape(len(mean), -1) ** 2 + estimator.noise_variance_)
    least = ROUNDING * np.nanstd(estimator.given_values(), axis=0)
    width = np.maximum(_factor(estimator, level) * std_of_new, least)
    low, high = mean - width, mean + width
    return Intervals(low[:, 0], high[:, 0]) if estimator.is_vector_ else Intervals(low, high)


def _factor(estimator: GPGCRegressor, level: float) -> Array:
    """Return q (k,)."""
    left_out, std = estimator.leave_one_out()
    errors = np.abs(estimator.given_values() - left_out) / std.reshape(len(left_out), -1)
    normal = ndtri((1 + level) / 2)
    weights = np.array(
        [np.broadcast_to(view.weight, errors.shape[1:]) for view in estimator.posterior_.views]
    )
    factors = []
    for column, of_views in zip(errors.T, weights.T, strict=True):
        ordered = np.sort(column[~np.isnan(column)])
        rank = int(np.ceil((len(ordered) + 1) * level))
        enough = rank <= len(ordered)
        quantile = ordered[rank - 1] if enough else max(ordered[-1], normal)
        n_chosen = CHOSEN_A_VIEW * int(np.count_nonzero(of_views))
        factors.append(quantile * residual_scale(len(ordered), n_chosen))
    return np.array(factors)
