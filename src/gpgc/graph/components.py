"""Connected components: the large ones one by one, the small ones as groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from gpgc._typing import Integers

LARGE_COMPONENTS = 64
LARGE_FROM = 64
"""How many components are large at most, and the number of nodes from which on."""


def components(adjacency: Any, dtype: Any) -> tuple[Integers, sp.csr_array | None]:
    """Return the large component (N,) of each node, -1 in others, and indicators of small ones."""
    large, small = large_and_small(connected_components(adjacency, directed=False)[1])
    n_small = int(small.max(initial=-1)) + 1
    return large, indicators(small, n_small, dtype) if n_small else None


def large_and_small(component: Integers) -> tuple[Integers, Integers]:
    """Return numbers of large components and of small ones of two nodes or more, -1 elsewhere.

    Examples
    --------
    >>> large_and_small(np.repeat([0, 1, 2], [64, 1, 2]))[1][-3:]
    array([-1,  0,  0])
    """
    sizes = np.bincount(component)
    is_large = np.zeros(len(sizes), dtype=bool)
    is_large[np.argsort(-sizes, kind="stable")[:LARGE_COMPONENTS]] = True
    is_large &= sizes >= LARGE_FROM
    is_small = (sizes > 1) & ~is_large
    large, small = (np.where(some, np.cumsum(some) - 1, -1) for some in (is_large, is_small))
    return large[component], small[component]


def indicators(index: Integers, n_groups: int, dtype: Any) -> sp.csr_array:
    """Return the (N, n_groups) matrix with 1 where a node is in a group; index -1 is in none."""
    inside = np.flatnonzero(index >= 0)
    entries = (np.ones(len(inside), dtype=dtype), (inside, index[inside]))
    return sp.csr_array(entries, shape=(len(index), n_groups))
