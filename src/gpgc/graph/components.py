"""Connected components: the large ones one by one, the small ones as groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from gpgc._typing import Integers


@dataclass(frozen=True, eq=False)
class Components:
    """Which connected component each node belongs to.

    Attributes
    ----------
    large : int array of shape (N,)
        Index of the large component of each node, -1 in others.
    small : int array of shape (N,)
        Index of the small component of two nodes or more, -1 in others.
    n_large, n_small : int
        How many there are. Isolated nodes are in none.
    """

    large: Integers
    small: Integers
    n_large: int
    n_small: int


def components(adjacency: Any, most: int, smallest: int) -> Components:
    """Return the connected components of a graph.

    Parameters
    ----------
    adjacency : csr_array of shape (N, N)
        Symmetric pattern; self-loops do not matter.
    most : int
        How many components are large at most: those with most nodes.
    smallest : int
        Number of nodes from which a component may be large.

    Returns
    -------
    Components

    Examples
    --------
    A path of three nodes, a pair, and an isolated node:

    >>> path = ([1, 1, 1], ([0, 1, 3], [1, 2, 4]))
    >>> found = components(sp.csr_array(path, shape=(6, 6)), most=1, smallest=3)
    >>> found.large
    array([ 0,  0,  0, -1, -1, -1])
    >>> found.small
    array([-1, -1, -1,  0,  0, -1])
    """
    _, component = connected_components(adjacency, directed=False)
    sizes = np.bincount(component)
    order = np.argsort(-sizes, kind="stable")
    is_large = np.zeros(len(sizes), dtype=bool)
    is_large[order[:most]] = True
    is_large &= sizes >= smallest
    is_small = (sizes > 1) & ~is_large
    return Components(
        _numbered(is_large)[component],
        _numbered(is_small)[component],
        int(is_large.sum()),
        int(is_small.sum()),
    )


def _numbered(chosen: Any) -> Integers:
    """Return 0, 1, … for the chosen ones in turn, and -1 for the others."""
    return np.where(chosen, np.cumsum(chosen) - 1, -1).astype(np.intp)


def indicators(index: Integers, n_groups: int, dtype: Any) -> sp.csr_array:
    """Return the (N, n_groups) matrix with 1 where a node is in a group; index -1 is in none."""
    inside = np.flatnonzero(index >= 0)
    entries = (np.ones(len(inside), dtype=dtype), (inside, index[inside]))
    return sp.csr_array(entries, shape=(len(index), max(n_groups, 1)))
