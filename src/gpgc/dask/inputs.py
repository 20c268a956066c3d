"""What a fit on a cluster is given: features in blocks, edges in partitions, labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np

from gpgc._typing import Integers
from gpgc.dask.cluster import Cluster
from gpgc.dask.edges import EdgePart
from gpgc.dask.parquet import parquet_edges
from gpgc.errors import InputError


@dataclass(frozen=True)
class Partition:
    """Consecutive blocks of the nodes 0 … N − 1, by their sizes."""

    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> Integers:
        """The first node of each block, and N at the end."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @property
    def n_nodes(self) -> int:
        """N."""
        return int(self.starts[-1])

    def split(self, nodes: Integers) -> list[Integers]:
        """Return sorted nodes by block, counted from the first node of their block."""
        cuts = np.searchsorted(nodes, self.starts)
        return [nodes[cuts[b] : cuts[b + 1]] - self.starts[b] for b in range(len(self.sizes))]

    def name(self, block: int) -> str:
        """Return how messages call a block."""
        first, end = self.starts[block], self.starts[block + 1]
        return f"block {block} (rows {first:,} to {end - 1:,})"


def blocks_of_features(X: Any) -> tuple[list[Any], Partition, int]:
    """Return the blocks of rows of a Dask array as tasks, where they are cut, and F."""
    if not isinstance(X, da.Array) or X.ndim != 2:
        what = f"shape {X.shape}" if isinstance(X, da.Array) else type(X).__name__
        raise InputError(f"X must be a Dask array of shape (N, F), got {what}")
    sizes = X.chunks[0]
    if any(np.isnan(size) for size in (*sizes, X.shape[1])):
        raise InputError(
            "X must have chunks of known sizes, got unknown ones: X.compute_chunk_sizes()"
        )
    empty = [number for number, size in enumerate(sizes) if not size]
    if empty or not X.shape[1]:
        raise InputError(f"X must have rows in every block and columns, got none in {empty}")
    whole = X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    return list(whole.to_delayed().ravel()), Partition(tuple(map(int, sizes))), int(X.shape[1])


def parts_of_edges(adjacency: Any) -> list[EdgePart]:
    """Return the parts of edges, whose frames are tasks, of a list, a Dask frame or Parquet."""
    if isinstance(adjacency, list):
        return adjacency
    if isinstance(adjacency, str | Path):
        return parquet_edges(adjacency)
    if not isinstance(adjacency, dd.DataFrame):
        raise InputError(
            "adjacency must be a Dask DataFrame with the columns source, target[, weight], or the "
            f"path of a Parquet file or folder, got {type(adjacency).__name__}"
        )
    names = [str(name) for name in adjacency.columns]
    if not {"source", "target"} <= set(names):
        raise InputError(
            f"adjacency must have the columns source and target, got {', '.join(names) or 'none'}"
        )
    columns = [name for name in ("source", "target", "weight") if name in names]
    frames = enumerate(adjacency[columns].to_delayed())
    return [EdgePart(frame, f"adjacency, partition {number},") for number, frame in frames]


def here(y: Any, X: Any, cluster: Cluster) -> Any:
    """Return labels in this process, or refuse them where they are not as many as rows of X."""
    blocks_of_features(X)  # which says what is wrong with X
    n_given = y.shape[0] if hasattr(y, "shape") and len(y.shape) else len(y)
    if n_given != X.shape[0]:
        raise InputError(f"y must have one entry for each of the {X.shape[0]} rows, got {n_given}")
    if not isinstance(y, da.Array):
        return y
    whole = y if y.ndim == 1 or y.numblocks[1] == 1 else y.rechunk({1: -1})
    return np.concatenate(cluster.fetch(whole.to_delayed().ravel(), "labels"))
