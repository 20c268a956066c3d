"""Covariances of differences from the mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance, take


class Center(Covariance):
    r"""The covariance of :math:`f - \bar f`, where the mean of f runs over chosen nodes L.

    .. math:: K_{mn} - \mu_m - \mu_n + \bar\mu, \qquad
        \mu_m = \frac{1}{|L|} \sum_{l \in L} K_{ml}, \quad
        \bar\mu = \frac{1}{|L|} \sum_{l \in L} \mu_l

    What all nodes share moves no decision between classes, yet may be most of their covariance;
    here a node that is like the average node has covariance 0 with the others.
    """

    def __init__(self, inner: Covariance, over: Integers | None = None) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner, self.over = inner, over

    def __repr__(self) -> str:
        return f"center({self.inner!r})"

    @computed_once
    def _means(self) -> tuple[Array, Any]:
        """The mean of each row of K over L, and the mean of those over L."""
        n_summed = self.inner.count(self.over)
        fractions = np.full((n_summed, 1), 1 / n_summed, dtype=self.dtype)
        means = self.inner.matmul(None, self.over, fractions)[:, 0]
        return means, take(means, self.over).mean()

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return K[rows, cols] without the means."""
        means, level = self._means
        block = self.inner.block(rows, cols)
        block -= take(means, rows)[:, None]
        block -= take(means, cols) - level
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return K_mm − 2 μ_m + the mean of all."""
        means, level = self._means
        return np.asarray(np.maximum(self.inner.diag(rows) - 2 * take(means, rows) + level, 0))

    @property
    def rank(self) -> int | None:
        """That of K."""
        return self.inner.rank

    def root(self, rows: Index = None) -> Array:
        """Return Φ[rows] less the mean of Φ over L."""
        root = self.inner.root(rows)
        root -= self._root_mean
        return root

    @computed_once
    def _root_mean(self) -> Array:
        return np.asarray(self.inner.root(self.over).mean(axis=0, dtype=np.float64), self.dtype)

    def dense(self) -> Array:
        """Return C K Cᵀ with C = I − 1 s, where s holds 1 / |L| at L."""
        centering = np.eye(self.n_nodes, dtype=self.dtype)
        centering[:, self.indices(self.over)] -= 1 / self.inner.count(self.over)
        return np.asarray(centering @ self.inner.dense() @ centering.T)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return K[rows, cols] @ V without the means."""
        means, level = self._means
        total = np.asarray(V.sum(axis=0))
        out = self.inner.matmul(rows, cols, V)
        out -= np.outer(take(means, rows), total)
        out -= np.asarray(take(means, cols) @ V) - level * total
        return out
