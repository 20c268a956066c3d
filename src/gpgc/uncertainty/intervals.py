"""Intervals that hold a value with a wanted probability."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.estimators.regressor import GPGCRegressor


class Intervals(NamedTuple):
    """Ends of the intervals, of shape (n,), or (n, k) for several targets."""

    low: Array
    high: Array


def predict_interval(
    estimator: GPGCRegressor, level: float = 0.9, X: Any = None, adjacency: Any = None
) -> Intervals:
    r"""Return intervals that hold a new value of each node with probability ``level``.

    mean ± q s with s² the posterior variance plus the noise. The factor q is not that of a normal
    distribution but the ``level`` quantile of :math:`|y - m| / s` over the given values, each
    predicted from the others, the :math:`\lceil (D + 1)\,\mathrm{level} \rceil`-th smallest of D:
    where the model is too sure, or errors have long tails, intervals are wider. With too few
    values for that, the larger of the largest ratio and the normal quantile.

    Parameters
    ----------
    estimator : GPGCRegressor
        Fitted. The coverage is that on nodes drawn like those whose values were given.
    level : float, default 0.9
        Wanted coverage, between 0 and 1.
    X, adjacency : optional
        For nodes that join the graph, as in ``predict``.

    Returns
    -------
    Intervals
        ``low`` and ``high``.

    Examples
    --------
    >>> chain = (np.arange(4), np.arange(1, 5))
    >>> y = np.array([0.0, np.nan, 0.5, np.nan, 1.0])
    >>> model = GPGCRegressor().fit(None, y, adjacency=chain)
    >>> low, high = predict_interval(model, 0.8)
    >>> bool(((low < model.predict()) & (model.predict() < high)).all())
    True
    """
    check_is_fitted(estimator)
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level!r:.60}")
    mean, std = estimator.predict_latent(X=X, adjacency=adjacency, return_std=True)
    spread = np.sqrt(std.reshape(len(mean), -1) ** 2 + estimator.noise_variance_)
    width = _factor(estimator, level) * spread
    low, high = mean - width, mean + width
    return Intervals(low[:, 0], high[:, 0]) if estimator.is_vector_ else Intervals(low, high)


def _factor(estimator: GPGCRegressor, level: float) -> Array:
    """Return q (k,)."""
    left_out, std = estimator.leave_one_out()
    errors = np.abs(estimator.given_values() - left_out) / std.reshape(len(left_out), -1)
    normal = norm.ppf((1 + level) / 2)
    factors = []
    for column in errors.T:
        ordered = np.sort(column[~np.isnan(column)])
        rank = int(np.ceil((len(ordered) + 1) * level))
        enough = rank <= len(ordered)
        factors.append(ordered[rank - 1] if enough else max(ordered[-1], normal))
    return np.array(factors)
