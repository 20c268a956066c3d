"""What the classifier and the regressor share: the graph, the posterior, nodes that join later."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from gpgc._typing import Array, Integers
from gpgc.engine import Engine
from gpgc.errors import InputError
from gpgc.estimators.choice import choose_fraction_and_noise
from gpgc.estimators.inputs import FeatureNorm, check_nodes, warn_of_raw_features, with_norm
from gpgc.estimators.reach import components
from gpgc.gp import NoiseChoice, Posterior, TargetwisePosterior
from gpgc.gp.selection import Criterion
from gpgc.graph import Normalization, as_adjacency, join, nearest_links, neighbor_graph, normalize
from gpgc.kernels import BaseKernel, Covariance
from gpgc.models import Architecture, Model, build

VARIANCE_ROWS = 8192
"""Nodes whose variances are computed at once from their stored covariances with the labels."""


class Asked(NamedTuple):
    """Nodes that an answer is wanted for.

    Attributes
    ----------
    covariance : Covariance
        Holds them and the labelled nodes.
    rows, labelled : int arrays of shapes (n,) and (D,)
        Where both are in it; rows None stands for all.
    mean : array of shape (n, k)
        Latent means, in the unit in which the process was fitted.
    reached : bool array of shape (n,)
        Which of them the labels can say anything about.
    """

    covariance: Covariance
    rows: Integers | None
    labelled: Integers
    mean: Array
    reached: NDArray[np.bool_]


class GraphProcess(BaseEstimator):
    """A Gaussian process on the nodes of one graph; see the two estimators for the parameters."""

    def __init__(
        self,
        model: Model = "broad",
        base_kernel: str | BaseKernel = "inner_product",
        depth: int = 2,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        noise_variance: Any = "loo",
        normalization: Normalization = "symmetric",
        feature_norm: FeatureNorm = "none",
        n_neighbors: int = 10,
        dtype: str = "float32",
        n_jobs: int | None = None,
        memory_limit: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.model = model
        self.base_kernel = base_kernel
        self.depth = depth
        self.weight_variance = weight_variance
        self.bias_variance = bias_variance
        self.noise_variance = noise_variance
        self.normalization = normalization
        self.feature_norm = feature_norm
        self.n_neighbors = n_neighbors
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.random_state = random_state

    def predict_latent(
        self,
        nodes: Any = None,
        return_std: bool = False,
        return_cov: bool = False,
        *,
        X: Any = None,
        adjacency: Any = None,
    ) -> Any:
        """Return the posterior of the latent function, without noise.

        Parameters
        ----------
        nodes : int array of shape (n,), optional
            Nodes of the fitted graph; all when not given.
        return_std : bool
            Whether to return the standard deviation.
        return_cov : bool
            Whether to return the covariance Λ of the nodes.
        X, adjacency : optional
            For nodes that join the graph, as in ``predict``, in place of ``nodes``.

        Returns
        -------
        mean : array of shape (n, k)
            One column a class or target; never squeezed.
        std : array of shape (n,), or (n, k) for a regressor of several targets
            With ``return_std``. A node with neither features nor neighbours that have some has no
            prior variance of its own; it gets the mean one of the labelled nodes.
        cov : array of shape (n, n), or (n, n, k) for a regressor of several targets
            With ``return_cov``.
        """
        check_is_fitted(self)
        asked = self._ask(nodes, X, adjacency)
        answer: list[Array] = [self._to_unit(asked.mean)]
        if return_std:
            answer.append(self._spread_to_unit(np.sqrt(self._variance(asked))))
        if return_cov:
            cross = asked.covariance.block(asked.rows, asked.labelled)
            prior = asked.covariance.block(asked.rows, asked.rows).astype(np.float64)
            blank = np.flatnonzero(np.diagonal(prior) == 0)
            prior[blank, blank] = self._usual_variance
            answer.append(self._spread_to_unit(self._posterior.covariance(cross, prior), power=2))
        return answer[0] if len(answer) == 1 else tuple(answer)

    def leave_one_out(self) -> tuple[Array, Array]:
        """Return how each labelled node would be predicted from the others, in closed form.

        Returns
        -------
        mean : array of shape (D, k)
            In the order of ``labelled_nodes_``.
        std : array of shape (D,), or (D, k) for a regressor of several targets
            Of a noisy observation.
        """
        check_is_fitted(self)
        mean, variance = self._posterior.leave_one_out()
        return self._to_unit(mean), self._spread_to_unit(np.sqrt(variance))

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to one file: arrays and JSON, no pickle; see `gpgc.load`."""
        from gpgc.estimators.storage import save

        check_is_fitted(self)
        save(self, Path(path))

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_fitted", False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit_graph(self, X: Any, adjacency: Any, n_labels: int) -> None:
        """Check parameters, features and graph, and build the covariance of all nodes."""
        self._fitted = False
        if self.dtype not in ("float32", "float64"):
            raise InputError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        if X is None:
            if adjacency is None:
                raise InputError("X and adjacency cannot both be None")
            self._set_graph(as_adjacency(adjacency, n_labels), None, built_graph=False)
            return
        features = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if features.shape[0] != n_labels:
            raise InputError(
                f"y must have one entry for each of the {features.shape[0]} rows of X, "
                f"got inconsistent numbers of samples: {n_labels}"
            )
        warn_of_raw_features(features)
        if adjacency is None:
            graph = neighbor_graph(features, self.n_neighbors, n_jobs=self.n_jobs)
        else:
            graph = as_adjacency(adjacency, n_labels)
        self._set_graph(graph, features, built_graph=adjacency is None)

    def _set_graph(self, graph: sp.csr_array, features: Any, built_graph: bool) -> None:
        """Build the covariance of all nodes; features None stands for one-hot features."""
        self.adjacency_, self._built_graph = graph, built_graph
        self._features = None if features is None else with_norm(features, self.feature_norm)
        propagation = normalize(graph, self.normalization)
        engine = Engine(self.n_jobs, self.memory_limit)
        self._network = build(self._architecture(), propagation, self._features, self.dtype, engine)
        self._components = components(graph, self._features)
        self.covariance_ = self._network.covariance

    def _architecture(self) -> Architecture:
        return Architecture(
            self.model,
            self.base_kernel,
            self.depth,
            self.weight_variance,
            self.bias_variance,
            self.random_state,
        )

    def _fit_process(
        self,
        labelled: Integers,
        targets: Array,
        noise: Array | str,
        criterion: Criterion,
        weights: Array,
        chosen: tuple[float, Array] | None = None,
    ) -> None:
        """Choose trust in the graph and noise if not given, and condition on the targets.

        ``weights`` say what leaving each labelled node out counts in the choice; ``chosen`` is a
        fraction of the features and the noise levels, where they are known.
        """
        if chosen is None:
            fraction, gamma, choices = choose_fraction_and_noise(
                self._network.candidates(labelled, labelled),
                targets,
                weights,
                noise,
                criterion,
                self._network.usual_noise,
            )
            levels = np.array([choice.noise_variance for choice in choices])
            self._noise = choices[0]
        else:
            fraction, levels = chosen
            gamma = self._network.covariance_at(fraction).block(labelled, labelled)
            self._noise = NoiseChoice(float(levels[0]))
        self.labelled_nodes_, self.feature_share_ = labelled, fraction
        self.covariance_ = self._network.covariance_at(fraction)
        self._usual_variance = float(np.mean(np.diagonal(gamma), dtype=np.float64)) or 1.0
        self._posterior = self._condition_on(gamma, targets, levels)
        self.log_marginal_likelihood_ = self._posterior.log_marginal_likelihood()
        self._latent_mean = self._mean(self.covariance_, None, labelled)

    def _condition_on(
        self, gamma: Array, targets: Array, levels: Array
    ) -> Posterior | TargetwisePosterior:
        raise NotImplementedError

    def _to_unit(self, mean: Array) -> Array:
        """Return latent means (n, k) in the unit of y, as a new array."""
        return mean.copy()

    def _spread_to_unit(self, spread: Array, power: int = 1) -> Array:
        """Return standard deviations, or with power 2 covariances, in the unit of y."""
        return spread

    def _ask(self, nodes: Any, X: Any, adjacency: Any) -> Asked:
        """Return what is known about fitted nodes, or about those that X and adjacency join."""
        if X is None and adjacency is None:
            rows = check_nodes(nodes, self.adjacency_.shape[0])
            index = slice(None) if rows is None else rows
            reached = self._components.reached(self.labelled_nodes_)
            mean = self._latent_mean[index]
            return Asked(self.covariance_, rows, self.labelled_nodes_, mean, reached[index])
        if nodes is not None:
            raise InputError("nodes cannot be combined with X or adjacency: those join new nodes")
        links, features = self._links(X, adjacency)
        covariance, rows, labelled = self._network.join(
            links, features, self.labelled_nodes_, self.feature_share_
        )
        mean = self._mean(covariance, rows, labelled)
        reached = self._components.reached_new(links, features, self.labelled_nodes_)
        return Asked(covariance, rows, labelled, mean, reached)

    def _mean(self, covariance: Covariance, rows: Any, labelled: Integers) -> Array:
        mean = covariance.matmul(rows, labelled, self._posterior.weights)
        return np.asarray(mean, dtype=np.float64)

    def _variance(self, asked: Asked) -> Array:
        cross = asked.covariance.block(asked.rows, asked.labelled)
        prior = np.asarray(asked.covariance.diag(asked.rows), dtype=np.float64)
        prior = np.where(prior > 0, prior, self._usual_variance)
        starts = range(0, max(len(prior), 1), VARIANCE_ROWS)
        parts = [slice(start, start + VARIANCE_ROWS) for start in starts]
        return np.concatenate([self._posterior.variance(cross[p], prior[p]) for p in parts])

    def _links(self, X: Any, links: Any) -> tuple[sp.csr_array, Any]:
        """Return the rows of Â (M, N + M) of new nodes, and their features."""
        if self._features is None:
            if X is not None or links is None:
                raise InputError(
                    "new nodes of a graph without features need X=None and their adjacency"
                )
            new, n_new = None, links.shape[0] if sp.issparse(links) else len(np.atleast_2d(links))
        else:
            if X is None:
                raise InputError("X must hold the features of the new nodes, got None")
            new = validate_data(
                self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
            )
            new, n_new = with_norm(new, self.feature_norm), new.shape[0]
            if links is None:
                if not self._built_graph:
                    raise InputError(
                        "adjacency of new nodes must be given, of shape (M, N) or (M, N + M): "
                        "the fitted graph was not built from features"
                    )
                links = nearest_links(self._features, new, self.n_neighbors, n_jobs=self.n_jobs)
        return join(links, self.adjacency_, n_new, self.normalization), new
