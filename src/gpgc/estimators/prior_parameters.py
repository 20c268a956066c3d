"""The parameters of an estimator, and the prior that they describe on a graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gpgc.compute import Context
from gpgc.compute.progress import announce
from gpgc.errors import InputError
from gpgc.estimators.inputs import NUMBERS, FeatureNorm, with_norm
from gpgc.estimators.notebook import NotebookView
from gpgc.estimators.standardize import (
    Standardization,
    Standardize,
    checked_choice,
    scalings_of,
)
from gpgc.files import parse_bytes
from gpgc.gp import Space
from gpgc.graph import Nodes, Normalization, as_adjacency, neighbor_graph
from gpgc.kernels import Activation, BaseKernel, activation_from, base_kernel_from
from gpgc.models import Architecture, KernelKind, Prior, architecture_from
from gpgc.problem import NodeTable

REPLACED = (
    "base_kernel",
    "activation",
    "depth",
    "weight_variance",
    "bias_variance",
    "kernel",
    "random_state",
)
"""Parameters of an estimator that an architecture has itself; its ``random_state`` is the seed."""


def check_replaced(estimator: BaseEstimator) -> None:
    """Refuse parameters that do not count beside an architecture that is given as an object."""
    given, model = estimator.get_params(deep=False), estimator.get_params(deep=False)["model"]
    if not isinstance(model, Architecture):
        return
    usual = signature(type(estimator)).parameters
    read: dict[str, Any] = {"base_kernel": base_kernel_from, "activation": activation_from}
    for name in [name for name in REPLACED if name in given]:
        own, as_object = "seed" if name == "random_state" else name, read.get(name, lambda one: one)
        allowed = (as_object(usual[name].default), as_object(getattr(model, own)))
        if as_object(given[name]) not in allowed:
            raise InputError(
                f"{name} must be that of the model where model is an object, "
                f"such as {type(model).__name__}({own}=...), got {given[name]!r:.60}"
            )


@dataclass(eq=False, repr=False)
class PriorParameters(NotebookView):
    """Parameters of both estimators: what makes a prior of a graph, before any label."""

    model: str | Architecture = "broad"
    _: KW_ONLY
    base_kernel: str | BaseKernel = "inner_product"
    activation: str | Activation = "relu"
    depth: int = 2
    weight_variance: float = 1.0
    bias_variance: float = 0.0
    kernel: KernelKind = "nngp"
    learn: bool = False
    noise_variance: Any = "loo"
    normalization: Normalization = "symmetric"
    feature_norm: FeatureNorm = "none"
    n_neighbors: int = 10
    dtype: str = "float32"
    n_jobs: int | None = None
    memory_limit: int | str | None = None
    random_state: int = 0
    space: Space = "auto"
    standardize: Standardize = "auto"
    verbose: bool = False

    def check_parameters(self) -> None:
        """Refuse parameters that no graph is needed to refuse."""
        check_replaced(self)
        if self.dtype not in ("float32", "float64"):
            raise InputError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        checked_choice(self.standardize)

    def make_prior(
        self,
        X: Any,
        adjacency: Any,
        n_nodes: int,
        names: Any = None,
        *,
        from_features: bool | None = None,
    ) -> Prior:
        """Return the prior of a graph, to be conditioned on labels by ``fit_prior``."""
        self.check_parameters()
        if getattr(X, "features", X) is None and adjacency is None:
            raise InputError("X and adjacency cannot both be None")
        takes_matrix = not self.architecture().needs_graph
        if takes_matrix and (adjacency is not None or getattr(X, "features", X) is None):
            raise InputError(
                "X must be an N x N covariance and adjacency None for model='precomputed', got "
                + ("no X" if adjacency is None else "an adjacency")
            )
        features, encoder = None, getattr(X, "encoder", None)
        if getattr(X, "features", X) is not None:
            features = fitted_features(self, X)
            if features.shape[0] != n_nodes:
                raise InputError(
                    f"y must have one entry for each of the {features.shape[0]} rows of X, "
                    f"got inconsistent numbers of samples: {n_nodes}"
                )
        standardize = checked_choice(self.standardize)
        if takes_matrix:
            graph = sp.csr_array((n_nodes, n_nodes))
            return self.prior_on(Nodes(graph, features, self.normalization, names=names))
        links = None if adjacency is None else as_adjacency(adjacency, n_nodes)
        is_built = adjacency is None if from_features is None else from_features

        def nodes_of(columns: Any, scaling: Standardization | None) -> Nodes:
            """Return the nodes with columns in one scaling, and the graph of these."""
            columns = columns if scaling is None else scaling.apply(columns)
            graph = links
            if graph is None:
                announce("nearest neighbors")
                graph = neighbor_graph(columns, self.n_neighbors, n_jobs=self.n_jobs)
            return Nodes(
                graph,
                None if columns is None else with_norm(columns, self.feature_norm),
                self.normalization,
                names=names,
                from_features=is_built,
                encoder=encoder,
                standardization=scaling,
            )

        sees_both = self.architecture().has_views and self.feature_norm == "none"
        flags = None if encoder is None else encoder.flags
        features, scaling, keeps_raw = scalings_of(features, standardize, flags, sees_both)
        nodes = nodes_of(features, None if keeps_raw else scaling)
        if scaling is not None and keeps_raw:
            nodes = replace(nodes, standardized=nodes_of(features, scaling))
        return self.prior_on(nodes)

    def prior_on(self, nodes: Nodes) -> Prior:
        """Return the prior of the architecture that the parameters describe on nodes."""
        context = Context.of(self.dtype, self.n_jobs, parse_bytes(self.memory_limit))
        return Prior(self.architecture(), nodes, context)

    def architecture(self) -> Architecture:
        """Return the architecture that the parameters describe."""
        return architecture_from(
            self.model,
            base_kernel=self.base_kernel,
            activation=self.activation,
            depth=self.depth,
            weight_variance=self.weight_variance,
            bias_variance=self.bias_variance,
            kernel=self.kernel,
            seed=self.random_state,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def fitted_features(estimator: Any, X: Any) -> Any:
    """Return the features of fit as checked numbers, and note their columns in the estimator.

    ``n_features_in_`` and ``feature_names_in_`` are those of the table that was given, before it
    was encoded.
    """
    if not isinstance(X, NodeTable):
        if isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isnan(X.sum()):
            gaps = int(np.isnan(X).sum())
            if gaps:  # scikit-learn names other estimators for them
                raise InputError(
                    f"X must hold a number in every cell, got {gaps:,} times NaN (Input X contains "
                    "NaN): pass a frame of pandas or polars, whose gaps are filled and flagged"
                )
        return validate_data(estimator, X, **NUMBERS)
    features = validate_data(estimator, X.features, **NUMBERS)
    if X.columns:
        estimator.n_features_in_ = len(X.columns)
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    return features
