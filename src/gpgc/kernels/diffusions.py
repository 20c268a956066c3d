"""Propagation over more than one hop, applied step by step and never formed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array
from gpgc.compute import Context
from gpgc.errors import InputError

CACHED_BYTES = 2**19
"""Size of a block of columns that passes all steps of a diffusion at once, in a core's cache."""

POWERS_AT_ONCE = 5
"""Powers that are kept before their weighted sum is taken in one product."""

LARGE_BYTES = 2**26
"""Size of the values from which rows of a power are added to the sums while they are in a cache."""

TILE_ROWS = 2**14
"""Rows of a power that a thread computes at a time."""

POWER_BYTES = 3 * 2**26
"""Size of the largest power that is held at once; more columns are diffused one part at a time.

The more columns, the less is read: on a million nodes one step of 128 of them takes 2.0 processor
seconds with 32 at a time, 1.4 with 64 and 1.2 with all; two powers are held."""


class Diffusion(Protocol):
    """A linear operator P on functions of the nodes."""

    def apply(self, values: Any) -> Array:
        """Return P @ values for values of shape (N, k)."""

    def apply_transposed(self, values: Any) -> Array:
        """Return Pᵀ @ values for values of shape (N, k)."""


@dataclass(frozen=True, eq=False)
class Power:
    """S^steps: as many hops of a sparse matrix.

    Examples
    --------
    >>> Power(sp.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]])), 2).apply(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    matrix: sp.csr_array
    steps: int

    def __post_init__(self) -> None:
        check_steps(self.steps)

    def __repr__(self) -> str:
        return f"power({self.steps})"

    def apply(self, values: Any) -> Array:
        """Return S^steps @ values."""
        return _repeat(self.matrix, values, self.steps)

    def apply_transposed(self, values: Any) -> Array:
        """Return (Sᵀ)^steps @ values."""
        return _repeat(sp.csr_array(self.matrix.T), values, self.steps)


@dataclass(frozen=True, eq=False)
class PageRank:
    r"""Personalised PageRank: Z ← (1 − teleport) S Z + teleport X, ``steps`` times from Z = X.

    The first terms of :math:`a (I - (1-a) S)^{-1}`: a mean over walks of all lengths, shorter ones
    weighing more.

    Parameters
    ----------
    matrix : csr_array of shape (N, N)
        S.
    teleport : float
        a, in (0, 1]; the smaller, the farther it reaches.
    steps : int
        How often.

    Examples
    --------
    >>> pair = sp.csr_array(np.full((2, 2), 0.5))
    >>> PageRank(pair, teleport=0.1, steps=10).apply(np.eye(2)).round(4)
    array([[0.55, 0.45],
           [0.45, 0.55]])
    """

    matrix: sp.csr_array
    teleport: float = 0.1
    steps: int = 10

    def __post_init__(self) -> None:
        check_steps(self.steps)
        if not 0 < self.teleport <= 1:
            raise InputError(f"teleport must lie above 0 and up to 1, got {self.teleport!r}")

    def __repr__(self) -> str:
        return f"pagerank({self.teleport:g})"

    def apply(self, values: Any) -> Array:
        """Return P @ values."""
        return self._iterate(self.matrix, values)

    def apply_transposed(self, values: Any) -> Array:
        """Return Pᵀ @ values."""
        return self._iterate(sp.csr_array(self.matrix.T), values)

    def _iterate(self, matrix: sp.csr_array, values: Any) -> Array:
        restart = self.teleport * _dense(values)
        current = _dense(values)
        step = sp.csr_array((1 - self.teleport) * matrix).astype(restart.dtype)
        for _ in range(self.steps):
            current = step @ current
            current += restart
        return np.asarray(current)


def pageranks(
    matrix: sp.csr_array,
    values: Array,
    teleports: Sequence[float],
    steps: int,
    context: Context,
) -> list[Array]:
    """Return PageRank(matrix, a, steps).apply(values) for several teleports a at once.

    They share the powers of the matrix, so that many cost hardly more than one.

    Parameters
    ----------
    matrix : csr_array of shape (N, N)
        S.
    values : array of shape (N, k)
        X; its memory may be used again, so that it holds something else afterwards.
    teleports : sequence of float
        The values of a.
    steps : int
        How often.
    context : Context
        How arithmetic is done.

    Returns
    -------
    list of arrays of shape (N, k)
    """
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


def _in_row_tiles(
    step: sp.csr_array, values: Array, weights: Array, context: Context
) -> list[Array]:
    """Return Σ_l w_al S^l X for each a: two powers and the sums are held, the first one as X was.

    A row of a power is added to the sums while it is in a cache, and many columns are read at
    once, which is what a large graph, whose neighbours are anywhere in memory, takes its time for.
    """
    (n_nodes, n_columns), n_powers = values.shape, weights.shape[1]
    sums = [values if values.flags.c_contiguous else np.ascontiguousarray(values)]
    sums += [np.empty_like(sums[0]) for _ in weights[1:]]
    diffuse = context.primitives(n_nodes).add_product
    size = context.whole(POWER_BYTES) // (n_nodes * values.itemsize)
    width = min(n_columns, max(16, size // 16 * 16))
    tiles = [slice(start, start + TILE_ROWS) for start in range(0, n_nodes, TILE_ROWS)]
    for first in range(0, n_columns, width):
        part = slice(first, min(first + width, n_columns))
        power = sums[0][:, part].copy()
        following = np.empty_like(power)
        for total, weight in zip(sums, weights[:, 0], strict=True):
            np.multiply(power, weight, out=total[:, part])
        for number in range(1, n_powers):
            # Two powers are added at a time: a sum is read and written half as often.
            added = 2 if number % 2 == 0 else int(number == n_powers - 1)
            job = partial(diffuse, step, right=power, out=following, sums=sums, first=first)
            counted = weights[:, number + 1 - added : number + 1]
            context.map(partial(job, weights=counted), tiles)
            power, following = following, power
    return sums


def pagerank_weights(teleports: Sequence[float], steps: int, dtype: Any) -> Array:
    """Return what each power of S counts in the PageRanks, of shape (teleports, steps + 1).

    P_a X = Σ_l a (1 − a)^l S^l X, and (1 − a)^steps S^steps X for the last power: what the
    iteration Z ← (1 − a) S Z + a X gives from Z = X after so many steps.

    Examples
    --------
    >>> pagerank_weights([0.5], 2, np.float64)
    array([[0.5 , 0.25, 0.25]])
    """
    exponents = np.arange(steps + 1)
    weights = np.array([a * (1 - a) ** exponents for a in teleports], dtype=dtype)
    weights[:, -1] /= np.asarray(teleports, dtype=dtype)
    return weights


def check_steps(steps: int) -> None:
    """Refuse a number of steps that is none."""
    if int(steps) != steps or steps < 1:
        raise InputError(f"steps must be a whole number of at least 1, got {steps!r}")


def _repeat(matrix: sp.csr_array, values: Any, steps: int) -> Array:
    current = _dense(values)
    for _ in range(steps):
        current = matrix @ current
    return np.asarray(current)


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if sp.issparse(values) else values)
