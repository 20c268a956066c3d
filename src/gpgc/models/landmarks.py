"""Nodes that stand for all."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.graph.node_keys import spread_over


def landmarks_by(keys: Array, n_landmarks: int, informed: Integers | None = None) -> Integers:
    """Return sorted nodes, spread over their keys; the first if nothing is known of any.

    Parameters
    ----------
    keys : array of shape (N,)
        As :func:`gpgc.graph.node_keys.node_keys` returns them.
    n_landmarks : int
        How many at most.
    informed : int array, optional
        Among which; all of which something is known when not given.

    Examples
    --------
    >>> landmarks_by(np.array([0.0, 0.2, 0.0, 0.1]), 4)
    array([1, 3])
    """
    among = np.flatnonzero(keys) if informed is None else informed
    chosen = among[spread_over(keys[among], n_landmarks)]
    return chosen if len(chosen) else np.zeros(1, dtype=np.intp)
