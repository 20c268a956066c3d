"""Personalised PageRanks of features on a cluster: a step exchanges only rows that cross blocks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.compute.primitives import primitives_for
from gpgc.compute.progress import announce
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.links import Links, Propagation
from gpgc.kernels.pageranks import POWERS_AT_ONCE, pagerank_weights

COLUMN_BYTES = 2**26
"""Size of the columns of all nodes that diffuse at once; about nine times as much is in memory."""

ROWS_AT_ONCE = 4096
"""Rows whose powers are added up at once, in a core's cache."""

LEAST_COLUMNS = 8
"""Columns that diffuse at once however many nodes there are."""


def column_slices(n_nodes: int, n_columns: int, itemsize: int) -> list[slice]:
    """Cut the columns into those that diffuse at once; depends on the data alone.

    Examples
    --------
    >>> len(column_slices(10_000_000, 64, 4))
    8
    """
    width = max(LEAST_COLUMNS, COLUMN_BYTES // (n_nodes * itemsize))
    n_slices = -(-n_columns // width)
    cuts = np.linspace(0, n_columns, n_slices + 1).astype(int).tolist()
    return [slice(start, end) for start, end in itertools.pairwise(cuts)]


def diffused(
    starts: list[list[Any]],
    propagation: Sequence[Any],
    links: Links,
    wanted: Sequence[Integers],
    teleports: Sequence[float],
    steps: int,
    dtype: Any,
    cluster: Cluster,
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Diffuse the features of all blocks, some columns at a time.

    Parameters
    ----------
    starts : list of lists of tasks of arrays (n, columns)
        Rows that diffuse: a list for each slice of columns, a task for each block. The list is
        emptied, so that columns are let go once they have diffused.
    propagation : sequence of tasks
        Rows of Â, as :func:`gpgc.dask.links.propagation_of` returns them.
    links : Links
        The graph.
    wanted : sequence of int arrays
        Rows of each block that are asked for at once, while they are in memory.
    teleports, steps
        Of the PageRanks.
    dtype : numpy dtype
        Of the rows.
    cluster : Cluster
        Where.

    Returns
    -------
    totals : list of lists of tasks of arrays (teleports, n, columns)
        A list for each block, a task for each slice of columns.
    taken : the same of the wanted rows
    """
    blocks, n_slices = range(len(propagation)), len(starts)
    weights = pagerank_weights(teleports, steps, dtype)
    totals: list[list[Any]] = [[] for _ in blocks]
    taken: list[list[Any]] = [[] for _ in blocks]
    while starts:
        announce(f"diffusion of the features, part {n_slices + 1 - len(starts)} of {n_slices}")
        power = starts.pop(0)
        sums = [task(first_total, part, weights[:, 0]) for part in power]
        for first in range(1, steps + 1, POWERS_AT_ONCE):
            chunk = weights[:, first : first + POWERS_AT_ONCE]
            powers: list[list[Any]] = []
            for _ in range(chunk.shape[1]):
                power = [
                    task(diffusion_step, propagation[b], power[b], links.halo(power, b))
                    for b in blocks
                ]
                powers.append(power)
            sums = [task(add_powers, sums[b], chunk, [p[b] for p in powers]) for b in blocks]
        done = cluster.finish([*sums, *(task(taken_rows, sums[b], wanted[b]) for b in blocks)])
        for b in blocks:
            totals[b].append(done[b])
            taken[b].append(done[len(blocks) + b])
    return totals, taken


def diffusion_step(propagation: Propagation, own: Array, halo: Sequence[Array]) -> Array:
    """Return a block's rows of Â Z from its own rows of Z and those of others that it needs."""
    loops = primitives_for(len(own), own.dtype)
    product = loops.rows_times(propagation.own, slice(None), own)
    for (linked, weights), rows in zip(propagation.across, halo, strict=True):
        product[linked] += weights @ rows
    return product


def first_total(values: Array, weights: Array) -> Array:
    """Return the first terms of the PageRanks, of shape (teleports, n, columns)."""
    return np.asarray(weights[:, None, None] * values)


def add_powers(totals: Array, weights: Array, powers: Sequence[Array]) -> Array:
    """Return the sums of the PageRanks with several more powers."""
    out = np.empty_like(totals)
    for start in range(0, totals.shape[1], ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        stacked = np.stack([power[part] for power in powers])
        product = weights @ stacked.reshape(len(powers), -1)
        np.add(totals[:, part], product.reshape(len(totals), *stacked.shape[1:]), out=out[:, part])
    return out


def taken_rows(totals: Array, rows: Integers) -> Array:
    """Return some rows of the PageRanks."""
    return totals[:, rows]
