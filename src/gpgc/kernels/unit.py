"""Covariances scaled to unit variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance, inverse_or_zero, scale_rows, take


class Unit(Covariance):
    """Γ_mn / √(Γ_mm Γ_nn): a covariance scaled to variance 1 (0 where the variance was 0).

    Parameters
    ----------
    inner : Covariance
        Γ.
    """

    def __init__(self, inner: Covariance) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner = inner

    def __repr__(self) -> str:
        return f"unit({self.inner!r})"

    @computed_once
    def _inverse(self) -> Array:
        return inverse_or_zero(np.sqrt(self.inner.diag()))

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return the correlations of rows and columns."""
        block = self.inner.block(rows, cols)
        block *= take(self._inverse, rows)[:, None]
        block *= take(self._inverse, cols)
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return 1, or 0 where the inner variance is 0."""
        return np.asarray(take(self._inverse, rows) > 0, dtype=self.dtype)

    def dense(self) -> Array:
        """Return the correlations of all nodes."""
        matrix = self.inner.dense()
        inverse = inverse_or_zero(np.sqrt(np.diagonal(matrix)))
        return np.asarray(matrix * np.outer(inverse, inverse))

    @property
    def rank(self) -> int | None:
        """That of Γ."""
        return self.inner.rank

    def root(self, rows: Index = None) -> Array:
        """Return the rows of Γ's root, scaled to length 1."""
        root, _ = self.context.primitives(self.n_nodes).scale_rows(self.inner.root(rows))
        return root

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return the correlations times V."""
        out = self.inner.matmul(rows, cols, scale_rows(take(self._inverse, cols), V))
        out *= take(self._inverse, rows)[:, None]
        return out
