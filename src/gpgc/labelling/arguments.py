"""Checks of what a labelling is given besides labels and graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.graph import as_adjacency


def check_costs(costs: Any, n_nodes: int) -> Array:
    """Return what labelling each node costs; 1 when not given."""
    if costs is None:
        return np.ones(n_nodes)
    values = np.asarray(costs, dtype=np.float64)
    if values.shape != (n_nodes,) or not np.isfinite(values).all() or not (values > 0).all():
        raise InputError(
            f"costs must be a positive number for each of the {n_nodes} nodes, "
            f"got shape {values.shape}"
        )
    return values


def count_nodes(X: Any, y: Any, adjacency: Any) -> int:
    """Return how many nodes are meant by what was given of features, labels and graph."""
    for given in (X, y):
        if given is not None:
            return int(given.shape[0] if hasattr(given, "shape") else len(given))
    return int(as_adjacency(adjacency).shape[0])
