"""The items that the model is surest of, as a group that a person confirms at a glance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers

GROUP = 24
"""Items that a person is shown at once."""

COMPARED = 2000
"""Items among which the nearest are looked for; of more, the surest."""


def surest_group(
    free: Integers,
    codes: NDArray[np.integer],
    certainty: NDArray[np.integer],
    correlation: Callable[[int, Integers], Array],
    size: int = GROUP,
) -> tuple[int | None, Integers]:
    """Return the class and the items of a group: the surest item, and those most like it.

    Items that are alike are looked over quickly, since one that is not stands out.

    Parameters
    ----------
    free : int array of shape (n,)
        Items that may be in a group; of equally sure ones, the first begins it.
    codes, certainty : arrays of shape (N,)
        Most probable class of each node, and how probable it is.
    correlation : callable
        Returns the correlation of a node with others.
    size : int
        Items of a group at most.

    Examples
    --------
    >>> codes, certainty = np.array([0, 1, 1, 0]), np.array([240, 250, 254, 235])
    >>> surest_group(np.arange(4), codes, certainty, lambda node, others: np.ones(len(others)))
    (1, array([2, 1]))
    """
    if not len(free):
        return None, free
    surest = free[np.argsort(-certainty[free].astype(np.intp), kind="stable")]
    first = int(surest[0])
    alike = surest[codes[surest] == codes[first]][:COMPARED]
    others = alike[alike != first]
    nearest = np.argsort(-correlation(first, others), kind="stable")[: size - 1]
    return int(codes[first]), np.concatenate([[first], others[nearest]])
