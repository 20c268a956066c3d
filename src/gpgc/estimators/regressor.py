"""Regression on nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from gpgc._typing import Array
from gpgc.estimators.base import GraphProcess, Unit
from gpgc.estimators.given import GivenValues, effective_weights, encode_values
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.notebook import graph_facts
from gpgc.models import Prior
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
    encode: ClassVar[Any] = staticmethod(encode_values)

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
        return self._fit(X, y, adjacency, sample_weight)

    def fit_prior(
        self,
        prior: Prior,
        given: GivenValues,
        choice: Choice | None = None,
        unit: Unit | None = None,
    ) -> Self:
        """Condition a prior on values; choice, and the unit of each target, may be known."""
        noise = check_noise(self.noise_variance, given.n_levels)
        if unit is None:
            unit = unit_of_values(given, prior.covariance().diag(given.nodes))
        loo_weights = float(len(given.nodes) > 1) * effective_weights(given.weights)
        levels = noise if isinstance(noise, str) else noise / unit.scale**2
        self._condition(prior, given, unit, levels, loo_weights, choice)
        return self

    @property
    def target_mean_(self) -> Array:
        """The prior mean (k,) of the targets."""
        return self.fit_.unit.offset

    @property
    def target_scale_(self) -> Array:
        """What the process is multiplied by (k,)."""
        return self.fit_.unit.scale

    @property
    def is_vector_(self) -> bool:
        """Whether y had one dimension."""
        return bool(self.fit_.given.is_vector)

    @property
    def target_names_(self) -> NDArray[Any] | None:
        """What the targets are called, None where nothing named them."""
        names: NDArray[Any] | None = self.fit_.given.names
        return names

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
        values: Array = self.fit_.given.targets
        return values

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


def known_average(values: Array, weights: Array) -> Array:
    """Return the weighted mean of each column of (D, k), NaN passed over."""
    counts = weights[:, None] * ~np.isnan(values)
    return np.asarray((counts * np.nan_to_num(values)).sum(axis=0) / counts.sum(axis=0))


def unit_of_values(given: GivenValues, prior: Array) -> Unit:
    """Return mean and scale of values, the scale for prior variances (D,) of the process."""
    offset = known_average(given.targets, given.weights)
    return Unit(offset, target_scale(given.targets, given.weights, prior))


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
