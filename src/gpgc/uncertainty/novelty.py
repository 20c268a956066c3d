"""Nodes that do not belong to any class that was labelled."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array
from gpgc.estimators import GPGCClassifier
from gpgc.gp.calibration import softmax


def novelty(estimator: GPGCClassifier) -> Array:
    r"""Return how little each node belongs to the labelled classes, larger is stranger.

    .. math:: H(\operatorname{softmax}(t m)) / \log k + s / \bar s

    The entropy of the probabilities, without the estimate of class shares that nodes of another
    class would mislead, says how undecided a node is; the posterior standard deviation s over its
    mean says how far it is from all labels. Together they tell strangers apart better than either.

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted.

    Returns
    -------
    array of shape (N,)
        At least 0.

    Examples
    --------
    The node halfway between two labels belongs to neither.

    >>> import gpgc
    >>> chain = (np.arange(4), np.arange(1, 5))
    >>> estimator = gpgc.GPGCClassifier().fit(None, [0, -1, -1, -1, 1], adjacency=chain)
    >>> int(novelty(estimator).argmax())
    2
    """
    mean, std = estimator.predict_latent(return_std=True)
    probabilities = softmax(estimator.temperature_ * mean)
    safe = np.maximum(probabilities, np.finfo(np.float64).tiny)
    entropy = -np.einsum("ic,ic->i", probabilities, np.log(safe))
    return np.asarray(
        entropy / np.log(max(len(estimator.classes_), 2)) + std / (float(std.mean()) or 1.0)
    )
