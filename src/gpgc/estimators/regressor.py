"""Regression on nodes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.alignment import align
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.labels import numbers_or_nan
from gpgc.gp import NoiseChoice


class GPGCRegressor(RegressorMixin, GraphProcess):
    """Predict numbers at all nodes of a graph from a few, with error bars.

    Targets are centred by the mean of the given values; the rest is the Gaussian process of the
    classifier.

    Parameters
    ----------
    model, base_kernel, depth, weight_variance, bias_variance : optional
        The network, as in :class:`GPGCClassifier`.
    noise_variance : float, "loo" or "evidence"
        σ_τ². ``"loo"`` takes the level with the best leave-one-out log density, with a pull towards
        the model's usual level that decides if there is one value only; ``"evidence"`` the one
        with the largest marginal likelihood.
    normalization, feature_norm, n_neighbors, dtype, n_jobs, memory_limit, random_state : optional
        As in :class:`GPGCClassifier`.

    Attributes
    ----------
    labelled_nodes_ : int array of shape (D,)
        The nodes whose values were given.
    noise_variance_, log_marginal_likelihood_ : float
        The noise σ_τ² in use, and the log evidence summed over the columns of the targets.
    feature_share_ : float
        How much the features alone count against the graph, where *broad* found that to be better.
    covariance_ : Covariance
        The prior covariance Γ of all nodes.
    adjacency_ : csr_array of shape (N, N)
        The graph, symmetric and without self-loops.

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc import GPGCRegressor
    >>> chain = (np.arange(4), np.arange(1, 5))
    >>> y = np.array([0.0, np.nan, np.nan, np.nan, 1.0])
    >>> GPGCRegressor(noise_variance=0.1).fit(None, y, adjacency=chain).predict().round(2)
    array([0.24, 0.31, 0.5 , 0.69, 0.76])
    """

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> Self:
        """Condition the Gaussian process on the given values.

        Parameters
        ----------
        X : array or sparse matrix of shape (N, F), or None
            Features of all nodes; None for one-hot features.
        y : array of shape (N,) or (N, k)
            Values, NaN where unknown.
        adjacency : graph, optional
            As in :meth:`GPGCClassifier.fit`.

        Returns
        -------
        GPGCRegressor
            The estimator itself.
        """
        X, y, adjacency = align(X, y, adjacency)
        values, self._squeeze = _as_values(y)
        missing = np.isnan(values)
        labelled = np.flatnonzero(~missing.any(axis=1))
        if (missing.any(axis=1) != missing.all(axis=1)).any():
            raise InputError(
                "y must be NaN in all columns of a node or in none, got rows with both"
            )
        if not len(labelled):
            raise InputError(f"y must have at least one value, got {len(values)} times NaN")
        self._fit_graph(X, adjacency, len(values))
        return self._condition(labelled, values[labelled])

    def predict(self, X: Any = None, adjacency: Any = None, return_std: bool = False) -> Any:
        """Return the posterior mean, of the dimension that y had.

        Parameters
        ----------
        X, adjacency : optional
            For nodes that join the graph, as in :meth:`GPGCClassifier.predict`.
        return_std : bool
            Whether to return the standard deviation (n,) of the latent value beside it.
        """
        if not return_std:
            mean = self.predict_latent(X=X, adjacency=adjacency)
            return mean[:, 0] if self._squeeze else mean
        mean, std = self.predict_latent(X=X, adjacency=adjacency, return_std=True)
        return (mean[:, 0] if self._squeeze else mean), std

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @property
    def _center(self) -> Any:
        return self._target_mean

    def _condition(
        self,
        labelled: Integers,
        values: Array,
        chosen: tuple[float, NoiseChoice] | None = None,
    ) -> Self:
        self._target_mean = values.mean(axis=0)
        weights = np.full(len(labelled), float(len(labelled) > 1))
        targets = values - self._target_mean
        return self._fit_process(labelled, targets, "density", weights, chosen)

    def _state(self) -> dict[str, Any]:
        values = self._posterior.targets + self._target_mean
        return {"values": values, "squeeze": np.array(self._squeeze)}

    def _restore(
        self, labelled: Integers, state: dict[str, Any], chosen: tuple[float, NoiseChoice]
    ) -> None:
        self._squeeze = bool(state["squeeze"])
        self._condition(labelled, state["values"], chosen)


def _as_values(y: Any) -> tuple[Array, bool]:
    if y is None:
        raise InputError("y must be given: requires y to be passed, but the target y is None")
    given = numbers_or_nan(y)
    if given.dtype.kind not in "biufO":
        raise InputError(
            f"y must hold real numbers (Complex data not supported), got {given.dtype}"
        )
    values = given.astype(np.float64)
    if values.ndim != 2 or values.shape[1] == 1:
        values = column_or_1d(values, warn=True)[:, None]
        squeeze = True
    else:
        squeeze = False
    if np.isinf(values).any():
        raise InputError("Input y contains infinity; expected numbers, or NaN where unknown")
    return values, squeeze
