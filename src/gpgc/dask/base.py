"""What the classifier and the regressor on a cluster share: choices, posterior, answers."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.progress import announce
from gpgc.dask.cluster import cluster_of, task
from gpgc.dask.conditioning import Labels, leave_out, mean_of, variance_of
from gpgc.dask.described import Model, Reference, inputs_of
from gpgc.dask.graph import Graph, graph_of
from gpgc.dask.spaces import in_function_space, in_weight_space
from gpgc.errors import InputError
from gpgc.estimators.inputs import FeatureNorm
from gpgc.estimators.prior_parameters import check_replaced
from gpgc.estimators.standardise import Standardise, checked_choice
from gpgc.gp.from_root import label_gram
from gpgc.gp.posterior import LeaveOneOut
from gpgc.graph import Nodes, Normalization
from gpgc.kernels import Activation, BaseKernel
from gpgc.models import Architecture, Prior, architecture_from
from gpgc.models.broad import Broad
from gpgc.selection.choice import LABELS_FOR_VIEWS, MANY_LABELS, Choice, choose
from gpgc.selection.judge import Judge
from gpgc.selection.noise_choice import Criterion
from gpgc.selection.subset import label_sample


class DaskProcess(BaseEstimator):
    """A Gaussian process on the nodes of a graph in blocks; see the two estimators."""

    def __init__(
        self,
        model: str | Architecture = "broad",
        *,
        base_kernel: str | BaseKernel = "inner_product",
        activation: str | Activation = "relu",
        depth: int = 2,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        noise_variance: Any = "loo",
        normalization: Normalization = "symmetric",
        feature_norm: FeatureNorm = "none",
        standardise: Standardise = "auto",
        dtype: str = "float32",
        random_state: int = 0,
        client: Any = None,
    ) -> None:
        self.model = model
        self.base_kernel = base_kernel
        self.activation = activation
        self.depth = depth
        self.weight_variance = weight_variance
        self.bias_variance = bias_variance
        self.noise_variance = noise_variance
        self.normalization = normalization
        self.feature_norm = feature_norm
        self.standardise = standardise
        self.dtype = dtype
        self.random_state = random_state
        self.client = client

    @property
    def client_(self) -> Any:
        """The client in use: the one that was given, else the current one."""
        return cluster_of(self.client).client

    @property
    def n_links_(self) -> int:
        """The number of links between different nodes."""
        check_is_fitted(self)
        return self._graph.links.n_links

    @property
    def standardisation_(self) -> str | None:
        """What was done to the columns of X, and why; None where they stayed as they were."""
        check_is_fitted(self)
        found = self._graph.settings.standardisation
        return None if found is None else found.said

    @property
    def labelled_nodes_(self) -> Integers:
        """The nodes (D,) whose labels or values were given."""
        check_is_fitted(self)
        blocks = zip(self._graph.partition.starts[:-1], self._graph.labelled, strict=True)
        return np.concatenate([start + nodes for start, nodes in blocks])

    def predict_latent(self, return_std: bool = False) -> Any:
        """Return the posterior of the latent function of all nodes, without noise, lazily.

        Parameters
        ----------
        return_std : bool, default False
            Whether to return the standard deviation; it costs N r² for a covariance of rank r.

        Returns
        -------
        mean : dask array of shape (N, k)
            One column a class or target; never squeezed.
        std : dask array of shape (N,), or (N, k) for a regressor of several targets
            With ``return_std``.
        """
        check_is_fitted(self)
        mean = self._to_unit(self._array(self._means, self._n_targets, self.dtype))
        if not return_std:
            return mean
        tail = self._n_targets if len(self.noise_levels_) > 1 else None
        return mean, self._spread_to_unit(da.sqrt(self._array(self._variances(), tail, float)))

    def __sklearn_is_fitted__(self) -> bool:
        return "_means" in self.__dict__

    def __getstate__(self) -> dict[str, Any]:
        """Keep the parameters, without the client: what was fitted lives on its cluster."""
        state: dict[str, Any] = dict(super().__getstate__())
        names = {*self.get_params(deep=False), "_sklearn_version"} - {"client"}
        return {name: value for name, value in state.items() if name in names} | {"client": None}

    def architecture(self) -> Broad:
        """Return the architecture that the parameters describe; *broad* alone runs in blocks."""
        found = architecture_from(
            self.model,
            base_kernel=self.base_kernel,
            activation=self.activation,
            depth=self.depth,
            weight_variance=self.weight_variance,
            bias_variance=self.bias_variance,
            seed=self.random_state,
        )
        if not isinstance(found, Broad):
            raise InputError(
                "model must be 'broad' on a cluster, whose covariance has a root in blocks of "
                f"rows, got {self.model!r}"
            )
        return found

    def _build(self, X: Any, labelled: Integers, adjacency: Any) -> Graph:
        """Bring the graph to the cluster."""
        for name in [name for name in self.__dict__ if name.startswith("_")]:
            del self.__dict__[name]  # a fit that fails leaves nothing behind, here or there
        check_replaced(self)
        if self.dtype not in ("float32", "float64"):
            raise InputError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        return graph_of(
            X,
            labelled,
            adjacency,
            self.architecture(),
            self.normalization,
            self.feature_norm,
            checked_choice(self.standardise),
            self.dtype,
            cluster_of(self.client),
        )

    def _condition(
        self,
        graph: Graph,
        targets: Array,
        noise: Array | str,
        criterion: Criterion,
        counted: Array,
        trust: Array,
    ) -> Array:
        """Choose views and noise, and condition on the targets."""
        announce("choosing views and noise")
        cluster, labels = graph.cluster, Labels(targets, 1 / trust)
        judge = Judge(targets, noise, criterion, counted, Broad.relative_noise, 1 / trust)
        choice, rank = self._choose(graph, judge)
        if not (choice.levels > 0).all():
            raise InputError(f"noise_variance must be above 0 on a cluster, got {choice.levels}")
        announce("conditioning on the labelled rows")
        model = Model(self.architecture(), dict(choice.view_weights), self.dtype)
        if rank is None:
            found = in_function_space(graph, model, labels, choice.levels)
        else:
            found = in_weight_space(graph, model, labels, judge, choice.levels, rank)
        announce("means of all nodes")
        views = [view for view, weight in choice.view_weights.items() if weight]
        graph.keep_only(views)
        means = cluster.finish(
            task(mean_of, found.known, rows, model, found.posterior) for rows in graph.rows(views)
        )
        self._graph, self._model, self._found = graph, model, found
        self._n_targets, self.n_features_in_ = targets.shape[1], graph.settings.n_features
        self.view_weights_, self.noise_levels_ = dict(choice.view_weights), found.levels
        self.approximations_ = graph.approximations(self.architecture(), views)
        self.log_marginal_likelihood_ = cluster.fetch_one(task(evidence_of, found.posterior))
        self._means = means
        return found.levels

    def _choose(self, graph: Graph, judge: Judge) -> tuple[Choice, int | None]:
        """Choose as the local estimator does, by the rows of landmarks and of some labels.

        The second answer is the rank of the covariance, None where it is that of a small graph
        without a finite root. Where it is smaller than the number of labels, and these are many,
        the search for the noise goes on with all of them.
        """
        n_labels, keys = len(judge.targets), graph.label_keys
        few, many = (
            label_sample(keys, judge.targets, most) for most in (LABELS_FOR_VIEWS, MANY_LABELS)
        )
        prior, places = self._prior_of_sample(graph, few)
        some = judge.of(few)
        choice = choose(
            prior,
            places,
            some.targets,
            some.noise,
            some.criterion,
            some.weights,
            some.relative_noise,
        )
        rank = prior.covariance(choice.view_weights).rank
        is_done = len(few) == n_labels or not isinstance(judge.noise, str)
        if is_done or (rank is not None and n_labels > max(rank, MANY_LABELS)):
            return choice, rank
        prior, places = self._prior_of_sample(graph, many)
        gram = label_gram(prior.covariance(choice.view_weights), places)
        return Choice(choice.view_weights, judge.of(many).on_gram(gram).levels), rank

    def _prior_of_sample(self, graph: Graph, few: Integers) -> tuple[Prior, Integers]:
        """Return the prior of the landmarks and of some labels, and where the labels are in it."""
        landmarks, *known = graph.cluster.fetch([graph.landmarks, *graph.labelled_sample(few)])
        both: Reference = landmarks.extended(known)
        context, size = Context.of(self.dtype), len(both)
        nodes = Nodes(sp.csr_array((size, size)), both.rows["features"][0].directions)
        inputs = inputs_of(both, context)
        keys = np.concatenate([np.zeros(len(landmarks)), graph.label_keys[few]])
        known_of = graph.views, graph.likeness, keys
        prior = Prior(self.architecture(), nodes, context, inputs, *known_of)
        return prior, np.arange(len(landmarks), size)

    def _left_out(self, sample: Integers) -> LeaveOneOut:
        """Return how a sample of the labels is predicted, each from all others."""
        cluster, rows = self._graph.cluster, self._graph.labelled_sample(sample)
        known = (self._model, self._found.posterior, sample)
        found: LeaveOneOut = cluster.fetch_one(task(leave_out, self._found.known, rows, *known))
        return found

    def _variances(self) -> list[Any]:
        """Return the tasks of the latent variances."""
        views = [view for view, weight in self.view_weights_.items() if weight]
        known, posterior, _, usual = self._found
        return [
            task(variance_of, known, rows, self._model, posterior, usual)
            for rows in self._graph.rows(views)
        ]

    def _array(self, tasks: Any, n_columns: int | None, dtype: Any) -> da.Array:
        """Return the results of tasks, a block each, as one Dask array."""
        tail = () if n_columns is None else (n_columns,)
        sizes = self._graph.partition.sizes
        return da.concatenate(
            [
                da.from_delayed(one, (size, *tail), dtype=dtype)
                for one, size in zip(tasks, sizes, strict=True)
            ]
        )

    def _to_unit(self, mean: da.Array) -> da.Array:
        """Return latent means in the unit of y."""
        return mean.astype(np.float64)

    def _spread_to_unit(self, spread: da.Array) -> da.Array:
        """Return standard deviations in the unit of y."""
        return spread


def evidence_of(posterior: Any) -> float:
    """Return the log evidence."""
    return float(posterior.log_marginal_likelihood())
