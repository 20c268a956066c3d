"""From scores to class probabilities, and what they cost."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array


def softmax(logits: Array) -> Array:
    """Return the softmax of each row.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0], [1000.0, 0.0]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def cross_entropies(scores: Array, targets: Array, temperature: Array) -> Array:
    """Return the cross-entropy of softmax(t · scores) with the one-hot target of each node.

    Parameters
    ----------
    scores : array of shape (..., D, k)
        Any number of sets of scores of the same nodes.
    targets : array of shape (D, k)
        One-hot.
    temperature : array of shape (...)
        t, one a set.

    Returns
    -------
    array of shape (..., D)
    """
    scaled = np.asarray(temperature)[..., None, None] * scores
    peak = scaled.max(axis=-1)
    log_normaliser = peak + np.log(np.exp(scaled - peak[..., None]).sum(axis=-1))
    return np.asarray(log_normaliser - (scaled * targets).sum(axis=-1))
