"""The features in blocks: checked, brought to one unit as on one machine, and cut into columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import getitem
from typing import Any

import dask.array as da
import numpy as np

from gpgc._typing import Array, Integers
from gpgc.compute.moments import ColumnMoments
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.errors import InputError
from gpgc.estimators.inputs import FeatureNorm, with_norm
from gpgc.estimators.standardize import (
    LARGEST,
    ROWS_AT_ONCE,
    Standardization,
    Standardize,
    decided_scaling,
    sampled_rows,
    standardization_by,
)
from gpgc.kernels.covariance import inverse_or_zero
from gpgc.models.view import row_lengths


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


@dataclass(frozen=True)
class BlockFeatures:
    """How the features of a block are read: where, how many, and what becomes of them."""

    partition: Partition
    n_features: int
    norm: FeatureNorm
    standardization: Standardization | None = None
    beside: Standardization | None = None  # where nodes see columns standardized as well


def numbers_of(block: Any, number: int, settings: BlockFeatures) -> Array:
    """Return X of a block as an array of floats, or say what is wrong with which block."""
    partition = settings.partition
    name, expected = partition.name(number), (partition.sizes[number], settings.n_features)
    if not isinstance(block, np.ndarray) or block.dtype.kind not in "biuf":
        what = block.dtype if isinstance(block, np.ndarray) else type(block).__name__
        raise InputError(f"X must hold NumPy arrays of real numbers, got {what} in {name}")
    if block.shape != expected:
        raise InputError(f"X must have shape {expected} in {name}, got {block.shape}")
    values = block if block.dtype in (np.float32, np.float64) else block.astype(np.float64)
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise InputError(
            f"X must hold finite numbers, got NaN or infinity in {name}, "
            f"first in row {partition.starts[number] + row:,}"
        )
    return np.asarray(values)


def checked(block: Any, number: int, settings: BlockFeatures) -> Array:
    """Return the features of a block, standardized and with the norm that is wanted."""
    values = scaled(numbers_of(block, number, settings), settings.standardization)
    return np.asarray(with_norm(values, settings.norm))


def with_scalings(
    raw: Sequence[Any], settings: BlockFeatures, choice: Standardize, cluster: Cluster
) -> BlockFeatures:
    """Return how columns are seen, by the rows that decide on one machine: X is read once."""
    sees_both = settings.norm == "none"
    if choice is False or not (choice is True or sees_both):
        return settings
    chosen = sampled_rows(settings.partition.n_nodes)
    sample = settings.partition.split(np.arange(chosen.start, chosen.stop, chosen.step))
    looks = [task(look_at, block, b, settings, sample[b]) for b, block in enumerate(raw)]
    sums = tree(ColumnMoments.joined, [task(getitem, look, 1) for look in looks])
    wanted = [sums, *(task(getitem, look, 0) for look in looks)]
    moments, *rows = cluster.fetch(wanted, "looking at the units of the features")
    scaling_of, few = partial(standardization_by, moments), np.concatenate(rows)
    scaling, keeps_raw = decided_scaling(few, scaling_of, choice, sees_both)
    if keeps_raw:
        return replace(settings, beside=scaling)
    return replace(settings, standardization=scaling)


def look_at(
    block: Any, number: int, settings: BlockFeatures, sample: Integers
) -> tuple[Array, ColumnMoments]:
    """Return sampled rows of a block, and the moments of the columns of all in float64."""
    rows = numbers_of(block, number, settings)
    if (size := largest_of(rows)) > LARGEST:
        raise InputError(f"X must hold numbers of size {LARGEST:g} at most, got one of {size:.3g}")
    starts = range(0, len(rows), ROWS_AT_ONCE)
    parts = (rows[start : start + ROWS_AT_ONCE].astype(np.float64) for start in starts)
    return rows[sample], reduce(ColumnMoments.joined, map(ColumnMoments.of, parts))


def largest_of(features: Array) -> float:
    """Return the largest magnitude."""
    return float(np.abs(features).max(initial=0.0))


def scaled(features: Array, scaling: Standardization | None) -> Array:
    """Return features in a scaling."""
    return features if scaling is None else scaling.apply(features)


def unit_columns(features: Array, part: slice, degrees: Array | None, dtype: Any) -> Array:
    """Return some columns of X̄, whose rows have length 1, or of D̃^(−½) X̄ by the degrees."""
    inverse = inverse_or_zero(row_lengths(features))
    lengths = inverse if degrees is None else inverse * (1 / degrees) ** 0.5
    rows = features[:, part] * lengths[:, None].astype(features.dtype)
    return np.ascontiguousarray(rows, dtype=dtype)
