"""Regression on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.alignment import align_labels, named_inputs
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.given_values import GivenValues, encode_values
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.notebook import graph_facts
from gpgc.estimators.verbose import shows_progress
from gpgc.models import Prior
from gpgc.selection.choice import Choice

if TYPE_CHECKING:
    from gpgc.uncertainty.intervals import Intervals


class GPGCRegressor(RegressorMixin, GraphProcess):
    """Predict numbers at all nodes of a graph from a few, with error bars.

    Each target is centred by the mean of the given values and scaled so that its prior variance at
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
    random_state, space, standardise, verbose : optional
        As in :class:`GPGCClassifier`.

    Attributes
    ----------
    labelled_nodes_ : int array of shape (D,)
        The nodes whose values were given.
    noise_variance_ : float, or array of shape (k,) for several targets
        The noise σ_τ² in use, in the squared unit of y.
    log_marginal_likelihood_ : float
        The log evidence of the given values, summed over the targets.
    is_vector_ : bool
        Whether y had one dimension, so that ``predict`` returns one too.
    target_mean_, target_scale_ : arrays of shape (k,)
        The prior of y is that of a Gaussian process with this mean, and with the covariance Γ
        times the squared scale.
    view_weights_ : dict
        Name of a view of the nodes → weight in the covariance, as in :class:`GPGCClassifier`;
        chosen for all targets together.
    prior_, posterior_ : Prior, Posterior
        The architecture on the graph, and its covariance conditioned on the values.
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

    @shows_progress("fitting")
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
        self.__dict__.pop("posterior_", None)  # a fit that fails leaves nothing behind
        X, y, adjacency, sample_weight, names = named_inputs(X, y, adjacency, sample_weight)
        given = encode_values(y, sample_weight)
        prior = self.make_prior(X, adjacency, given.n_nodes, names)
        return self._fit_given(prior, given)

    def relabel(self, y: Any, *, sample_weight: Any = None) -> Self:
        """Condition on other values of the same graph, without building its covariance again.

        Parameters
        ----------
        y, sample_weight : arrays
            Values and their weights, as in :meth:`fit`.

        Returns
        -------
        GPGCRegressor
            The estimator itself.
        """
        check_is_fitted(self)
        y = align_labels(y, self.prior_.nodes)
        sample_weight = align_labels(sample_weight, self.prior_.nodes, "sample_weight")
        given = encode_values(y, sample_weight)
        if given.n_nodes != len(self.prior_.nodes):
            raise InputError(
                f"y must have one entry for each of the {len(self.prior_.nodes)} nodes, "
                f"got {given.n_nodes}"
            )
        return self._fit_given(self.prior_, given)

    def fit_predict(
        self, X: Any, y: Any, adjacency: Any = None, *, sample_weight: Any = None
    ) -> Any:
        """Return the prediction for all nodes after a :meth:`fit`, whose parameters these are."""
        return self.fit(X, y, adjacency, sample_weight=sample_weight).predict()

    def fit_prior(
        self,
        prior: Prior,
        labelled: Integers,
        values: Array,
        *,
        squeeze: bool = False,
        scale: Array | None = None,
        choice: Choice | None = None,
        sample_weight: Array | None = None,
    ) -> Self:
        """Condition a prior on values.

        Parameters
        ----------
        prior : Prior
            As :meth:`make_prior` gives it.
        labelled : int array of shape (D,)
            Nodes with a value of some target.
        values : array of shape (D, k)
            Their values, NaN where one is not known.
        squeeze : bool, default False
            Whether ``predict`` returns one column as an array of shape (n,).
        scale : array of shape (k,), optional
            The unit of each target, where it is known.
        choice : Choice, optional
            Weights of the views, and noise of the scaled targets, where they are known.
        sample_weight : array of shape (D,), optional
            How much each value counts; 1 when not given.

        Returns
        -------
        GPGCRegressor
            The estimator itself.
        """
        noise = check_noise(self.noise_variance, values.shape[1])
        trust = np.ones(len(labelled)) if sample_weight is None else sample_weight
        mean = known_average(values, trust)
        if scale is None:
            scale = target_scale(values, trust, prior.covariance().diag(labelled))
        counted = float(len(labelled) > 1) * trust / trust.mean()
        given = noise if isinstance(noise, str) else noise / scale**2
        targets = (values - mean) / scale
        choice = self._condition(prior, labelled, targets, given, "density", counted, choice, trust)
        self.target_mean_, self.target_scale_, self.is_vector_ = mean, scale, squeeze
        self.log_marginal_likelihood_ -= float((~np.isnan(values)).sum(axis=0) @ np.log(scale))
        in_unit = choice.levels * scale**2
        self.noise_variance_ = float(in_unit[0]) if len(in_unit) == 1 else in_unit
        return self

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
        return self._to_unit(self.posterior_.targets)

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

    def _fit_given(self, prior: Prior, given: GivenValues) -> Self:
        return self.fit_prior(
            prior,
            given.nodes,
            given.values,
            squeeze=given.is_vector,
            sample_weight=given.weights,
        )

    def _to_unit(self, mean: Array) -> Array:
        return np.asarray(mean * self.target_scale_ + self.target_mean_)

    def _spread_to_unit(self, spread: Array, power: int = 1) -> Array:
        scale = self.target_scale_**power
        return np.asarray(spread * (scale[0] if len(scale) == 1 else scale))


def known_average(values: Array, weights: Array) -> Array:
    """Return the weighted mean of each column of (D, k), NaN passed over.

    Examples
    --------
    >>> known_average(np.array([[1.0, np.nan], [3.0, 4.0]]), np.array([1.0, 1.0]))
    array([2., 4.])
    """
    counts = weights[:, None] * ~np.isnan(values)
    return np.asarray((counts * np.nan_to_num(values)).sum(axis=0) / counts.sum(axis=0))


def target_scale(values: Array, weights: Array, prior: Array) -> Array:
    """Return by what the targets' unit is larger than the process's.

    Of a target whose values are all equal their size is the only unit there is, and 1 where they
    are 0.

    Parameters
    ----------
    values : array of shape (D, k)
        NaN where one is not known.
    weights, prior : arrays of shape (D,)
        How much each node counts, and its prior variance.
    """
    size = np.nanmax(np.abs(values), axis=0)
    relative = values / np.where(size > 0, size, 1.0)
    centred = relative - known_average(relative, weights)
    std = np.sqrt(known_average(centred**2, weights))
    varies = std > len(values) * np.finfo(np.float64).eps
    known = ~np.isnan(values)
    usual = prior.astype(np.float64) @ known / known.sum(axis=0)
    unit = np.where(varies, std, 1.0) * np.where(size > 0, size, 1.0)
    return np.asarray(unit / np.sqrt(np.where(usual > 0, usual, 1.0)))
