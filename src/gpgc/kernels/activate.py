"""The non-linearity: T_Φ for ReLU, in closed form."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.kernels.compiled import loops_for
from gpgc.kernels.covariance import (
    Columns,
    Covariance,
    inverse_or_zero,
    multiplication_by,
    scale_rows,
)

CHUNK = 2**16
"""Entries that pass all steps of the formula at once: few enough to stay in a core's cache, many
enough that threads seldom wait for each other between two steps."""


def relu_correlation(correlation: Array) -> Array:
    r"""Map the correlation before a ReLU to the one after it, in place.

    .. math:: \hat\kappa(c) = \frac{1}{\pi}\left(\sqrt{1 - c^2} + (\pi - \arccos c)\, c\right)

    which is equation 9 of the paper at unit variance, with cos α = c. It maps 1 to 1 and is well
    conditioned there although the arc cosine is not.

    Examples
    --------
    >>> relu_correlation(np.array([1.0, 0.0, -1.0])).round(6)
    array([1.     , 0.31831, 0.     ])
    """
    if not correlation.flags.c_contiguous:
        correlation[...] = relu_correlation(np.ascontiguousarray(correlation))
        return correlation
    flat = correlation.reshape(-1)
    angles = np.empty(min(CHUNK, flat.size), dtype=flat.dtype)
    sines = np.empty_like(angles)
    for start in range(0, flat.size, CHUNK):
        c = flat[start : start + CHUNK]
        angle, sine = angles[: c.size], sines[: c.size]
        np.clip(c, -1, 1, out=c)
        np.arccos(c, out=angle)
        np.subtract(np.pi, angle, out=angle)
        np.multiply(c, c, out=sine)
        np.subtract(1, sine, out=sine)
        np.sqrt(sine, out=sine)
        c *= angle
        c += sine
        c *= 1 / np.pi
    return correlation


class Activate(Covariance):
    """κ(K)_mn = √(K_mm K_nn) κ̂(K_mn / √(K_mm K_nn)): the covariance after a ReLU (equation 9).

    Variances stay as they are, so only the inner covariance's correlations and its diagonal are
    needed. The 1/π of the paper is twice E[ReLU · ReLU].

    Parameters
    ----------
    inner : Covariance
        Of the values before the activation.
    """

    def __init__(self, inner: Covariance) -> None:
        self.inner = inner
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine
        self.tileable = inner.tileable

    def __repr__(self) -> str:
        return f"relu({self.inner!r})"

    @cached_property
    def _deviation(self) -> Array:
        return np.sqrt(self.inner.diag())

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return κ(K)[rows, cols]."""
        block, deviation = self.correlation(cols)(rows)
        block *= deviation[:, None]
        block *= np.sqrt(self.inner.diag(cols))
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return the inner diagonal."""
        return self.inner.diag(rows)

    def dense(self) -> Array:
        """Return κ of the inner N × N matrix."""
        matrix = self.inner.dense()
        scale = np.sqrt(np.diagonal(matrix))
        inverse = inverse_or_zero(scale)
        correlation = relu_correlation(matrix * np.outer(inverse, inverse))
        return np.asarray(correlation * np.outer(scale, scale))

    def correlation(self, cols: Index = None) -> Columns:
        """Return κ̂ of the inner correlations."""
        before = self.inner.correlation(cols)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, deviation = before(rows)
            return self._relu(block), deviation

        return columns

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return κ(K)[rows, cols] @ V, in tiles of rows where the inner covariance allows it."""
        if not self.tileable:
            return super().matmul(rows, cols, V)
        multiply = multiplication_by(scale_rows(np.sqrt(self.inner.diag(cols)), V), self.dtype)
        correlation, chosen = self.correlation(cols), self.indices(rows)
        out = np.empty((len(chosen), V.shape[1]), dtype=self.dtype)

        def tile(part: slice) -> None:
            block, deviation = correlation(part if rows is None else chosen[part])
            out[part] = multiply(block)
            out[part] *= deviation[:, None]

        self.engine.rows(len(chosen), self.count(cols) * self.dtype.itemsize, tile)
        return out

    def local(self, groups: Integers) -> Array:
        """Return κ(K) within many small groups."""
        block = self.inner.local(groups)
        scale = self._deviation[groups]
        inverse = inverse_or_zero(scale)
        block *= inverse[:, :, None]
        block *= inverse[:, None, :]
        block = self._relu(block)
        block *= scale[:, :, None]
        block *= scale[:, None, :]
        return block

    def _relu(self, correlation: Array) -> Array:
        """Return κ̂ of correlations, in place."""
        loops = loops_for(self.n_nodes, self.dtype)
        if loops is None or not correlation.flags.c_contiguous:
            return relu_correlation(correlation)
        loops.relu_correlation(correlation.reshape(-1))
        return correlation
