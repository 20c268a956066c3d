"""What the classifier and the regressor share: the graph, the posterior, nodes that join later."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from gpgc._typing import Array, Integers
from gpgc.engine import Engine
from gpgc.errors import InputError
from gpgc.estimators.choice import choose_share_and_noise
from gpgc.estimators.inputs import FeatureNorm, check_nodes, with_norm
from gpgc.files import canonical_csr, parse_bytes
from gpgc.gp import NoiseChoice, Posterior
from gpgc.gp.selection import Criterion
from gpgc.graph import Normalization, as_adjacency, join, nearest_links, neighbor_graph, normalize
from gpgc.kernels import BaseKernel, Covariance
from gpgc.models import Architecture, Model, build

VARIANCE_ROWS = 8192
"""Nodes whose variances are computed at once from their stored covariances with the labels."""


class GraphProcess(BaseEstimator):
    """A Gaussian process on the nodes of one graph; see the two estimators for the parameters."""

    def __init__(
        self,
        model: Model = "broad",
        base_kernel: str | BaseKernel = "inner_product",
        depth: int = 2,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        noise_variance: float | str = "loo",
        normalization: Normalization = "symmetric",
        feature_norm: FeatureNorm = "none",
        n_neighbors: int = 10,
        dtype: str = "float32",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
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
        std : array of shape (n,)
            With ``return_std``; the same for every column. By the formula it is 0 for a node
            with neither features nor neighbours that have some, whose prior variance is 0.
        cov : array of shape (n, n)
            With ``return_cov``.
        """
        check_is_fitted(self)
        if X is None and adjacency is None:
            covariance, rows = self.covariance_, check_nodes(nodes, self.adjacency_.shape[0])
            mean, labelled = self._latent_mean if rows is None else self._latent_mean[rows], None
        elif nodes is not None:
            raise InputError("nodes cannot be combined with X or adjacency: those join new nodes")
        else:
            covariance, rows, labelled = self._join(X, adjacency)
            mean = self._mean(covariance, rows, labelled)
        answer: list[Array] = [mean + self._center]
        if return_std:
            answer.append(np.sqrt(self._variance(covariance, rows, labelled)))
        if return_cov:
            columns = self.labelled_nodes_ if labelled is None else labelled
            cross = covariance.block(rows, columns)
            answer.append(self._posterior.covariance(cross, covariance.block(rows, rows)))
        return answer[0] if len(answer) == 1 else tuple(answer)

    def leave_one_out(self) -> tuple[Array, Array]:
        """Return how each labelled node would be predicted from the others, in closed form.

        Returns
        -------
        mean : array of shape (D, k)
            In the order of ``labelled_nodes_``.
        std : array of shape (D,)
            Of a noisy observation.
        """
        check_is_fitted(self)
        mean, variance = self._posterior.leave_one_out()
        return mean + self._center, np.sqrt(variance)

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to one file: arrays and JSON, no pickle; see `gpgc.load`."""
        from gpgc.estimators.storage import save

        check_is_fitted(self)
        save(self, Path(path))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit_graph(self, X: Any, adjacency: Any, n_labels: int) -> None:
        """Check parameters, features and graph, and build the covariance of all nodes."""
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
        engine = Engine(self.n_jobs, parse_bytes(self.memory_limit))
        self._network = build(self._architecture(), propagation, self._features, self.dtype, engine)
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
        criterion: Criterion,
        weights: Array,
        chosen: tuple[float, NoiseChoice] | None = None,
    ) -> Self:
        """Choose trust in the graph and noise if not given, and condition on the targets.

        ``weights`` say what leaving each labelled node out counts in the choice.
        """
        self.labelled_nodes_ = labelled
        if chosen is None:
            share, gamma, self._noise = choose_share_and_noise(
                self._network.candidates(labelled),
                targets,
                weights,
                self.noise_variance,
                criterion,
                self._network.usual_noise,
            )
            self._network.set_feature_share(share)
        else:
            share, self._noise = chosen
            self._network.set_feature_share(share)
            gamma = self._network.covariance.block(labelled, labelled)
        self.feature_share_, self.covariance_ = share, self._network.covariance
        self.noise_variance_ = self._noise.noise_variance
        self._posterior = Posterior(gamma, targets, self.noise_variance_)
        self.log_marginal_likelihood_ = self._posterior.log_marginal_likelihood()
        self._latent_mean = self._mean(self.covariance_, None)
        return self

    @property
    def _center(self) -> Any:
        return 0.0

    def _mean(self, covariance: Covariance, rows: Any, labelled: Integers | None = None) -> Array:
        columns = self.labelled_nodes_ if labelled is None else labelled
        mean = covariance.matmul(rows, columns, self._posterior.weights)
        return np.asarray(mean, dtype=np.float64)

    def _variance(
        self, covariance: Covariance, rows: Any, labelled: Integers | None = None
    ) -> Array:
        columns = self.labelled_nodes_ if labelled is None else labelled
        cross = covariance.block(rows, columns)
        prior = np.asarray(covariance.diag(rows), dtype=np.float64)
        parts = [
            slice(start, start + VARIANCE_ROWS) for start in range(0, len(prior), VARIANCE_ROWS)
        ]
        return np.concatenate(
            [self._posterior.variance(cross[part], prior[part]) for part in parts] or [prior]
        )

    def _join(self, X: Any, links: Any) -> tuple[Covariance, Integers, Integers]:
        """Return a covariance that holds new and labelled nodes, and where each are in it."""
        if self._features is None:
            if X is not None or links is None:
                raise InputError(
                    "new nodes of a graph without features need X=None and their adjacency"
                )
            new, n_new = None, links.shape[0] if sp.issparse(links) else len(np.atleast_2d(links))
        else:
            if X is None:
                raise InputError("X must hold the features of the new nodes, got None")
            X = canonical_csr(X, "X") if sp.issparse(X) else X
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
        rows = join(links, self.adjacency_, n_new, self.normalization)
        return self._network.join(rows, new, self.labelled_nodes_)
