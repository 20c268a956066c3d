"""Random walks on a weighted graph, all at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpgc_lab.array_types import Integers


def random_walks(
    adjacency: csr_array, starts: Integers, steps: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Walk from each start, each step along an edge with probability proportional to its weight.

    Parameters
    ----------
    adjacency : csr_array of shape (N, N)
        Non-negative weights.
    starts : ndarray of int, shape (W,)
        First node of each walk.
    steps : int
        Edges to walk along; from a node without edges a walk stays where it is.
    rng : numpy.random.Generator
        Where the steps are drawn from.

    Returns
    -------
    ndarray of int64, shape (W, steps + 1)

    Examples
    --------
    >>> pair = csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> random_walks(pair, np.array([0, 2]), 3, np.random.default_rng(0))
    array([[0, 1, 0, 1],
           [2, 2, 2, 2]])
    """
    walks = np.empty((len(starts), steps + 1), dtype=np.int64)
    walks[:, 0] = starts
    total = np.concatenate([[0.0], np.cumsum(adjacency.data)])
    first, last = adjacency.indptr[:-1], adjacency.indptr[1:] - 1
    for step in range(steps):
        here = walks[:, step]
        low, high = total[first[here]], total[last[here] + 1]
        drawn = np.searchsorted(total, low + rng.random(len(here)) * (high - low), side="right") - 1
        edge = np.clip(drawn, first[here], np.maximum(last[here], first[here]))
        moves = high > low
        walks[:, step + 1] = here
        walks[moves, step + 1] = adjacency.indices[edge[moves]]
    return walks
