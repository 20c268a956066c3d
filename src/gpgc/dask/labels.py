"""Labels and values of nodes in blocks: those that are known come to the client, no others."""

from __future__ import annotations

from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import cluster_of, task
from gpgc.dask.inputs import blocks_of_features
from gpgc.errors import InputError
from gpgc.estimators.given_labels import check_sample_weight, encode_given
from gpgc.estimators.labels import known_labels


class KnownLabels(NamedTuple):
    """Labelled nodes (D,), targets (D, k), weights (D,), and the classes (k,)."""

    nodes: Integers
    targets: Array
    weights: Array
    classes: NDArray[Any]


def labels_of(y: Any, sample_weight: Any, X: Any, client: Any) -> KnownLabels:
    """Return the labels that are known.

    Parameters
    ----------
    y : dask or NumPy array of shape (N,)
        Labels, −1, None or NaN where unlabelled; a NumPy array of shape (N, k) holds
        probabilities.
    sample_weight : array of shape (N,) or None
        What each counts.
    X : dask array of shape (N, F)
        Whose rows they belong to.
    client : distributed.Client or None
        The connection.
    """
    check_length(y, X)
    if not isinstance(y, da.Array):
        given = encode_given(y, sample_weight)
        return KnownLabels(given.nodes, given.targets, given.weights, given.classes)
    if y.ndim != 1:
        raise InputError(f"y must have one dimension as a Dask array, got shape {y.shape}")
    nodes, values = known_entries(y, known_labels, client)
    weights = check_sample_weight(sample_weight, X.shape[0])[nodes]
    given = encode_given(values, weights)
    return KnownLabels(nodes[given.nodes], given.targets, given.weights, given.classes)


def known_entries(y: da.Array, known: Any, client: Any) -> tuple[Integers, NDArray[Any]]:
    """Return the nodes and the entries of y that a function finds known, block by block."""
    sizes = y.chunks[0]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    whole = y if y.ndim == 1 or y.numblocks[1] == 1 else y.rechunk({1: -1})
    found = cluster_of(client).fetch(task(known, block) for block in whole.to_delayed().ravel())
    nodes = [start + places for start, (places, _) in zip(starts, found, strict=True)]
    values = [entries for _, entries in found if len(entries)]
    if not values:
        raise InputError(f"y must have at least one label, got {y.shape[0]} unlabelled nodes")
    return np.concatenate(nodes), np.concatenate(values)


def check_length(y: Any, X: Any) -> None:
    """Refuse labels that are not as many as the rows of X."""
    blocks_of_features(X)  # which says what is wrong with X
    n_given = y.shape[0] if hasattr(y, "shape") and len(y.shape) else len(y)
    if n_given != X.shape[0]:
        raise InputError(f"y must have one entry for each of the {X.shape[0]} rows, got {n_given}")
