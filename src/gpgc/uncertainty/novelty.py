"""Nodes that do not belong to any class that was labelled."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array
from gpgc.estimators import GPGCClassifier


def novelty(estimator: GPGCClassifier) -> Array:
    r"""Return how little each node belongs to the labelled classes, larger is stranger.

    The entropy of the calibrated probabilities, :math:`-\sum_c p_c \log p_c`: a node of a class
    without labels lies between those that have some, and is close to none. On graphs it tells
    such nodes apart better than the posterior standard deviation, which only says how far labels
    are.

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted.

    Returns
    -------
    array of shape (N,)
        Between 0 and log k.

    Examples
    --------
    The node halfway between two labels belongs to neither.

    >>> import gpgc
    >>> chain = (np.arange(4), np.arange(1, 5))
    >>> estimator = gpgc.GPGCClassifier().fit(None, [0, -1, -1, -1, 1], adjacency=chain)
    >>> int(novelty(estimator).argmax())
    2
    """
    probabilities = estimator.predict_proba()
    safe = np.maximum(probabilities, np.finfo(np.float64).tiny)
    return np.asarray(-np.einsum("ic,ic->i", probabilities, np.log(safe)))
