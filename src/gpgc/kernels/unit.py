"""Covariances scaled to unit variance."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance, inverse_or_zero, scale_rows, take, times
from gpgc.kernels.square import Square

FEW = 4
"""How many times more nodes there are than few of them."""


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

    def _inverse_at(self, index: Index) -> Array:
        """Return 1/√Γ_mm: those of few nodes do not ask for all variances."""
        if "_inverse" in self.__dict__ or FEW * self.count(index) > self.n_nodes:
            return np.asarray(take(self._inverse, index))
        return inverse_or_zero(np.sqrt(self.inner.diag(index)))

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return the correlations of rows and columns."""
        block = self.inner.block(rows, cols)
        block *= self._inverse_at(rows)[:, None]
        block *= self._inverse_at(cols)
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return 1, or 0 where the inner variance is 0."""
        return np.asarray(self._inverse_at(rows) > 0, dtype=self.dtype)

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
        """Return the correlations times V; from roots in tiles where those are too large to keep.

        A row of the root gives its own length, so that Φ[rows] (Φ[cols]ᵀ V) asks for each row of
        Γ once, where scales and products each would ask for it.
        """
        if not (isinstance(self.inner, Square) and self.inner.is_streamed):
            out = self.inner.matmul(rows, cols, scale_rows(take(self._inverse, cols), V))
            out *= take(self._inverse, rows)[:, None]
            return out
        return self.root_times(rows, times(self.root(cols).T, V))

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return Φ[rows] @ weights, with rows of Γ's root scaled after the product, not before."""
        if not isinstance(self.inner, Square):
            return super().root_times(rows, weights)
        columns, right = self.inner.column_function(), np.asarray(weights, dtype=self.dtype)
        out = np.empty((self.count(rows), right.shape[1]), dtype=self.dtype)
        chosen = None if rows is None else self.indices(rows)

        def tile(part: slice) -> Array:
            root = columns(part if chosen is None else chosen[part])
            product = root @ right
            product *= inverse_or_zero(np.sqrt(np.einsum("ij,ij->i", root, root)))[:, None]
            return np.asarray(product)

        self.context.fill(out, tile, self.inner.n_landmarks * self.dtype.itemsize)
        return out
