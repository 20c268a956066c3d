"""What a fit on a cluster is given: features in blocks, edges in partitions, labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np

from gpgc.dask.partition import Partition
from gpgc.errors import InputError


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


def frames_of_edges(adjacency: Any) -> list[Any]:
    """Return the partitions of the edges as tasks of frames.

    Parameters
    ----------
    adjacency : Dask DataFrame, or path
        With the columns ``source``, ``target`` and optionally ``weight``; a path is read as
        Parquet.
    """
    if isinstance(adjacency, str | Path):
        from gpgc.dask.parquet import parquet_frames

        return parquet_frames(adjacency, ["source", "target"], ["weight"])
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
    return list(adjacency[columns].to_delayed())
