"""The local estimators, fitted on some nodes of a graph in blocks, and asked block by block."""

from __future__ import annotations

from inspect import signature
from operator import getitem
from typing import Any, ClassVar, Self

import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gpgc.compute import Context
from gpgc.compute.progress import announce
from gpgc.dask.answer import Fitted, Moved, Unlabelled, answer, doubles
from gpgc.dask.cluster import Cluster, cluster_of, task
from gpgc.dask.describe import graph_of, itself
from gpgc.dask.features import blocks_of_features, numbers_of
from gpgc.dask.field import Field, field_of
from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.inputs import check_noise
from gpgc.estimators.regressor import GPGCRegressor
from gpgc.estimators.verbose import shows_progress
from gpgc.files import parse_bytes
from gpgc.gp import Smoother
from gpgc.models.broad import Broad

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

    @shows_progress("fitting")
    def fit(self, X: Any, y: Any, adjacency: Any, *, sample_weight: Any = None) -> Self:
        """Condition the Gaussian process on the labelled nodes.

        Parameters
        ----------
        X : dask array of shape (N, F)
            Features, whose blocks of rows are the partitions; they are read twice.
        y : dask or NumPy array of shape (N,) or (N, k)
            Labels, −1 (or None, NaN) where unlabelled, or rows of probabilities; of a regressor
            values, NaN where unknown.
        adjacency : Dask DataFrame or path
            Edges in any order, with the whole numbers ``source`` and ``target`` from 0 to N − 1
            and optionally ``weight``; a path is a Parquet file or folder that workers can read.
        sample_weight : array of shape (N,), optional
            As in :meth:`gpgc.GPGCClassifier.fit`.

        Returns
        -------
        DaskGPGCClassifier or DaskGPGCRegressor
            The estimator itself.
        """
        for name in [name for name in self.__dict__ if name.startswith("_")]:
            del self.__dict__[name]  # a fit that fails leaves nothing behind, here or there
        estimator, cluster = self.check_parameters(), cluster_of(self.client)
        given = estimator.encode(here(y, X, cluster), sample_weight)
        check_noise(self.noise_variance, given.n_levels)
        self._graph = graph_of(X, adjacency, estimator, cluster)
        announce("describing nodes")
        context = Context.of(self.dtype, self.n_jobs, parse_bytes(self.memory_limit))
        field = field_of(self._graph, estimator.architecture(), given.nodes, context)
        announce("choosing views and noise")
        self._condition(estimator, field, given.at(field.labelled, len(field.nodes)))
        self._estimator, self._given, self.n_features_in_ = estimator, given, int(X.shape[1])
        self.labelled_nodes_ = given.nodes
        return self

    def check_parameters(self) -> Any:
        """Refuse parameters that no cluster is needed to refuse; return the local estimator."""
        estimator = self._local()
        estimator.check_parameters()
        if not isinstance(estimator.architecture(), Broad):
            raise InputError(
                "model must be 'broad' on a cluster, whose covariance has a root in blocks of "
                f"rows, got {self.model!r}"
            )
        return estimator

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

    def to_local(self) -> Any:
        """Return the same model as a local estimator in this process, such as a GPGCClassifier.

        It holds all features and edges, and answers whatever the local estimator does; views,
        noise, calibration and units are not chosen again.
        """
        check_is_fitted(self)
        graph, known = self._graph, (self._estimator.fit_.choice, self._settled())
        raw = (task(numbers_of, x, b, graph.columns) for b, x in enumerate(graph.raw))
        X = np.concatenate(graph.cluster.fetch(raw))
        adjacency = graph.links.adjacency_at(np.arange(len(X)))
        local = self._local()
        return local.fit_prior(local.make_prior(X, adjacency, len(X)), self._given, *known)

    def _local(self) -> Any:
        parameters = self.get_params(deep=False)
        parameters.pop("client")
        return self.local(**parameters)

    def _condition(self, estimator: Any, field: Field, given: Any) -> None:
        """Fit the local estimator on a field, and ask all blocks for their means."""
        estimator.fit_prior(field.prior, given)
        self._spread(estimator, field)

    def _settled(self) -> Any:
        """Return what the local estimator takes beside the choice of views and noise."""
        raise NotImplementedError

    def _spread(self, estimator: Any, field: Field) -> None:
        """Ask all blocks for their means, by what an estimator knows that was fitted on a field."""
        graph, stack = self._graph, estimator.posterior_
        self._smoothers = {
            view.name: view.posterior
            for view in stack.views
            if isinstance(view.posterior, Smoother)
        }
        self._fitted, self._place = Fitted.of(field, stack), field.place
        self._known = graph.cluster.keep([task(itself, self._fitted)])[0]
        self._everywhere = {name: field.everywhere[name] for name in self._fitted.inputs}
        field.everywhere.clear()  # what diffused for views that do not count is let go
        labelled = field.nodes[field.labelled]
        reached = np.isin(field.component, field.component[labelled])
        self._reached = np.split(reached, graph.links.partition.starts[1:-1])
        announce("means of all nodes")
        self._means = graph.cluster.finish(self._answers(), "means of all nodes")

    def _answers(self, is_variance: bool = False) -> list[Any]:
        """Return the tasks of latent means or variances."""
        starts, tasks = self._graph.links.partition.starts, []
        numbers = {name: parts() for name, parts in self._everywhere.items()}
        for b, size in enumerate(self._graph.links.partition.sizes):
            own = {name: parts[b] for name, parts in numbers.items()}
            nodes = self._place[starts[b] : starts[b + 1]]
            at = Moved(np.concatenate([self._fitted.places, nodes]))
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

    def _to_unit(self, mean: da.Array) -> da.Array:
        """Return latent means in the unit of y."""
        return mean

    def _spread_to_unit(self, spread: da.Array) -> da.Array:
        """Return standard deviations in the unit of y."""
        return spread


def here(y: Any, X: Any, cluster: Cluster) -> Any:
    """Return labels in this process, or refuse them where they are not as many as rows of X."""
    blocks_of_features(X)  # which says what is wrong with X
    n_given = y.shape[0] if hasattr(y, "shape") and len(y.shape) else len(y)
    if n_given != X.shape[0]:
        raise InputError(f"y must have one entry for each of the {X.shape[0]} rows, got {n_given}")
    if not isinstance(y, da.Array):
        return y
    whole = y if y.ndim == 1 or y.numblocks[1] == 1 else y.rechunk({1: -1})
    return np.concatenate(cluster.fetch(whole.to_delayed().ravel(), "labels"))


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

    def predict(self) -> da.Array:
        """Return the model's opinion on the label of every node (N,), lazily."""
        codes = self._decided("codes")
        tasks = [task(getitem, self.classes_, part) for part in codes]
        return self._array(tasks, (), self.classes_.dtype)

    def predict_proba(self) -> da.Array:
        """Return the probability of each class (N, k), in the order of ``classes_``, lazily."""
        tasks = self._decided("probabilities")
        return self._array(tasks, (len(self.classes_),), np.float64)

    def _condition(self, estimator: Any, field: Field, given: Any) -> None:
        def unlabelled(fitted: Any) -> tuple[float, Any]:
            self._spread(fitted, field)
            speaking = np.concatenate(self._reached)
            speaking[field.nodes[field.labelled]] = False
            masks = np.split(speaking, self._graph.links.partition.starts[1:-1])
            both = zip(doubles(self._means), masks, strict=True)
            some = [task(getitem, *block) for block in both]
            means = Unlabelled(some, int(speaking.sum()), self._graph.cluster)
            return means.root_mean_square(), means.mean_of if means.n_nodes else None

        estimator.fit_prior(field.prior, given, unlabelled=unlabelled)

    def _settled(self) -> Any:
        return self.calibration_

    def _decided(self, what: str) -> list[Any]:
        """Return the tasks of what is decided by the means of each block."""
        check_is_fitted(self)
        decide = getattr(self.decision_, what)
        both = zip(doubles(self._means), self._reached, strict=True)
        return [task(decide, *pair) for pair in both]


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

    def _settled(self) -> Any:
        return self._estimator.fit_.unit

    def _to_unit(self, mean: da.Array) -> da.Array:
        return mean * self.target_scale_ + self.target_mean_

    def _spread_to_unit(self, spread: da.Array) -> da.Array:
        scale = self.target_scale_
        return spread * (scale[0] if len(scale) == 1 else scale)
