"""Random networks of finite width: the oracle whose limit the covariances are."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.kernels import BaseKernel, Features, InnerProduct


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
