"""The paper on one page: every formula as it is printed, on dense N × N matrices.

"Infinitely Wide Graph Convolutional Networks" (arXiv 2002.12168); numbers in brackets are its
equations. The rest of the package computes the same numbers without N × N matrices, and its tests
compare them with these functions, which share no code with it. Read this file first; use it for
graphs of a few hundred nodes only.

Examples
--------
>>> A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]])
>>> K = gamma(A, np.eye(3), model="big")
>>> mean, _ = posterior(K, [0, 2], np.eye(2), noise_variance=0.1)
>>> mean.round(2)
array([[0.59, 0.27],
       [0.53, 0.53],
       [0.27, 0.59]])
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from gpgc._typing import Array

Model = Literal["small", "big"]
Pair = tuple[Array, Array]
Kernel = Literal["inner_product", "arc_cosine", "polynomial", "squared_exponential"]


def normalized_adjacency(A: Array) -> Array:
    """Return Â = D̃^(−1/2) Ã D̃^(−1/2) with Ã = A + I and D̃ its degrees (below 2)."""
    with_loops = A + np.eye(len(A))
    degrees = with_loops.sum(axis=1)
    return np.asarray(with_loops / np.sqrt(np.outer(degrees, degrees)))


def cosines(K: Array) -> Array:
    """Return cos α = K_mn / √(K_mm K_nn) (11); 0 where a variance is 0."""
    scale = np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
    return np.clip(np.divide(K, scale, out=np.zeros_like(K), where=scale > 0), -1, 1)


def base_kernel(
    X: Array,
    name: Kernel = "inner_product",
    *,
    offset: float = 0.5,
    degree: int = 2,
    length_scale: float = 1.0,
) -> Array:
    """Return K_θ of all pairs of rows of X: one of the four kernels of the experimental design."""
    products = X @ X.T
    if name == "inner_product":
        return products
    if name == "arc_cosine":
        return np.asarray(1 - np.arccos(cosines(products)) / np.pi)
    if name == "polynomial":
        return np.asarray((cosines(products) + offset) ** degree)
    squares = np.diagonal(products)
    distances = squares[:, None] + squares - 2 * products
    return np.asarray(np.exp(-np.maximum(distances, 0) / (2 * length_scale**2)))


def relu_covariance(K: Array) -> Array:
    """Return T_Φ[K] of the ReLU (10): √(K_mm K_nn) (sin α + (π − α) cos α) / π."""
    alpha = np.arccos(cosines(K))
    scale = np.sqrt(np.outer(np.diagonal(K), np.diagonal(K)))
    return np.asarray(scale * (np.sin(alpha) + (np.pi - alpha) * np.cos(alpha)) / np.pi)


def gamma(
    A: Array,
    X: Array,
    model: Model = "big",
    *,
    depth: int = 2,
    weight_variance: float = 1.0,
    bias_variance: float = 0.0,
    kernel: Kernel = "inner_product",
    **kernel_parameters: Any,
) -> Array:
    """Return Γ^(L), (N, N), of an infinitely wide graph convolutional network of L layers.

    Parameters
    ----------
    A : array of shape (N, N)
        Symmetric adjacency without self-loops.
    X : array of shape (N, F)
        Features.
    model : {"small", "big"}, default "big"
        Whether only the input is aggregated over the graph, or every layer.
    depth : int, default 2
        L ≥ 1.
    weight_variance, bias_variance : float, default 1 and 0
        δ_W and σ_b².
    kernel : str, default "inner_product"
        K_θ.
    **kernel_parameters
        As of :func:`base_kernel`: b, a, l of the paper.
    """
    propagation = normalized_adjacency(A)
    hidden_propagation = propagation if model == "big" else np.eye(len(A))
    rows = propagation @ X  # step 1 of the two-layer network (13)
    K = bias_variance + weight_variance * base_kernel(rows, kernel, **kernel_parameters)  # (9)
    for _ in range(depth - 1):
        delta = relu_covariance(K)  # Δ^(l) = T_Φ[Γ^(l−1)] (10, 19, 20)
        aggregated = hidden_propagation @ delta @ hidden_propagation.T  # Σ_ij Â_mi Â_nj Δ_ij (16)
        K = bias_variance + weight_variance * aggregated  # (21)
    return K


def posterior(K: Array, labelled: Any, targets: Array, noise_variance: float) -> Pair:
    """Return mean Z̄ (N, k) and covariance Λ (N, N) given targets (D, k) (below 18)."""
    K_ND, inverse = K[:, labelled], _inverse(K, labelled, noise_variance)
    return K_ND @ inverse @ targets, K - K_ND @ inverse @ K_ND.T


def leave_one_out(K: Array, labelled: Any, targets: Array, noise_variance: float) -> Pair:
    """Return mean (D, k) and variance (D,) of each target given the others.

    μ_i = y_i − [K⁻¹y]_i / [K⁻¹]_ii and σ_i² = 1 / [K⁻¹]_ii with K = Γ_DD + σ_τ² I (Rasmussen and
    Williams 2006, equation 5.12).
    """
    inverse = _inverse(K, labelled, noise_variance)
    variance = 1 / np.diagonal(inverse)
    return targets - variance[:, None] * (inverse @ targets), variance


def log_evidence(K: Array, labelled: Any, targets: Array, noise_variance: float) -> float:
    """Return log p(Y) = −½ Σ_c y_cᵀ K⁻¹ y_c − k/2 log det K − kD/2 log 2π, K = Γ_DD + σ_τ² I."""
    inverse = _inverse(K, labelled, noise_variance)
    D, k = targets.shape
    log_determinant = -np.linalg.slogdet(inverse)[1]
    fit = float(np.sum(targets * (inverse @ targets)))
    return float(-0.5 * (fit + k * log_determinant + k * D * np.log(2 * np.pi)))


def probabilities(mean: Array, sharpness: float, bias: Array | float = 0.0) -> Array:
    """Return softmax(t · mean + b) of latent means (n, k); the label is the largest (below 18)."""
    logits = sharpness * mean + bias
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _inverse(K: Array, labelled: Any, noise_variance: float) -> Array:
    """Return (Γ_DD + σ_τ² I)⁻¹ (18)."""
    return np.linalg.inv(K[np.ix_(labelled, labelled)] + noise_variance * np.eye(len(labelled)))
