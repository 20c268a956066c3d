"""Regression on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin

from gpgc._typing import Array
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.given import GivenValues, effective_weights, encode_values
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.notebook import graph_facts
from gpgc.models import Prior
from gpgc.problem.alignment import problem_of
from gpgc.selection.choice import Choice
from gpgc.selection.noise_choice import Criterion

if TYPE_CHECKING:
    from gpgc.uncertainty.intervals import Intervals


class GPGCRegressor(RegressorMixin, GraphProcess):
    """Predict numbers at all nodes of a graph from a few, with error bars.

    Each target is centered by the mean of the given values and scaled so that its prior variance at
    the labelled nodes is, on average, the variance of the given values; the rest is the Gaussian
    process of the classifier. Nothing depends on the unit of y. A new observation has the standard
    deviation √(std² + ``noise_variance_``).

    Parameters
    ----------
    model, base_kernel, activation, depth, weight_variance, bias_variance, kernel, learn : optional
        The network, as in :class:`GPGCClassifier`.
    noise_variance : float, array of shape (k,), "loo" or "evidence"
        σ_τ² in the squared unit of y, one for all of k targets or one each. ``"loo"`` takes, for
        each target, the level with the best leave-one-out log density, with a pull towards
        the model's usual level that decides if there is one value only; ``"evidence"`` the one
        with the largest marginal likelihood.
    normalization, feature_norm, n_neighbors, dtype, n_jobs, memory_limit : optional
        As in :class:`GPGCClassifier`.
    random_state, space, standardize, verbose : optional
        As in :class:`GPGCClassifier`.

    Attributes
    ----------
    labelled_nodes_ : int array of shape (D,)
        The nodes whose values were given.
    noise_variance_ : float, or array of shape (k,) for several targets
        The noise σ_τ² in use, in the squared unit of y; of several views their mean by shares of
        the weights, inflated as left-out residuals say (:class:`gpgc.gp.Stack`).
    log_marginal_likelihood_ : float
        The log evidence of the given values, summed over the targets.
    is_vector_ : bool
        Whether y had one dimension, so that ``predict`` returns one too.
    target_names_ : array of shape (k,), or None
        What several targets are called, by the columns of a frame y; None where nothing named them.
    target_mean_, target_scale_ : arrays of shape (k,)
        The prior of y is that of a Gaussian process with this mean, and with the covariance Γ
        times the squared scale.
    view_weights_ : dict
        Name of a view of the nodes → what its mean counts in the sum, as in
        :class:`GPGCClassifier`; each target has weights of its own, whose means these are.
    noise_levels_ : dict
        Name of a view → its own noise of the scaled targets, of shape (k,).
    prior_, posterior_ : Prior, Stack
        The views on the graph, and the weighted sum of those that count, conditioned on the values.
    covariance_ : Covariance
        The prior covariance Γ of all nodes, of several views their mean by shares of the weights.
    adjacency_ : csr_array of shape (N, N)
        The graph, symmetric and without self-loops.

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc import GPGCRegressor
    >>> chain = (np.arange(4), np.arange(1, 5))
    >>> y = np.array([0.0, np.nan, np.nan, np.nan, 1.0])
    >>> GPGCRegressor(noise_variance=0.01).fit(None, y, adjacency=chain).predict().round(2)
    array([0.23, 0.31, 0.5 , 0.69, 0.77])
    """

    criterion: ClassVar[Criterion] = "density"

    def fit(self, X: Any, y: Any, adjacency: Any = None, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the given values.

        Parameters
        ----------
        X : array, sparse matrix, frame or NodeTable of shape (N, F), or None
            Features of all nodes, as in :meth:`GPGCClassifier.fit`; None for one-hot features.
        y : array of shape (N,) or (N, k), Series, frame or dict
            Values, NaN where unknown; by name as in :meth:`GPGCClassifier.fit`, in a frame with
            the columns ``id`` and ``value``. Of k targets each may be known at nodes of its own.
        adjacency : graph, optional
            As in :meth:`GPGCClassifier.fit`.
        sample_weight : array of shape (N,), optional
            How much each value is to be trusted, 1 when not given: its noise is σ_τ² over its
            weight w, as that of the mean of w measurements is. 0 is as good as no value.

        Returns
        -------
        GPGCRegressor
            The estimator itself.
        """
        self._forget()
        return self.fit_problem(problem_of(X, y, adjacency, sample_weight))

    def encoded(self, y: Any, sample_weight: Any) -> GivenValues:
        """Return values, NaN where unknown, with what each counts."""
        return encode_values(y, sample_weight)

    def fit_prior(
        self,
        prior: Prior,
        given: GivenValues,
        choice: Choice | None = None,
        scale: Array | None = None,
    ) -> Self:
        """Condition a prior on values; choice, and the unit (k,) of each target, may be known."""
        values, trust = given.values, given.weights
        noise = check_noise(self.noise_variance, given.n_levels)
        mean = known_average(values, trust)
        if scale is None:
            scale = target_scale(values, trust, prior.covariance().diag(given.nodes))
        counted = float(len(values) > 1) * effective_weights(trust)
        levels = noise if isinstance(noise, str) else noise / scale**2
        self._condition(prior, given, (values - mean) / scale, levels, counted, choice)
        self.take_values(given, scale)
        return self

    def take_values(self, given: GivenValues, scale: Array) -> None:
        """Know mean, unit and noise of the targets, once fitted to them."""
        self.target_mean_, self.target_scale_ = known_average(given.values, given.weights), scale
        self.is_vector_, self.target_names_ = given.is_vector, given.names
        in_unit = self._noise_variance() * scale**2
        self.noise_variance_ = float(in_unit[0]) if len(in_unit) == 1 else in_unit

    @property
    def log_marginal_likelihood_(self) -> float:
        """The log evidence of the values, in the unit of y: of several views by their shares."""
        n_known = (~np.isnan(self.fit_.targets)).sum(axis=0)
        return super().log_marginal_likelihood_ - float(n_known @ np.log(self.target_scale_))

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
        if not return_std:
            mean = self.predict_latent(X=X, adjacency=adjacency)
            return mean[:, 0] if self.is_vector_ else mean
        mean, std = self.predict_latent(X=X, adjacency=adjacency, return_std=True)
        return (mean[:, 0] if self.is_vector_ else mean), std

    def predict_interval(
        self, level: float = 0.9, *, X: Any = None, adjacency: Any = None
    ) -> Intervals:
        """Return intervals that hold a new value of each node with probability ``level``.

        Parameters
        ----------
        level : float, default 0.9
            Wanted coverage, between 0 and 1, on nodes drawn like those whose values were given.
        X, adjacency : optional
            For nodes that join the graph, as in :meth:`predict`.

        Returns
        -------
        Intervals
            ``low`` and ``high``, calibrated by leave-one-out
            (:func:`gpgc.uncertainty.intervals.predict_interval`).
        """
        from gpgc.uncertainty.intervals import predict_interval

        return predict_interval(self, level, X, adjacency)

    def given_values(self) -> Array:
        """Return the given values (D, k) in the order of ``labelled_nodes_``, NaN for none."""
        return self._to_unit(self.fit_.targets)

    def facts(self) -> dict[str, str]:
        """Return what a notebook shows: graph, values, views, noise and an estimate."""
        mean, _ = self.leave_one_out()
        error = np.sqrt(np.nanmean((mean - self.given_values()) ** 2, axis=0))
        said = ", ".join(f"{value:.3g}" for value in error)
        return graph_facts(self) | {"estimate": f"root mean square error {said}, by leave-one-out"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _to_unit(self, mean: Array) -> Array:
        return np.asarray(mean * self.target_scale_ + self.target_mean_)

    def _spread_to_unit(self, spread: Array, power: int = 1) -> Array:
        scale = self.target_scale_**power
        return np.asarray(spread * (scale[0] if len(scale) == 1 else scale))


def known_average(values: Array, weights: Array) -> Array:
    """Return the weighted mean of each column of (D, k), NaN passed over."""
    counts = weights[:, None] * ~np.isnan(values)
    return np.asarray((counts * np.nan_to_num(values)).sum(axis=0) / counts.sum(axis=0))


def target_scale(values: Array, weights: Array, prior: Array) -> Array:
    """Return by what the targets' unit is larger than the process's.

    Of a target whose values are all equal their size is the only unit there is, and 1 where they
    are 0.
    """
    size = np.nanmax(np.abs(values), axis=0)
    relative = values / np.where(size > 0, size, 1.0)
    centered = relative - known_average(relative, weights)
    std = np.sqrt(known_average(centered**2, weights))
    varies = std > len(values) * np.finfo(np.float64).eps
    known = ~np.isnan(values)
    usual = prior.astype(np.float64) @ known / known.sum(axis=0)
    unit = np.where(varies, std, 1.0) * np.where(size > 0, size, 1.0)
    return np.asarray(unit / np.sqrt(np.where(usual > 0, usual, 1.0)))
