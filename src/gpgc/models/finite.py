"""Random networks of finite width: the oracle whose limit the covariances are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.kernels import Activation, BaseKernel, Features, InnerProduct


class RandomLayers:
    """The layers that networks of finite width are made of, with weights drawn at random.

    Parameters
    ----------
    width : int
        Number of units of every layer, the last one included.
    activation : Activation
        φ.
    rng : numpy Generator
        Draws the weights.

    Examples
    --------
    >>> from gpgc.kernels import ReLU
    >>> layers = RandomLayers(3, ReLU(), np.random.default_rng(0))
    >>> layers.activate(layers.dense(np.ones((2, 1)), 1.0, of_input=True)).shape
    (2, 3)
    """

    def __init__(self, width: int, activation: Activation, rng: np.random.Generator) -> None:
        self.width, self.activation, self.rng = width, activation, rng

    def input(self, kernel: BaseKernel, rows: Any) -> Any:
        """Return values whose inner products are K_θ of the given rows."""
        return rows_with_kernel(kernel, rows)

    def dense(
        self,
        values: Any,
        weight_variance: float,
        bias_variance: float = 0.0,
        *,
        of_input: bool = False,
    ) -> Any:
        """Return values W + b; weights have the given variance over the number of inputs.

        Those of the input have the variance itself, since K_θ is a sum over features.
        """
        variance = weight_variance if of_input else weight_variance / values.shape[1]
        return random_layer(values, self.width, variance, bias_variance, self.rng)

    def activate(self, values: Any) -> Any:
        """Return φ of the values."""
        return self.activation(values)

    def aggregate(self, matrix: Any, values: Any) -> Any:
        """Return S H for a matrix S among the nodes."""
        return np.asarray(matrix @ values)

    def rotate(self, values: Any) -> Any:
        """Return H Q with a random orthogonal Q that is not trained."""
        size = (values.shape[1], values.shape[1])
        rotation, upper = np.linalg.qr(self.rng.normal(size=size))
        # columns by the signs of R's diagonal, else Q is not uniform over the rotations
        return values @ (rotation * np.sign(np.diagonal(upper)))


def random_layer(
    values: Array, width: int, weight_variance: float, bias_variance: float, rng: Any
) -> Array:
    """Return values W + b with independent normal weights and biases.

    Parameters
    ----------
    values : array of shape (N, F)
        Input of the layer.
    width : int
        Number of units.
    weight_variance, bias_variance : float
        Variances of one weight and of one bias.
    rng : numpy Generator
        Draws them.

    Returns
    -------
    array of shape (N, width)
    """
    weights = rng.normal(scale=np.sqrt(weight_variance), size=(values.shape[1], width))
    return np.asarray(values @ weights + rng.normal(scale=np.sqrt(bias_variance), size=width))


def rows_with_kernel(kernel: BaseKernel, rows: Any) -> Array:
    """Return rows whose inner products are K_θ of the given ones.

    Those themselves for the inner product, else a square root of the N × N matrix.
    """
    if isinstance(kernel, InnerProduct):
        return np.asarray(rows.toarray() if sp.issparse(rows) else rows)
    values, vectors = np.linalg.eigh(Features.of(kernel, rows).dense())
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
