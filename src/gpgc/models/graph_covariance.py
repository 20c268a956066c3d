"""From a graph and features to a covariance, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.files import canonical_csr
from gpgc.graph import Nodes, Normalization, as_adjacency, neighbor_graph
from gpgc.kernels import Activation, BaseKernel, Covariance
from gpgc.models.architecture import Architecture, KernelKind, architecture_from
from gpgc.models.prior import Prior


def covariance(
    adjacency: Any,
    features: Any = None,
    *,
    model: str | Architecture = "big",
    base_kernel: str | BaseKernel = "inner_product",
    activation: str | Activation = "relu",
    depth: int = 2,
    weight_variance: float = 1.0,
    bias_variance: float = 0.0,
    kernel: KernelKind = "nngp",
    normalization: Normalization = "symmetric",
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> Covariance:
    """Return the covariance of an infinitely wide graph convolutional network.

    Parameters
    ----------
    adjacency : graph
        In any form that :func:`gpgc.graph.as_adjacency` takes; None for the graph of the ten
        nearest neighbors of each row of the features.
    features : array or sparse matrix of shape (N, F), optional
        X; one-hot features of the nodes when not given.
    model : str or Architecture, default "big"
        ``"big"`` or ``"small"``, with or without aggregation in the hidden layers, as in the paper;
        ``"appnp"``, ``"gcnii"``, ``"sage"``, ``"gin"``, ``"sgc"``; the broader model; or an
        architecture with parameters of its own.
    base_kernel : str or BaseKernel
        ``"inner_product"``, ``"arc_cosine"``, ``"polynomial"``, ``"squared_exponential"`` or an
        object with parameters of its own.
    activation : str or Activation, default "relu"
        ``"relu"``, ``"leaky_relu"``, ``"erf"``, ``"gelu"``, ``"identity"``, ``"step"``,
        ``"sin"``, ``"cos"``, or an object with parameters of its own.
    depth : int
        L, the number of layers.
    weight_variance, bias_variance : float
        δ_W and σ_b².
    kernel : {"nngp", "ntk"}, default "nngp"
        The covariance of the network's outputs, or its tangent kernel.
    normalization : {"symmetric", "row"}
        Of the adjacency with self-loops.
    dtype : numpy dtype
        float64 or float32.
    n_jobs : int, optional
        Number of threads, all cores when not given.

    Returns
    -------
    Covariance
        Answers ``block(rows, cols)``, ``diag(rows)``, ``matmul(rows, cols, V)``; ``dense()`` is
        the N × N reference.

    Examples
    --------
    >>> cov = covariance(([0, 1], [1, 2]), [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> cov
    1 * propagate(relu(1 * InnerProduct() on 3 x 2))
    >>> cov.block([0, 2], [1]).round(4)
    array([[0.6627],
           [0.5504]])
    """
    X = None if features is None else check_features(features)
    if adjacency is not None:
        graph = as_adjacency(adjacency, None if X is None else X.shape[0])
    elif X is not None:
        graph = neighbor_graph(X, n_jobs=n_jobs)
    else:
        raise InputError("adjacency and features cannot both be None")
    architecture = architecture_from(
        model,
        base_kernel=base_kernel,
        kernel=kernel,
        activation=activation,
        depth=depth,
        weight_variance=weight_variance,
        bias_variance=bias_variance,
    )
    nodes = Nodes(graph, X, normalization)
    return Prior(architecture, nodes, Context.of(dtype, n_jobs)).covariance()


def check_features(features: Any, name: str = "features") -> Any:
    """Return features as a float CSR matrix or 2-D array, or say what is wrong with them."""
    if sp.issparse(features):
        matrix = canonical_csr(features, name)
        values = matrix.data
    else:
        matrix = values = np.asarray(features)
    if matrix.ndim != 2:
        raise InputError(f"{name} must be 2-D with one row a node, got shape {matrix.shape}")
    if values.dtype.kind not in "biuf":
        raise InputError(f"{name} must hold real numbers, got dtype {values.dtype}")
    if not np.isfinite(values).all():
        raise InputError(f"{name} must be finite, got NaN or infinity")
    return matrix if values.dtype.kind == "f" else matrix.astype(np.float64)
