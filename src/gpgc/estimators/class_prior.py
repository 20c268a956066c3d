"""Shares of the classes in the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.gp.calibration import estimate_prior


def class_prior(
    wish: Any,
    shares: Array,
    probabilities: Callable[[], Array],
    n_labels: int,
    information: float,
) -> Array:
    """Return the class shares that were wished for.

    Parameters
    ----------
    wish : {"estimated", "labels"} or array of shape (k,)
        Estimated from the unlabelled nodes, those of the labels, or known ones.
    shares : array of shape (k,)
        Those of the labels.
    probabilities : callable
        Returns those of the unlabelled nodes under the shares of the labels, of shape (n, k).
    n_labels : int
        How many labels the probabilities come from.
    information : float
        How much of the labels' entropy leave-one-out explains, from 0 to 1.

    Returns
    -------
    array of shape (k,)
        Positive, summing to 1.

    Examples
    --------
    >>> class_prior([3, 1], np.array([0.5, 0.5]), lambda: np.empty((0, 2)), 4, 1.0)
    array([0.75, 0.25])
    """
    if isinstance(wish, str):
        if wish not in ("estimated", "labels"):
            raise InputError(f"class_prior must be 'estimated', 'labels' or an array, got {wish!r}")
        if wish == "labels":
            return shares
        return estimate_prior(probabilities(), shares, n_labels, information)
    known = np.asarray(wish, dtype=np.float64)
    if known.shape != shares.shape or not (known > 0).all() or not np.isfinite(known).all():
        raise InputError(f"class_prior must hold {len(shares)} positive shares, got {wish!r}")
    return np.asarray(known / known.sum())
