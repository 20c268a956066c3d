"""Random networks of finite width: the oracle whose limit the covariances are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.kernels import BaseKernel, Features, InnerProduct, activation_from, base_kernel_from
from gpgc.models.architecture import Architecture


class RandomLayers:
    """The layers of an architecture at finite width, with weights and biases drawn at random."""

    def __init__(self, architecture: Architecture, width: int, rng: np.random.Generator) -> None:
        self.architecture, self.width, self.rng = architecture, width, rng

    def input(self, rows: Any, factor: float = 1.0, *, bias: bool = True) -> Array:
        """Return V W + b, V Vᵀ = K_θ of rows; weights have variance factor · δ_W, biases σ_b²."""
        values = rows_with_kernel(base_kernel_from(self.architecture.base_kernel), rows)
        return self._times_weights(values, factor, bias)

    def dense(self, values: Array, factor: float = 1.0, *, bias: bool = True) -> Array:
        """Return values W + b; weights have variance factor · δ_W over the number of inputs."""
        return self._times_weights(values, factor / values.shape[1], bias)

    def activate(self, values: Array) -> Array:
        """Return φ of the values."""
        return activation_from(self.architecture.activation)(values)

    def aggregate(self, matrix: Any, values: Array) -> Array:
        """Return S H for a matrix S among the nodes."""
        return np.asarray(matrix @ values)

    def rotate(self, values: Array) -> Array:
        """Return H Q with a random orthogonal Q that is not trained."""
        size = (values.shape[1], values.shape[1])
        rotation, upper = np.linalg.qr(self.rng.normal(size=size))
        # columns by the signs of R's diagonal, else Q is not uniform over the rotations
        return np.asarray(values @ (rotation * np.sign(np.diagonal(upper))))

    def _times_weights(self, values: Array, factor: float, bias: bool) -> Array:
        scale = np.sqrt(factor * self.architecture.weight_variance)
        outputs = values @ self.rng.normal(scale=scale, size=(values.shape[1], self.width))
        if bias:
            scale = np.sqrt(self.architecture.bias_variance)
            outputs += self.rng.normal(scale=scale, size=self.width)
        return np.asarray(outputs)


def rows_with_kernel(kernel: BaseKernel, rows: Any) -> Array:
    """Return rows whose inner products are K_θ of the given ones.

    Those themselves for the inner product, else a square root of the N × N matrix.
    """
    if isinstance(kernel, InnerProduct):
        return np.asarray(rows.toarray() if sp.issparse(rows) else rows)
    values, vectors = np.linalg.eigh(Features.of(kernel, rows).dense())
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
