"""Random networks of finite width: the oracle whose limit the covariances are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.kernels import Features, InnerProduct, base_kernel_from
from gpgc.models import Architecture


def finite_covariance(
    architecture: Architecture,
    propagation: sp.csr_array,
    features: Any,
    width: int,
    rng: np.random.Generator,
) -> Array:
    r"""Return the covariance of the outputs of one random network, given its hidden weights.

    The first weights have variance δ_W, every later one 2 δ_W / width (the 1/π of the paper is
    twice E[ReLU · ReLU]), biases σ_b². The outputs of a network with hidden activations h then
    have the covariance σ_b² + (2 δ_W / width) P h hᵀ Pᵀ, which tends to Γ as 1/√width. For base
    kernels other than the inner product the input is a square root of K_θ(ÂX).

    Parameters
    ----------
    architecture : Architecture
        The network.
    propagation : csr_array of shape (N, N)
        Â.
    features : array or sparse matrix of shape (N, F)
        X.
    width : int
        Number of units in each hidden layer.
    rng : numpy Generator
        Draws the weights.

    Returns
    -------
    array of shape (N, N)

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc.graph import as_adjacency, normalize
    >>> graph = normalize(as_adjacency(([0], [1])))
    >>> rng = np.random.default_rng(0)
    >>> finite_covariance(Architecture(), graph, np.eye(2), 100_000, rng).round(1)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    weight, bias = architecture.weight_variance, architecture.bias_variance
    hidden = _input(architecture, propagation @ features)
    variance = weight
    for layer in range(architecture.depth):
        if layer:
            hidden = np.maximum(hidden, 0.0)
            if architecture.model == "big":
                hidden = propagation @ hidden
            variance = 2 * weight / width
        if layer == architecture.depth - 1:
            break
        weights = rng.normal(scale=np.sqrt(variance), size=(hidden.shape[1], width))
        hidden = hidden @ weights + rng.normal(scale=np.sqrt(bias), size=width)
    return np.asarray(bias + variance * (hidden @ hidden.T))


def _input(architecture: Architecture, propagated: Any) -> Array:
    kernel = base_kernel_from(architecture.base_kernel)
    if isinstance(kernel, InnerProduct):
        return np.asarray(propagated.toarray() if sp.issparse(propagated) else propagated)
    values, vectors = np.linalg.eigh(Features(kernel, propagated).dense())
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
