"""Some labels that stand for all."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.graph.node_keys import spread_over

CALIBRATION_LABELS = 4000
"""Labels that the temperature is fitted to where there are more."""


def label_sample(keys: Array, targets: Array, most: int) -> Integers:
    """Return indices, sorted, of at most so many labels, whatever their order.

    Parameters
    ----------
    keys : array of shape (D,)
        Those of the labelled nodes, over which the sample is spread
        (:mod:`gpgc.graph.node_keys`).
    targets : array of shape (D, k)
        Y, by which labels of nodes with the same key are told apart.
    most : int
        How many are wanted.

    Examples
    --------
    >>> label_sample(np.array([0.1, 0.1, 0.3]), np.array([[1.0], [0.0], [1.0]]), 2)
    array([1, 2])
    """
    value = np.nan_to_num(targets) @ np.sqrt(np.arange(2, targets.shape[1] + 2))
    return spread_over(keys, most, value)
