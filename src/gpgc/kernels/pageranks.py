"""Personalised PageRanks of several teleports at once, which share the powers of the matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import chebyshev

from gpgc._typing import Array, Integers
from gpgc.compute import Context

POWER_BYTES = 2**28
"""Size of the largest power that is held at once; more columns are diffused one part at a time.

The more columns, the less is read: on a million nodes one step of 128 of them takes 0.77 s with 32
at a time, 0.53 s with 64 and 0.46 s with all; two powers are held."""

FEW = 2
"""If a power is needed at N / FEW rows or fewer, only those are computed."""


def pageranks(
    matrix: sp.csr_array,
    values: Array,
    teleports: Sequence[float],
    steps: int,
    context: Context,
) -> list[Array]:
    """Return the PageRanks a (1 − (1 − a) S)⁻¹ X of several teleports; X's memory is used again."""
    step = matrix.astype(values.dtype)
    weights = pagerank_weights(teleports, steps, values.dtype)
    sums = [values, *(np.zeros_like(values) for _ in teleports[1:])]
    for part in _column_parts(values, context.whole(4 * POWER_BYTES) // 4):
        start = values[:, part].copy()
        values[:, part] = 0.0
        for power, counts in zip(
            _powers(step, start, [None] * steps, context), weights.T, strict=True
        ):
            _add_to([total[:, part] for total in sums], counts, power, context)
    return sums


def pageranks_at(
    matrix: sp.csr_array,
    values: Array,
    rows: Integers,
    teleports: Sequence[float],
    steps: int,
    context: Context,
) -> list[Array]:
    """Return some rows of :func:`pageranks`, of shape (n, k): no sums of all nodes are held."""
    step = matrix.astype(values.dtype)
    weights = pagerank_weights(teleports, steps, values.dtype)
    found = [np.zeros((len(rows), values.shape[1]), values.dtype) for _ in teleports]
    needed = _needed_rows(matrix, rows, steps)
    for part in _column_parts(values, context.whole(8 * POWER_BYTES) // 2):
        is_whole = part.stop - part.start == values.shape[1] and values.flags.c_contiguous
        start = values if is_whole else values[:, part].copy()
        for power, counts in zip(_powers(step, start, needed, context), weights.T, strict=True):
            _add_to([total[:, part] for total in found], counts, power[rows], context)
    return found


def _needed_rows(matrix: sp.csr_array, rows: Integers, steps: int) -> list[Integers | None]:
    """Return which rows of S X, S² X, … some rows of the sums need; None where these are many."""
    needed: list[Integers | None] = [None] * steps
    is_wanted = np.zeros(matrix.shape[0], dtype=bool)
    is_wanted[rows] = True
    for place in reversed(range(steps)):
        if FEW * int(is_wanted.sum()) > len(is_wanted):
            break
        needed[place] = found = np.flatnonzero(is_wanted)
        is_wanted[matrix[found].indices] = True
    return needed


def _powers(
    step: sp.csr_array, power: Array, needed: Sequence[Integers | None], context: Context
) -> Iterator[Array]:
    """Give X, S X, S² X, … at the rows that are needed, in two arrays, of which X is one."""
    following = np.empty_like(power)
    yield power
    for rows in needed:
        context.multiply(step, power, rows, following)
        power, following = following, power
        yield power


def _add_to(sums: Sequence[Array], weights: Array, power: Array, context: Context) -> None:
    """Add a power to each of the sums, weighed, in tiles."""

    def tile(rows: slice) -> None:
        for total, weight in zip(sums, weights, strict=True):
            total[rows] += weight * power[rows]

    context.map(tile, context.tiles(len(power), power.shape[1] * power.itemsize))


def _column_parts(values: Array, n_bytes: int) -> list[slice]:
    """Cut the columns into parts of at most so many bytes, of whole cache lines."""
    n_nodes, n_columns = values.shape
    width = min(n_columns, max(16, n_bytes // (n_nodes * values.itemsize) // 16 * 16))
    return [slice(start, min(start + width, n_columns)) for start in range(0, n_columns, width)]


def pagerank_weights(teleports: Sequence[float], steps: int, dtype: Any) -> Array:
    r"""Return what each power of S counts in the PageRanks, of shape (teleports, steps + 1).

    The Chebyshev series of 1 / (1 − q x), q = 1 − a, is 1 + 2 Σ rⁿ Tₙ(x) up to a factor, with
    r = (1 − √(1 − q²)) / q: cut after ``steps``, and divided by its value at 1.

    >>> pagerank_weights([0.5, 1.0], 2, np.float64).round(4)
    array([[0.5099, 0.3191, 0.171 ],
           [1.    , 0.    , 0.    ]])
    """
    found = []
    for teleport in teleports:
        away = 1 - teleport
        ratio = away / (1 + np.sqrt(1 - away**2))  # r, without a division by q = 0
        series = 2 * ratio ** np.arange(steps + 1)
        series[0] = 1
        powers = chebyshev.cheb2poly(series)
        found.append(np.append(powers, np.zeros(steps + 1 - len(powers))) / powers.sum())
    return np.array(found, dtype=dtype)
