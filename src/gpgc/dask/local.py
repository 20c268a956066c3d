"""From the cluster back to one process."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.dask.cluster import task
from gpgc.dask.features import numbers_of
from gpgc.dask.graph import Graph
from gpgc.dask.wide import wide_adjacency


def local_inputs(graph: Graph) -> tuple[Array, sp.csr_array]:
    """Return X (N, F) as it was given, which ``fit`` standardises anew, and the adjacency."""
    starts = graph.partition.starts
    rows = graph.cluster.fetch(
        task(wide_adjacency, part, block, starts) for block, part in enumerate(graph.links.rows)
    )
    features = graph.cluster.fetch(
        task(numbers_of, raw, block, graph.settings) for block, raw in enumerate(graph.raw)
    )
    return np.concatenate(features), sp.vstack(rows, format="csr")
