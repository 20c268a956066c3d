"""Personalised PageRanks of several teleports at once, which share the powers of the matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import chebyshev

from gpgc._typing import Array, Integers
from gpgc.compute import Context

CACHED_BYTES = 2**19
"""Size of a block of columns that passes all steps of a diffusion at once, in a core's cache."""

POWERS_AT_ONCE = 5
"""Powers that are kept before their weighted sum is taken in one product."""

LARGE_BYTES = 2**26
"""Size of the values from which rows of a power are added to the sums while they are in a cache."""

TILE_ROWS = 2**14
"""Rows of a power that a thread computes at a time."""

POWER_BYTES = 2**28
"""Size of the largest power that is held at once; more columns are diffused one part at a time.

The more columns, the less is read: on a million nodes one step of 128 of them takes 0.77 s with 32
at a time, 0.53 s with 64 and 0.46 s with all; two powers are held."""

FEW = 2
"""How many times more nodes there are than few of them, whose rows alone are computed."""

ALONE_BYTES = 2**30
"""The same where no sums of all nodes are held beside it."""


def pageranks(
    matrix: sp.csr_array,
    values: Array,
    teleports: Sequence[float],
    steps: int,
    context: Context,
) -> list[Array]:
    """Return the PageRanks a (1 − (1 − a) S)⁻¹ X of several teleports; X's memory is used again."""
    dtype = values.dtype
    step = matrix.astype(dtype)
    weights = pagerank_weights(teleports, steps, dtype)
    if values.nbytes >= LARGE_BYTES:
        return _in_row_tiles(step, values, weights, context)
    sums: list[Array] = [np.empty_like(values) for _ in teleports]

    def columns(part: slice) -> None:
        power = np.ascontiguousarray(values[:, part])
        shape = power.shape
        totals = weights[:, :1] * power.reshape(1, -1)
        powers = np.empty((POWERS_AT_ONCE, *shape), dtype=dtype)
        for first in range(1, steps + 1, POWERS_AT_ONCE):
            chunk = weights[:, first : first + POWERS_AT_ONCE]
            for index in range(chunk.shape[1]):
                power = powers[index] = step @ power
            totals += chunk @ powers[: chunk.shape[1]].reshape(chunk.shape[1], -1)
        for out, total in zip(sums, totals, strict=True):
            out[:, part] = total.reshape(shape)

    width = min(128, max(32, CACHED_BYTES // max(1, len(values) * dtype.itemsize)))
    starts = range(0, values.shape[1], width)
    context.map(columns, [slice(start, start + width) for start in starts])
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
    found = [np.empty((len(rows), values.shape[1]), values.dtype) for _ in teleports]
    last = _last_rows(matrix, rows, steps)
    for part in _column_parts(values, context.whole(ALONE_BYTES)):
        is_whole = part.stop - part.start == values.shape[1] and values.flags.c_contiguous
        power = values if is_whole else values[:, part].copy()
        sums = [weight * power[rows] for weight in weights[:, 0]]
        following = np.empty_like(power)
        for number in range(1, steps + 1):
            if number in last:
                _diffuse_at(last[number], step, power, following, context)
            else:
                _diffuse(step, power, following, [], 0, weights[:0, :0], context)
            power, following = following, power
            for total, weight in zip(sums, weights[:, number], strict=True):
                total += weight * power[rows]
        for out, total in zip(found, sums, strict=True):
            out[:, part] = total
    return found


def _last_rows(matrix: sp.csr_array, rows: Integers, steps: int) -> dict[int, Integers]:
    """Return, for the last powers, the rows that some rows of the sums need, where they are few."""
    found: dict[int, Integers] = {}
    is_wanted = np.zeros(matrix.shape[0], dtype=bool)
    is_wanted[rows] = True
    for number in range(steps, 0, -1):
        if FEW * int(is_wanted.sum()) > len(is_wanted):
            break
        found[number] = np.flatnonzero(is_wanted)
        is_wanted[matrix[found[number]].indices] = True
    return found


def _diffuse_at(
    rows: Integers, step: sp.csr_array, power: Array, following: Array, context: Context
) -> None:
    """Write some rows of S @ power, in tiles."""
    multiply = context.primitives(len(power)).rows_times

    def tile(part: slice) -> None:
        following[rows[part]] = multiply(step, rows[part], power)

    context.map(tile, context.tiles(len(rows), power.shape[1] * power.itemsize))


def _in_row_tiles(
    step: sp.csr_array, values: Array, weights: Array, context: Context
) -> list[Array]:
    """Return Σ_l w_al S^l X for each a: two powers and the sums are held, the first where X was."""
    n_powers = weights.shape[1]
    sums = [values if values.flags.c_contiguous else np.ascontiguousarray(values)]
    sums += [np.empty_like(sums[0]) for _ in weights[1:]]
    for part in _column_parts(values, context.whole(POWER_BYTES)):
        power = np.empty((len(values), part.stop - part.start), values.dtype)
        following = np.empty_like(power)
        context.map(partial(_begin, power, sums, part, weights[:, 0]), _row_tiles(len(values)))
        for number in range(1, n_powers):
            # Two powers are added at a time: a sum is read and written half as often.
            added = 2 if number % 2 == 0 else int(number == n_powers - 1)
            counted = np.ascontiguousarray(weights[:, number + 1 - added : number + 1])
            _diffuse(step, power, following, sums, part.start, counted, context)
            power, following = following, power
    return sums


def _begin(
    power: Array, sums: Sequence[Array], columns: slice, weights: Array, rows: slice
) -> None:
    """Write some rows of the first power, from where the first sum is, and of all sums."""
    power[rows] = sums[0][rows, columns]
    for total, weight in zip(sums, weights, strict=True):
        np.multiply(power[rows], weight, out=total[rows, columns])


def _row_tiles(n_nodes: int) -> list[slice]:
    return [slice(start, start + TILE_ROWS) for start in range(0, n_nodes, TILE_ROWS)]


def _diffuse(
    step: sp.csr_array,
    power: Array,
    following: Array,
    sums: Sequence[Array],
    first: int,
    weights: Array,
    context: Context,
) -> None:
    """Write S @ power in tiles of rows, and add both, weighed, to columns of sums."""
    diffuse = context.primitives(len(power)).add_product
    job = partial(
        diffuse, step, right=power, out=following, sums=sums, first=first, weights=weights
    )
    context.map(job, _row_tiles(len(power)))


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
