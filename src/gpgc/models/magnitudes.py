"""Refuse inputs whose covariance a number format cannot hold, before anything is computed."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.models.architecture import Architecture

MARGIN = 1e6
"""Factor that is kept between what occurs and the ends of the number format."""

SEEN_BESIDE_BIAS = 100
"""Roundings of the bias that the variance of the features must be, to be seen beside it."""


def check_magnitudes(
    architecture: Architecture, propagation: sp.csr_array, features: Any, dtype: Any
) -> None:
    """Refuse features, weights and variances that over- or underflow in a number format.

    Parameters
    ----------
    architecture : Architecture
        With δ_W, σ_b² and the depth.
    propagation : csr_array of shape (N, N)
        Â, whose diagonal holds the reciprocals of the degrees.
    features : array or sparse matrix of shape (N, F), or None
        X; None for one-hot features.
    dtype : numpy dtype
        In which the covariance will be computed.
    """
    kind = np.dtype(dtype)
    limits = np.finfo(kind)
    low, high = float(limits.tiny) * MARGIN, float(limits.max) / MARGIN
    _check_weights(propagation, low, kind)
    _check_features(features, low**0.5, high**0.5, kind)
    _check_weight_variance(architecture, low, high, kind)
    if architecture.bias_variance:
        seen = _variance(architecture, features) / (SEEN_BESIDE_BIAS * float(limits.eps))
        if architecture.bias_variance > seen > 0:
            raise InputError(
                f"bias_variance must be at most {seen:.0e} beside these features, else {kind} "
                f"rounds them away, got {architecture.bias_variance:g}"
            )


def _check_weights(propagation: sp.csr_array, low: float, kind: np.dtype[Any]) -> None:
    least = float(propagation.diagonal().min(initial=1.0))
    if least < low:
        degree = 1 / least if least > 0 else np.inf
        raise InputError(
            f"adjacency must hold weights that add up to at most {1 / low:.0e} at a node in "
            f"{kind}, got {degree:.0e}: divide them by a number"
        )


def _check_features(features: Any, low: float, high: float, kind: np.dtype[Any]) -> None:
    if features is None:
        return
    values = features.data if sp.issparse(features) else features
    if not values.size:
        return
    largest = max(float(values.max()), -float(values.min()))
    if largest and not low <= largest <= high:
        raise InputError(
            f"X must have a largest entry between {low:.0e} and {high:.0e} in {kind}, whose "
            f"squares it can hold, got {largest:.0e}: scale X"
        )


def _check_weight_variance(
    architecture: Architecture, low: float, high: float, kind: np.dtype[Any]
) -> None:
    variance = float(architecture.weight_variance)
    if not 0 < variance < np.inf:
        return
    layers = 1 if architecture.scales_rows else architecture.depth
    power = layers * np.log10(variance)
    is_too_small = power < np.log10(low) and (not architecture.bias_variance or layers == 1)
    if is_too_small or variance < low or power > np.log10(high):
        raise InputError(
            f"weight_variance to the power of depth must lie between {low:.0e} and {high:.0e} in "
            f"{kind}, got {variance:g} to the power of {layers}"
        )


def _variance(architecture: Architecture, features: Any) -> float:
    """Return about the variance that features add to a bias."""
    if features is None or architecture.scales_rows:
        return 1.0
    if architecture.base_kernel != "inner_product" or not features.shape[0]:
        return float(architecture.weight_variance)
    values = (features.data if sp.issparse(features) else features).ravel()
    squares = float(np.einsum("i,i->", values, values, dtype=np.float64))
    return float(architecture.weight_variance * squares / features.shape[0])
