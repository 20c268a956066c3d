"""From scores to class probabilities, and what they cost."""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from gpgc._typing import Array


def softmax(logits: Array) -> Array:
    """Return the softmax of each row."""
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def softmax_loss(logits: Array, targets: Array) -> tuple[Array, Array]:
    """Return −Σ_c y_c log p_c (n,) of p = softmax(logits), and its slope p Σ_c y_c − y (n, k)."""
    log_p = np.asarray(log_softmax(logits, axis=1))
    slope = np.exp(log_p) * targets.sum(axis=1, keepdims=True) - targets
    return -(targets * log_p).sum(axis=1), slope


def cross_entropies(scores: Array, targets: Array, temperature: Array | float = 1.0) -> Array:
    """Return the cross-entropy of softmax(t · scores) with the one-hot target of each node."""
    scaled = np.asarray(temperature)[..., None, None] * scores
    peak = scaled.max(axis=-1)
    log_normalizer = peak + np.log(np.exp(scaled - peak[..., None]).sum(axis=-1))
    return np.asarray(log_normalizer - (scaled * targets).sum(axis=-1))
