"""Numbers by which nodes are sampled, computed in blocks: those of :mod:`gpgc.graph.node_keys`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc._typing import Array
from gpgc.compute.progress import announce
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.features import BlockFeatures, checked
from gpgc.dask.links import Links, propagation_of
from gpgc.dask.surroundings import neighbour_sums
from gpgc.graph import Normalization
from gpgc.graph.node_keys import STEPS, first_keys, key_terms, next_keys, rounded_keys


def keys_of(
    raw: Sequence[Any],
    settings: BlockFeatures,
    links: Links,
    normalization: Normalization,
    seed: int,
    cluster: Cluster,
) -> Array:
    """Return the numbers of all nodes (N,): the features are read once more for them.

    Parameters
    ----------
    raw : list of tasks
        Blocks of X.
    settings : BlockFeatures
        How they are read.
    links : Links
        The graph.
    normalization : {"symmetric", "row"}
        Of Â.
    seed : int
        As in :func:`gpgc.graph.node_keys.node_keys`.
    cluster : Cluster
        Where.
    """
    announce("keys of the nodes")
    propagation = propagation_of(links, normalization, "float64")
    keys = cluster.keep(
        task(block_keys, task(checked, block, b, settings), links.degrees[b], seed)
        for b, block in enumerate(raw)
    )
    for _ in range(STEPS):
        sums = neighbour_sums(propagation, [task(key_terms, part) for part in keys], links)
        keys = cluster.keep(task(next_keys, *pair) for pair in zip(keys, sums, strict=True))
    return rounded_keys(np.concatenate(cluster.fetch(keys)))


def block_keys(features: Array, degrees: Array, seed: int) -> Array:
    """Return what own features (n, F) and degrees (n,) of the nodes of a block tell."""
    return first_keys(features, np.log(degrees), seed)
