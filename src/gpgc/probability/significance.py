"""Whether what was measured on some labels is more than chance."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array

FEWEST_DIFFERENCES = 6
"""Labels that must tell two models apart before one is clearly better."""


def clearly_better(new: Array, old: Array, n_errors: float = 1.0) -> bool:
    """Tell whether losses (D,) are smaller by over so many standard errors of the difference.

    The spread of few differences, of the two ends of a chain for instance, may be nothing by
    symmetry: fewer than :data:`FEWEST_DIFFERENCES` say nothing.

    Examples
    --------
    >>> clearly_better(np.zeros(2), np.ones(2)), clearly_better(np.zeros(6), np.ones(6))
    (False, True)
    """
    gain = old - new
    if np.count_nonzero(gain) < FEWEST_DIFFERENCES:
        return False
    return bool(gain.mean() > n_errors * gain.std() / np.sqrt(len(gain)))
