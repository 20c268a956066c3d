"""Whether the columns of features in blocks are brought to one unit, as on one machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.compute.moments import ColumnMoments
from gpgc.compute.progress import announce
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.dask.features import BlockFeatures, numbers_of, part_of
from gpgc.estimators.standardise import (
    ROWS_AT_ONCE,
    Fault,
    Standardisation,
    Standardise,
    fault_of,
    sampled_rows,
    standardisation_by,
)


class Look(NamedTuple):
    """What is seen of a block at first: its sampled rows (m, F), and the moments of all rows.

    None of them where the answer does not depend on it.
    """

    sample: Array | None
    moments: ColumnMoments | None


def standardisation_of(
    raw: Sequence[Any], settings: BlockFeatures, choice: Standardise, cluster: Cluster
) -> Standardisation | None:
    """Return what becomes of features before anything else, None where they stay as they are.

    X is read once. The rows that decide are those of the local estimator, and meet in one task;
    means and standard deviations of all rows are summed up in a fixed tree.

    Parameters
    ----------
    raw : sequence of tasks of arrays (n, F)
        Blocks of X.
    settings : BlockFeatures
        What is expected of them.
    choice : {"auto", True, False}
        Whether to standardise.
    cluster : Cluster
        Where.
    """
    announce("looking at the units of the features")
    partition = settings.partition
    chosen = sampled_rows(partition.n_nodes)
    sample = partition.split(np.arange(chosen.start, chosen.stop, chosen.step))
    looks = [
        task(look_at, block, number, settings, sample[number], choice)
        for number, block in enumerate(raw)
        if len(sample[number]) or choice
    ]
    samples, moments = ([task(part_of, look, part) for look in looks] for part in (0, 1))
    wanted = task(fault_in, samples), tree(ColumnMoments.joined, moments)
    if choice == "auto":
        fault, sums = cluster.fetch(wanted)
    elif choice:
        fault, sums = None, cluster.fetch_one(wanted[1])
    else:
        fault, sums = cluster.fetch_one(wanted[0]), None
    return standardisation_by(choice, fault, lambda: sums)


def look_at(
    block: Any, number: int, settings: BlockFeatures, sample: Integers, choice: Standardise
) -> Look:
    """Return what is seen of a block; of its rows only a sample is kept."""
    rows = numbers_of(block, number, settings)
    return Look(
        None if choice is True else rows[sample],
        None if choice is False else moments_of(rows),
    )


def moments_of(rows: Array) -> ColumnMoments:
    """Return the moments of the columns in float64, without an array of all rows in it."""
    starts = range(0, len(rows), ROWS_AT_ONCE)
    parts = (rows[start : start + ROWS_AT_ONCE].astype(np.float64) for start in starts)
    return reduce(ColumnMoments.joined, map(ColumnMoments.of, parts))


def fault_in(samples: Sequence[Array]) -> Fault | None:
    """Return what hides what tells nodes apart in the sampled rows of all blocks, if anything."""
    return fault_of(np.concatenate(samples))
