"""The paper's models as expressions of the algebra."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Integers
from gpgc.engine import Engine
from gpgc.errors import InputError
from gpgc.graph import Normalization, as_adjacency, neighbor_graph, normalize
from gpgc.kernels import (
    Activate,
    Affine,
    BaseKernel,
    Covariance,
    Features,
    Propagate,
    base_kernel_from,
)

Model = Literal["small", "big"]


@dataclass(frozen=True)
class Architecture:
    r"""An infinitely wide graph convolutional network, apart from the graph that it runs on.

    .. math::
        \Gamma^{(1)} = \sigma_b^2 + \delta_W K_\theta(\hat A X), \qquad
        \Gamma^{(l)} = \sigma_b^2 + \delta_W P\, \kappa(\Gamma^{(l-1)})\, P^\top

    with P = Â for the model *big* and P = I for *small* (section "GPs with Two-Layer GCNs").

    Parameters
    ----------
    model : {"big", "small"}
        Whether hidden layers aggregate over the graph.
    base_kernel : str or BaseKernel
        K_θ.
    depth : int
        L, the number of layers; 2 in the paper.
    weight_variance, bias_variance : float
        δ_W and σ_b².
    """

    model: Model = "big"
    base_kernel: str | BaseKernel = "inner_product"
    depth: int = 2
    weight_variance: float = 1.0
    bias_variance: float = 0.0

    def __post_init__(self) -> None:
        if self.model not in get_args(Model):
            raise InputError(
                f"model must be one of {', '.join(get_args(Model))}, got {self.model!r}"
            )
        if not isinstance(self.depth, int | np.integer) or self.depth < 1:
            raise InputError(f"depth must be a whole number of at least 1, got {self.depth!r}")

    def covariance(
        self,
        propagation: sp.csr_array,
        propagated: Any,
        dtype: Any = np.float64,
        engine: Engine | None = None,
    ) -> Covariance:
        """Return Γ of the network on one graph.

        Parameters
        ----------
        propagation : csr_array of shape (N, N)
            Â.
        propagated : array or sparse matrix of shape (N, F)
            ÂX.
        dtype : numpy dtype
            Of the blocks.
        engine : Engine
            What runs the tiles.
        """
        kernel = base_kernel_from(self.base_kernel)
        layer: Covariance = Features(kernel, propagated, dtype, engine)
        layer = Affine(layer, self.weight_variance, self.bias_variance)
        for _ in range(self.depth - 1):
            layer = Activate(layer)
            if self.model == "big":
                layer = Propagate(propagation, layer)
            layer = Affine(layer, self.weight_variance, self.bias_variance)
        return layer

    def receptive_field(self, propagation: sp.csr_array, nodes: Integers) -> Integers:
        """Return the sorted nodes whose propagated features the covariance of ``nodes`` uses."""
        field = np.unique(nodes)
        for _ in range(self.depth - 1 if self.model == "big" else 0):
            field = np.unique(propagation[field].indices)
        return field.astype(np.intp)


def covariance(
    adjacency: Any,
    features: Any = None,
    *,
    model: Model = "big",
    base_kernel: str | BaseKernel = "inner_product",
    depth: int = 2,
    weight_variance: float = 1.0,
    bias_variance: float = 0.0,
    normalization: Normalization = "symmetric",
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> Covariance:
    """Return the covariance of an infinitely wide graph convolutional network.

    Parameters
    ----------
    adjacency : graph
        In any form that :func:`gpgc.graph.as_adjacency` takes; None for the graph of the ten
        nearest neighbours of each row of the features.
    features : array or sparse matrix of shape (N, F), optional
        X; one-hot features of the nodes when not given.
    model : {"big", "small"}
        With or without aggregation in the hidden layers.
    base_kernel : str or BaseKernel
        ``"inner_product"``, ``"arc_cosine"``, ``"polynomial"``, ``"squared_exponential"`` or an
        object with parameters of its own.
    depth : int
        L, the number of layers.
    weight_variance, bias_variance : float
        δ_W and σ_b².
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
    if adjacency is None and X is None:
        raise InputError(
            "adjacency and features cannot both be None: nothing is known of the nodes"
        )
    if adjacency is None:
        graph = neighbor_graph(X, n_jobs=n_jobs)
    else:
        graph = as_adjacency(adjacency, None if X is None else X.shape[0])
    if X is None:
        X = sp.eye_array(graph.shape[0], format="csr")
    architecture = Architecture(model, base_kernel, depth, weight_variance, bias_variance)
    propagation = normalize(graph, normalization)
    return architecture.covariance(propagation, propagation @ X, dtype, Engine(n_jobs))


def check_features(features: Any, name: str = "features") -> Any:
    """Return features as a float CSR matrix or 2-D array, or say what is wrong with them."""
    if sp.issparse(features):
        matrix = sp.csr_array(features)
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
