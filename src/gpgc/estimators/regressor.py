"""Regression on nodes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.inputs import check_noise
from gpgc.gp import NoiseChoice, TargetwisePosterior


class GPGCRegressor(RegressorMixin, GraphProcess):
    """Predict numbers at all nodes of a graph from a few, with error bars.

    Each target is centred by the mean of the given values and scaled so that its prior variance at
    the labelled nodes is, on average, the variance of the given values; the rest is the Gaussian
    process of the classifier. Nothing depends on the unit of y. A new observation has the standard
    deviation √(std² + ``noise_variance_``).

    Parameters
    ----------
    model, base_kernel, depth, weight_variance, bias_variance : optional
        The network, as in :class:`GPGCClassifier`.
    noise_variance : float, array of shape (k,), "loo" or "evidence"
        σ_τ² in the squared unit of y, one for all of k targets or one each. ``"loo"`` takes, for
        each target, the level with the best leave-one-out log density, with a pull towards
        the model's usual level that decides if there is one value only; ``"evidence"`` the one
        with the largest marginal likelihood.
    normalization, feature_norm, n_neighbors, dtype, n_jobs, memory_limit, random_state : optional
        As in :class:`GPGCClassifier`.

    Attributes
    ----------
    labelled_nodes_ : int array of shape (D,)
        The nodes whose values were given.
    noise_variance_ : float, or array of shape (k,) for several targets
        The noise σ_τ² in use, in the squared unit of y.
    log_marginal_likelihood_ : float
        The log evidence of the given values, summed over the targets.
    target_mean_, target_scale_ : arrays of shape (k,)
        The prior of y is that of a Gaussian process with this mean, and with the covariance Γ
        times the squared scale.
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
    >>> GPGCRegressor(noise_variance=0.01).fit(None, y, adjacency=chain).predict().round(2)
    array([0.13, 0.24, 0.5 , 0.76, 0.87])
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
        values, squeeze = _as_values(y)
        missing = np.isnan(values)
        labelled = np.flatnonzero(~missing.any(axis=1))
        if (missing.any(axis=1) != missing.all(axis=1)).any():
            raise InputError(
                "y must be NaN in all columns of a node or in none, got rows with both"
            )
        if not len(labelled):
            raise InputError(f"y must have at least one value, got {len(values)} times NaN")
        self._fit_graph(X, adjacency, len(values))
        self._squeeze = squeeze
        known, prior = values[labelled], self.covariance_.diag(labelled)
        return self._condition(labelled, known, _scale(known, prior))

    def predict(self, X: Any = None, adjacency: Any = None, return_std: bool = False) -> Any:
        """Return the posterior mean, of the dimension that y had.

        Parameters
        ----------
        X, adjacency : optional
            For nodes that join the graph, as in :meth:`GPGCClassifier.predict`.
        return_std : bool
            Whether to return the standard deviation of the latent value beside it, of shape (n,),
            or (n, k) for several targets.
        """
        check_is_fitted(self)
        if not return_std:
            mean = self.predict_latent(X=X, adjacency=adjacency)
            return mean[:, 0] if self._squeeze else mean
        mean, std = self.predict_latent(X=X, adjacency=adjacency, return_std=True)
        return (mean[:, 0] if self._squeeze else mean), std

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _to_unit(self, mean: Array) -> Array:
        return np.asarray(mean * self.target_scale_ + self.target_mean_)

    def _spread_to_unit(self, spread: Array, power: int = 1) -> Array:
        scaled = spread * self.target_scale_**power
        return scaled[..., 0] if len(self.target_scale_) == 1 else scaled

    def _condition(
        self,
        labelled: Integers,
        values: Array,
        scale: Array,
        chosen: tuple[float, Array] | None = None,
    ) -> Self:
        """Condition on values (D, k); ``chosen`` is the fraction and noise of scaled targets."""
        noise = check_noise(self.noise_variance, values.shape[1])
        self._fitted = False
        self.target_mean_, self.target_scale_ = values.mean(axis=0), scale
        targets = (values - self.target_mean_) / scale
        weights = np.full(len(labelled), float(len(labelled) > 1))
        given = noise if isinstance(noise, str) else noise / scale**2
        self._fit_process(labelled, targets, given, "density", weights, chosen)
        self.log_marginal_likelihood_ -= len(labelled) * float(np.log(scale).sum())
        in_unit = self._levels * scale**2
        self.noise_variance_ = float(in_unit[0]) if len(in_unit) == 1 else in_unit
        self._fitted = True
        return self

    def _condition_on(self, gamma: Array, targets: Array, levels: Array) -> TargetwisePosterior:
        self._levels = levels
        return TargetwisePosterior(gamma, targets, levels)

    def _state(self) -> dict[str, Any]:
        return {
            "values": self._to_unit(self._posterior.targets),
            "squeeze": np.array(self._squeeze),
            "scale": self.target_scale_,
            "noise": self._levels,
        }

    def _restore(
        self, labelled: Integers, state: dict[str, Any], chosen: tuple[float, NoiseChoice]
    ) -> None:
        fraction, noise = chosen
        self._squeeze = bool(state["squeeze"])
        values = state["values"]
        # Version 0.1 did not scale targets, and had one noise for all.
        scale = state.get("scale", np.ones(values.shape[1]))
        levels = state.get("noise", np.full(values.shape[1], noise.noise_variance))
        self._condition(labelled, values, scale, (fraction, levels))


def _scale(values: Array, prior: Array) -> Array:
    """Return by what the targets' unit is larger than the process's, 1 for constant targets."""
    size = np.abs(values).max(axis=0, initial=0.0)
    relative = values / np.where(size > 0, size, 1.0)
    std = relative.std(axis=0)
    varies = std > len(values) * np.finfo(np.float64).eps
    usual = float(np.mean(prior, dtype=np.float64)) or 1.0
    return np.asarray(np.where(varies, std * size / np.sqrt(usual), 1.0))


def _as_values(y: Any) -> tuple[Array, bool]:
    if y is None:
        raise InputError("y must be given: requires y to be passed, but the target y is None")
    given = np.asarray(y)
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
