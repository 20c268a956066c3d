"""How far the covariance of the labelled nodes can be from the true one by rounding alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array
from gpgc.errors import InputError

MOST_UNITS = 64
"""Largest jitter, in units of D times the rounding of one entry; more is no rounding."""


def checked_gram(gamma: Any) -> tuple[Array, float, float]:
    """Return Γ_DD in float64, the mean of its diagonal, and its unit of rounding.

    The unit is that of the number format in which Γ_DD was computed, relative to the mean of the
    diagonal. Sums of D such errors make eigenvalues of up to D units out of zeros, of either sign.

    Parameters
    ----------
    gamma : array of shape (D, D)
        Γ_DD, in the number format in which it was computed.
    """
    given = np.asarray(gamma)
    computed_in = given.dtype if given.dtype == np.float32 else np.dtype(np.float64)
    matrix = given.astype(np.float64, copy=False)
    format_ = np.finfo(computed_in)
    diagonal = np.diagonal(matrix)
    if not np.isfinite(matrix).all():
        raise InputError(
            "X, weight_variance, bias_variance and depth must lead to covariances that "
            f"{computed_in} can hold, up to {float(format_.max):.0e}, got infinity or NaN: scale "
            "them down, or choose dtype='float64'"
        )
    largest = float(diagonal.max(initial=0.0))
    if 0 < largest < float(format_.tiny / format_.eps):
        raise InputError(
            "X, weight_variance and depth must lead to covariances that "
            f"{computed_in} can hold, from {float(format_.tiny / format_.eps):.0e} on, got "
            f"{largest:.0e} as the largest: scale them up, or choose dtype='float64'"
        )
    scale = float(np.mean(diagonal)) if len(diagonal) else 0.0
    return matrix, scale or 1.0, float(format_.eps)
