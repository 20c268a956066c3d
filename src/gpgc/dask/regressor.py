"""Regression on nodes on a cluster."""

from __future__ import annotations

from typing import Any, Self

import dask.array as da
import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.dask.base import DaskProcess
from gpgc.dask.cluster import task
from gpgc.dask.conditioning import prior_variances
from gpgc.dask.described import Model
from gpgc.dask.labels import check_length, known_entries
from gpgc.dask.local import local_inputs
from gpgc.errors import InputError
from gpgc.estimators.given_labels import check_sample_weight
from gpgc.estimators.given_values import as_values
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.regressor import GPGCRegressor, known_average, target_scale
from gpgc.models.architecture import GRAPH
from gpgc.selection.choice import Choice


class DaskGPGCRegressor(RegressorMixin, DaskProcess):
    """Predict numbers at all nodes of a graph in blocks, as :class:`gpgc.GPGCRegressor`.

    Parameters
    ----------
    model, base_kernel, activation, depth, weight_variance, bias_variance : optional
        As in :class:`DaskGPGCClassifier`.
    noise_variance : float, array of shape (k,), "loo" or "evidence"
        As in :class:`gpgc.GPGCRegressor`; above 0.
    normalization, feature_norm, standardise, dtype, random_state, client : optional
        As in :class:`DaskGPGCClassifier`.

    Attributes
    ----------
    noise_variance_, target_mean_, target_scale_, is_vector_, view_weights_
        As in :class:`gpgc.GPGCRegressor`.
    labelled_nodes_ : int array of shape (D,)
        The nodes whose values were given.
    approximations_ : tuple of str
        What is not exact in the covariance, a phrase each.
    standardisation_ : str or None
        What was done to the columns of X, and why.
    client_ : distributed.Client
        The client in use.

    Examples
    --------
    >>> import numpy as np, dask.array as da, dask.dataframe as dd, pandas as pd
    >>> from distributed import Client
    >>> chain = pd.DataFrame({"source": np.arange(4), "target": np.arange(1, 5)})
    >>> X = da.from_array(np.eye(5), chunks=(3, 5))
    >>> y = np.array([0.0, np.nan, np.nan, np.nan, 1.0])
    >>> with Client(processes=False, n_workers=1, dashboard_address=None):
    ...     model = DaskGPGCRegressor(noise_variance=0.01)
    ...     model.fit(X, y, dd.from_pandas(chain, npartitions=2)).predict().compute().round(2)
    array([0.13, 0.24, 0.5 , 0.76, 0.87])
    """

    def fit(self, X: Any, y: Any, adjacency: Any, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the given values.

        Parameters
        ----------
        X, adjacency, sample_weight
            As in :meth:`DaskGPGCClassifier.fit`.
        y : dask or NumPy array of shape (N,) or (N, k)
            Values, NaN where unknown.

        Returns
        -------
        DaskGPGCRegressor
            The estimator itself.
        """
        check_length(y, X)
        if isinstance(y, da.Array):
            labelled, known = known_entries(y, known_values, self.client)
            values, squeeze = as_values(known)
        else:
            values, squeeze = as_values(y)
            labelled, values = known_values(values)
        trust = check_sample_weight(sample_weight, X.shape[0])[labelled]
        labelled, values, trust = labelled[trust > 0], values[trust > 0], trust[trust > 0]
        if not len(labelled) or np.isnan(values).any():
            raise InputError("y must hold a value, and be NaN in all columns of a node or in none")
        noise = check_noise(self.noise_variance, values.shape[1])
        graph = self._build(X, labelled, adjacency)
        model = Model(self.architecture(), GRAPH, self.dtype)
        variances = graph.cluster.fetch(
            task(prior_variances, graph.landmarks, rows, model)
            for rows, nodes in zip(graph.labelled_rows, graph.labelled, strict=True)
            if len(nodes)
        )
        mean = known_average(values, trust)
        scale = target_scale(values, trust, np.concatenate(variances))
        counted = float(len(labelled) > 1) * trust / trust.mean()
        given = noise if isinstance(noise, str) else noise / scale**2
        targets = (values - mean) / scale
        levels = self._condition(graph, targets, given, "density", counted, trust)
        self.target_mean_, self.target_scale_, self.is_vector_ = mean, scale, squeeze
        self.log_marginal_likelihood_ -= len(labelled) * float(np.log(scale).sum())
        in_unit = levels * scale**2
        self.noise_variance_ = float(in_unit[0]) if len(in_unit) == 1 else in_unit
        self._values, self._trust = values, trust
        return self

    def predict(self, return_std: bool = False) -> Any:
        """Return the posterior mean of all nodes, of the dimension that y had, lazily.

        Parameters
        ----------
        return_std : bool, default False
            Whether to return the standard deviation of the latent value beside it.
        """
        check_is_fitted(self)
        if not return_std:
            mean = self.predict_latent()
            return mean[:, 0] if self.is_vector_ else mean
        mean, std = self.predict_latent(return_std=True)
        return (mean[:, 0] if self.is_vector_ else mean), std

    def to_local(self) -> GPGCRegressor:
        """Return the same model as a :class:`gpgc.GPGCRegressor` in this process.

        It holds all features and edges; views and noise are not chosen again.
        """
        check_is_fitted(self)
        parameters = self.get_params(deep=False)
        parameters.pop("client")
        local = GPGCRegressor(**parameters)
        features, adjacency = local_inputs(self._graph)
        return local.fit_prior(
            local.make_prior(features, adjacency, self._graph.partition.n_nodes),
            self.labelled_nodes_,
            self._values,
            squeeze=self.is_vector_,
            scale=self.target_scale_,
            choice=Choice(self.view_weights_, self.noise_levels_),
            sample_weight=self._trust,
        )

    def _to_unit(self, mean: da.Array) -> da.Array:
        return mean.astype(np.float64) * self.target_scale_ + self.target_mean_

    def _spread_to_unit(self, spread: da.Array) -> da.Array:
        scale = self.target_scale_
        return spread * (scale[0] if len(scale) == 1 else scale)


def known_values(values: Array) -> tuple[Integers, Array]:
    """Return the places of the rows that are not NaN throughout, and the rows."""
    table = values.reshape(len(values), -1)
    known = np.flatnonzero(~np.isnan(table).all(axis=1))
    return known, values[known]
