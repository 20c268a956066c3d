"""From the cluster back to one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import task
from gpgc.dask.graph import Graph
from gpgc.dask.links import LocalRows


def local_inputs(graph: Graph) -> tuple[Array, sp.csr_array]:
    """Return all features (N, F) and the adjacency (N, N)."""
    starts = graph.partition.starts
    rows = graph.cluster.fetch(
        task(global_rows, part, block, starts) for block, part in enumerate(graph.links.rows)
    )
    features = graph.cluster.fetch(graph.features(b) for b in range(len(graph.partition)))
    return np.concatenate(features), sp.vstack(rows, format="csr")


def global_rows(rows: LocalRows, block: int, starts: Integers) -> sp.csr_array:
    """Return the rows (n, N) of the adjacency of a block."""
    parts: list[tuple[Any, Any]] = [(rows.own, np.arange(starts[block], starts[block + 1]))]
    for other, weights in rows.across.items():
        at = rows.needed[other]
        nodes = np.arange(weights.shape[1]) if at is None else at
        parts.append((weights, starts[other] + nodes))
    entries = [sp.coo_array(weights) for weights, _ in parts]
    data = np.concatenate([part.data for part in entries])
    row = np.concatenate([part.coords[0] for part in entries])
    column = np.concatenate(
        [nodes[part.coords[1]] for part, (_, nodes) in zip(entries, parts, strict=True)]
    )
    return sp.csr_array((data, (row, column)), shape=(rows.own.shape[0], int(starts[-1])))
