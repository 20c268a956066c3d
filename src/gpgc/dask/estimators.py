"""The local estimators, fitted on some nodes of a graph in blocks, and asked block by block."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from operator import getitem
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Integers
from gpgc.compute import Context
from gpgc.compute.progress import announce
from gpgc.dask.answer import BlockMeans, Fitted, Moved, answer, doubles
from gpgc.dask.cluster import cluster_of, task
from gpgc.dask.describe import graph_of
from gpgc.dask.features import numbers_of
from gpgc.dask.field import Field, field_of
from gpgc.dask.inputs import here
from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.given import encode_given, encode_values, left_out_weights
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.prior_parameters import check_replaced
from gpgc.estimators.regressor import GPGCRegressor
from gpgc.estimators.standardize import checked_choice
from gpgc.estimators.verbose import shows_progress
from gpgc.files import parse_bytes
from gpgc.gp import Smoother
from gpgc.models.broad import Broad
from gpgc.selection.choice import Choice, ChosenView, label_sample
from gpgc.selection.constants import LABELS_FOR_VIEWS

NOT_HERE = ("learn", "n_neighbors", "kernel")
"""Parameters of the local estimators that mean nothing in blocks: the graph is always given."""

ATTRIBUTES = (
    *("approximations_", "noise_levels_", "noise_variance_", "view_weights_", "classes_"),
    *("log_marginal_likelihood_", "calibration_", "temperature_"),
    *("class_prior_", "decision_", "target_mean_", "target_scale_", "is_vector_", "space_"),
    "standardization_",
)
"""Attributes that are those of the estimator in this process."""


class DaskProcess(BaseEstimator):
    """What both estimators share: parameters of the local one, fit, and latent answers."""

    local: ClassVar[Any]

    def __init__(self, model: Any = "broad", *, client: Any = None, **parameters: Any) -> None:
        usual = signature(self.local).parameters
        for name in [name for name in parameters if name not in self._get_param_names()]:
            raise InputError(f"{name} must be left out on a cluster, got {parameters[name]!r:.60}")
        self.model, self.client = model, client
        for name in set(self._get_param_names()) - {"model", "client"}:
            setattr(self, name, parameters.get(name, usual[name].default))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted({*signature(cls.local).parameters, "client"} - {*NOT_HERE})

    def __getattr__(self, name: str) -> Any:
        if name in ATTRIBUTES and "_estimator" in self.__dict__:
            return getattr(self._estimator, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "_means" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        """Keep the parameters, without the client: what was fitted lives on its cluster."""
        return {**self.get_params(deep=False), "client": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def client_(self) -> Any:
        """The client in use: the one that was given, else the current one."""
        return cluster_of(self.client).client

    @property
    def n_links_(self) -> int:
        """The number of links between different nodes."""
        check_is_fitted(self)
        return self._graph.links.n_entries // 2

    def predict_latent(self, return_std: bool = False) -> Any:
        """Return the posterior of the latent function of all nodes, without noise, lazily.

        Parameters
        ----------
        return_std : bool, default False
            Whether to return the standard deviation; it costs N r² for a view of rank r.

        Returns
        -------
        mean : dask array of shape (N, k)
            One column a class or target; never squeezed.
        std : dask array of shape (N,), or (N, k) for a regressor of several targets
            With ``return_std``.
        """
        check_is_fitted(self)
        n_targets = self._fitted.stack.targets.shape[1]
        means = self._array(self._means, (n_targets,), self.dtype).astype(np.float64)
        mean = self._to_unit(means)
        if not return_std:
            return mean
        tail = (n_targets,) if self.local is GPGCRegressor and n_targets > 1 else ()
        std = da.sqrt(self._array(self._answers(is_variance=True), tail, np.float64))
        return mean, self._spread_to_unit(std)

    def architecture(self) -> Broad:
        """Return the architecture that the parameters describe; *broad* alone runs in blocks."""
        found = self._local().architecture()
        if not isinstance(found, Broad):
            raise InputError(
                "model must be 'broad' on a cluster, whose covariance has a root in blocks of "
                f"rows, got {self.model!r}"
            )
        return found

    def _local(self) -> Any:
        parameters = self.get_params(deep=False)
        parameters.pop("client")
        return self.local(**parameters)

    def _describe(self, X: Any, labelled: Integers, adjacency: Any) -> Field:
        """Bring the graph to the cluster, and gather the rows that the fit looks at."""
        for name in [name for name in self.__dict__ if name.startswith("_")]:
            del self.__dict__[name]  # a fit that fails leaves nothing behind, here or there
        check_replaced(self._local())
        if self.dtype not in ("float32", "float64"):
            raise InputError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        architecture, choice = self.architecture(), checked_choice(self.standardize)
        how = (architecture.seed, self.normalization, self.feature_norm, choice, self.dtype)
        self._graph = graph_of(X, adjacency, *how, cluster_of(self.client))
        self.n_features_in_ = int(X.shape[1])
        announce("describing nodes")
        context = Context.of(self.dtype, self.n_jobs, parse_bytes(self.memory_limit))
        found = field_of(self._graph, architecture, labelled, context)
        announce("choosing views and noise")
        return found

    def _spread(self, field: Field, estimator: Any) -> None:
        """Ask all blocks for their means, by what an estimator knows that was fitted on a field."""
        graph, stack = self._graph, estimator.posterior_
        nodes = field.nodes[field.labelled]
        few = label_sample(field.prior.keys[field.labelled], stack.targets, LABELS_FOR_VIEWS)
        relative = estimator.fit_.given.relative_noise
        self._smoothers = {
            view.name: Smoother(
                field.prior.view(view.name).kernel,
                nodes,
                stack.targets,
                relative,
                view.posterior.apart,
                among=few,
            )
            for view in stack.views
            if isinstance(view.posterior, Smoother)
        }
        self._fitted = Fitted.of(self.architecture(), field, stack, self.dtype)
        self._known = graph.cluster.keep([task(itself, self._fitted)])[0]
        self._everywhere = {name: field.everywhere[name] for name in self._fitted.inputs}
        field.everywhere.clear()  # what diffused for views that do not count is let go
        reached = np.isin(field.component, field.component[nodes])
        self._reached = np.split(reached, graph.links.partition.starts[1:-1])
        announce("means of all nodes")
        self._means = graph.cluster.finish(self._answers(), "means of all nodes")
        views = (
            ChosenView(view.name, view.weight, estimator.noise_levels_[view.name])
            for view in stack.views
        )
        self._choice = Choice(tuple(views), stack.inflation)
        self._estimator, self.labelled_nodes_ = estimator, nodes

    def _answers(self, is_variance: bool = False) -> list[Any]:
        """Return the tasks of latent means or variances."""
        starts, tasks = self._graph.links.partition.starts, []
        numbers = {name: parts() for name, parts in self._everywhere.items()}
        for b, size in enumerate(self._graph.links.partition.sizes):
            own = {name: parts[b] for name, parts in numbers.items()}
            at = Moved(np.concatenate([self._fitted.nodes, starts[b] + np.arange(size)]))
            there = {
                name: smoother.elsewhere(at, smoother.labelled)
                for name, smoother in self._smoothers.items()
            }
            tasks.append(task(answer, self._known, own, there, size, is_variance))
        return tasks

    def _array(self, tasks: Any, tail: tuple[int, ...], dtype: Any) -> da.Array:
        """Return the results of tasks, a block each, as one Dask array."""
        both = zip(tasks, self._graph.links.partition.sizes, strict=True)
        return da.concatenate(
            [da.from_delayed(one, (size, *tail), dtype=dtype) for one, size in both]
        )

    def _local_prior(self) -> Any:
        """Return the prior of all nodes in this process, from X as it was given."""
        graph = self._graph
        raw = (task(numbers_of, x, b, graph.columns) for b, x in enumerate(graph.raw))
        X = np.concatenate(graph.cluster.fetch(raw))
        adjacency = graph.links.adjacency_at(np.arange(len(X)))
        return self._local().make_prior(X, adjacency, len(X))

    def _to_unit(self, mean: da.Array) -> da.Array:
        """Return latent means in the unit of y."""
        return mean

    def _spread_to_unit(self, spread: da.Array) -> da.Array:
        """Return standard deviations in the unit of y."""
        return spread


def itself(value: Any) -> Any:
    """Return a value, as a task whose result any worker can have again."""
    return value


class DaskGPGCClassifier(ClassifierMixin, DaskProcess):
    """Label all nodes of a graph that is in blocks on a cluster, as :class:`gpgc.GPGCClassifier`.

    Rows of X are partitions. Nodes are described in them; a step of the diffusion exchanges only
    rows that cross partitions. The local estimator is fitted in this process on the rows of
    landmarks, labelled and typical nodes, and what it knows is mapped over the partitions. Answers
    have the same bits for any number of workers, and a worker that dies costs its blocks.

    Parameters
    ----------
    model : "broad" or Broad, default "broad"
        The default model; the others have no root in blocks of rows.
    client : distributed.Client, optional
        The connection to the cluster; the current one when not given. It is never pickled.
    **parameters
        Those of :class:`gpgc.GPGCClassifier`, but ``learn``, ``n_neighbors`` and ``kernel``.

    Attributes
    ----------
    classes_, labelled_nodes_, temperature_, class_prior_, calibration_, decision_
        As in :class:`gpgc.GPGCClassifier`.
    noise_variance_, noise_levels_, log_marginal_likelihood_, view_weights_, space_
        As there.
    approximations_ : tuple of str
        What is not exact, and which views of the local estimator are left out, a phrase each.
    standardization_ : str or None
        What was done to the columns of X.
    client_ : distributed.Client
        The client in use.

    Examples
    --------
    >>> import numpy as np, dask.array as da, dask.dataframe as dd, pandas as pd
    >>> from distributed import Client
    >>> chain = pd.DataFrame({"source": np.arange(5), "target": np.arange(1, 6)})
    >>> X = da.from_array(np.eye(6), chunks=(3, 6))
    >>> y = np.array([0, -1, -1, -1, -1, 1])
    >>> with Client(processes=False, n_workers=1, dashboard_address=None):
    ...     model = DaskGPGCClassifier().fit(X, y, dd.from_pandas(chain, npartitions=2))
    ...     model.predict().compute()
    array([0, 0, 0, 1, 1, 1])
    """

    local = GPGCClassifier

    @shows_progress("fitting")
    def fit(self, X: Any, y: Any, adjacency: Any, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the labelled nodes.

        Parameters
        ----------
        X : dask array of shape (N, F)
            Features, whose blocks of rows are the partitions; they are read twice.
        y : dask or NumPy array of shape (N,)
            Labels, −1 (or None, NaN) where unlabelled; of shape (N, k) rows of probabilities.
        adjacency : Dask DataFrame or path
            Edges in any order, with the whole numbers ``source`` and ``target`` from 0 to N − 1
            and optionally ``weight``; a path is a Parquet file or folder that workers can read.
        sample_weight : array of shape (N,), optional
            As in :meth:`gpgc.GPGCClassifier.fit`.

        Returns
        -------
        DaskGPGCClassifier
            The estimator itself.
        """
        check_noise(self.noise_variance, 1)
        given = encode_given(here(y, X, cluster_of(self.client)), sample_weight)
        field = self._describe(X, given.nodes, adjacency)
        here_given = replace(given, n_nodes=len(field.nodes), nodes=field.labelled)
        estimator = self._local().fit_prior(field.prior, here_given)
        self._spread(field, estimator)
        announce("probabilities")
        starts, speaking = self._graph.links.partition.starts, np.concatenate(self._reached)
        speaking[given.nodes] = False
        blocks = np.split(speaking, starts[1:-1])
        alone = field.prior.nodes.reach.alone(field.labelled)
        counted = left_out_weights(given.targets, given.weights, alone)
        means = BlockMeans(self._means, blocks, self._graph.cluster)
        unlabelled = means.root_mean_square(), means.mean_of if means.n_nodes else None
        estimator.calibration_ = estimator.calibration_left_out(counted, unlabelled)
        self._given = given
        return self

    def predict(self) -> da.Array:
        """Return the model's opinion on the label of every node (N,), lazily."""
        check_is_fitted(self)
        both, decision = zip(doubles(self._means), self._reached, strict=True), self.decision_
        codes = [task(decision.codes, *pair) for pair in both]
        tasks = [task(getitem, self.classes_, part) for part in codes]
        return self._array(tasks, (), self.classes_.dtype)

    def predict_proba(self) -> da.Array:
        """Return the probability of each class (N, k), in the order of ``classes_``, lazily."""
        check_is_fitted(self)
        both, decision = zip(doubles(self._means), self._reached, strict=True), self.decision_
        tasks = [task(decision.probabilities, *pair) for pair in both]
        return self._array(tasks, (len(self.classes_),), np.float64)

    def to_local(self) -> GPGCClassifier:
        """Return the same model as a :class:`gpgc.GPGCClassifier` in this process.

        It holds all features and edges, and answers whatever the local estimator does; views,
        noise and calibration are not chosen again.
        """
        check_is_fitted(self)
        known = (self._choice, self.calibration_)
        local: GPGCClassifier = self._local().fit_prior(self._local_prior(), self._given, *known)
        return local


class DaskGPGCRegressor(RegressorMixin, DaskProcess):
    """Predict numbers at all nodes of a graph in blocks, as :class:`gpgc.GPGCRegressor`.

    Parameters
    ----------
    model, client : optional
        As in :class:`DaskGPGCClassifier`.
    **parameters
        Those of :class:`gpgc.GPGCRegressor`, but ``learn``, ``n_neighbors`` and ``kernel``.

    Attributes
    ----------
    noise_variance_, target_mean_, target_scale_, is_vector_, view_weights_, labelled_nodes_
        As in :class:`gpgc.GPGCRegressor`; the others as in :class:`DaskGPGCClassifier`.

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
    array([0.23, 0.31, 0.5 , 0.69, 0.77])
    """

    local = GPGCRegressor

    @shows_progress("fitting")
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
        given = encode_values(here(y, X, cluster_of(self.client)), sample_weight)
        check_noise(self.noise_variance, given.targets.shape[1])
        field = self._describe(X, given.nodes, adjacency)
        here_given = replace(given, n_nodes=len(field.nodes), nodes=field.labelled)
        estimator = self._local().fit_prior(field.prior, here_given)
        self._spread(field, estimator)
        self._given = given
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
        local: GPGCRegressor = self._local().fit_prior(
            self._local_prior(), self._given, self._choice, self._estimator.fit_.unit
        )
        return local

    def _to_unit(self, mean: da.Array) -> da.Array:
        return mean * self.target_scale_ + self.target_mean_

    def _spread_to_unit(self, spread: da.Array) -> da.Array:
        scale = self.target_scale_
        return spread * (scale[0] if len(scale) == 1 else scale)
