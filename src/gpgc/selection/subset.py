"""Some labels that stand for all."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Integers

CALIBRATION_LABELS = 4000
"""Labels that the temperature is fitted to where there are more."""


def evenly_spread(n_labels: int, most: int) -> Integers:
    """Return indices of at most so many labels, evenly spread over all of them.

    Examples
    --------
    >>> evenly_spread(10, 3), evenly_spread(2, 3)
    (array([0, 4, 9]), array([0, 1]))
    """
    return np.linspace(0, n_labels - 1, min(n_labels, most)).astype(np.intp)
