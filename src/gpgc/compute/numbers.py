"""Which values are numbers that a parameter may have."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_real(value: Any) -> bool:
    """Tell whether a value is one finite real number; flags are not.

    >>> [is_real(value) for value in (1, np.float32(0.5), True, float("nan"), "1", None)]
    [True, True, False, False, False, False]
    """
    is_number = isinstance(value, int | float | np.integer | np.floating)
    return is_number and not isinstance(value, bool) and bool(np.isfinite(value))


def is_whole(value: Any, least: int = 0) -> bool:
    """Tell whether a value is a whole number of at least ``least``; flags are not.

    >>> [is_whole(value, 1) for value in (1, np.int64(3), 0, 1.0, True)]
    [True, True, False, False, False]
    """
    is_number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return is_number and int(value) >= least
