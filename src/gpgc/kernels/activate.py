"""The non-linearity: T_Φ for ReLU, in closed form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gpgc._caching import computed_once
from gpgc._typing import Array, Index, Integers
from gpgc.kernels.compiled import loops_for
from gpgc.kernels.covariance import Columns, Covariance, inverse_or_zero, take

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


def relu_for(n_nodes: int, dtype: np.dtype[Any]) -> Callable[[Array], Array]:
    """Return :func:`relu_correlation`, as machine code where a graph is large enough for it."""
    loops = loops_for(n_nodes, dtype)
    if loops is None:
        return relu_correlation

    def compiled(correlation: Array) -> Array:
        if not correlation.flags.c_contiguous:
            return relu_correlation(correlation)
        loops.relu_correlation(correlation.reshape(-1))
        return correlation

    return compiled


def activated(matrix: Array) -> Array:
    """Return κ of an N × N matrix by the plain formula."""
    scale = np.sqrt(np.diagonal(matrix))
    inverse = inverse_or_zero(scale)
    correlation = relu_correlation(matrix * np.outer(inverse, inverse))
    return np.asarray(correlation * np.outer(scale, scale))


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

    @computed_once
    def _deviation(self) -> Array:
        """Standard deviations of all nodes."""
        return np.sqrt(self.inner.diag())

    @computed_once
    def _inverse(self) -> Array:
        return inverse_or_zero(self._deviation)

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return κ(K)[rows, cols]."""
        block, deviation = self.correlation(cols)(rows)
        block *= deviation[:, None]
        block *= np.sqrt(self.inner.diag(cols)) if self.tileable else take(self._deviation, cols)
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return the inner diagonal."""
        return self.inner.diag(rows)

    def dense(self) -> Array:
        """Return κ of the inner N × N matrix."""
        return activated(self.inner.dense())

    def correlation(self, cols: Index = None) -> Columns:
        """Return κ̂ of the inner correlations.

        Where variances are no by-product of the rows they are computed once for all nodes.
        """
        relu = relu_for(self.n_nodes, self.dtype)
        before = self.inner.correlation(cols) if self.tileable else self._correlation(cols)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, deviation = before(rows)
            return relu(block), deviation

        return columns

    def _correlation(self, cols: Index) -> Columns:
        def columns(rows: Index) -> tuple[Array, Array]:
            block = self.inner.block(rows, cols)
            block *= take(self._inverse, rows)[:, None]
            block *= take(self._inverse, cols)
            return block, take(self._deviation, rows)

        return columns

    def local(self, groups: Integers) -> Array:
        """Return κ(K) within many small groups."""
        block = self.inner.local(groups)
        scale, inverse = self._deviation[groups], self._inverse[groups]
        block *= inverse[:, :, None]
        block *= inverse[:, None, :]
        block = relu_for(self.n_nodes, self.dtype)(block)
        block *= scale[:, :, None]
        block *= scale[:, None, :]
        return block
