"""The dense layer: σ_b² + δ_W K."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.kernels.covariance import Both, Columns, Covariance


class DenseLayer(Covariance):
    """σ_b² + δ_W K: an infinitely wide dense layer with bias (equation 8).

    Its tangent kernel is σ_b² + δ_W (K + Θ): what its own weights add, and what passes through.

    Parameters
    ----------
    inner : Covariance
        K, of the layer's input.
    weight_variance : float
        δ_W, the variance of a weight times the width.
    bias_variance : float
        σ_b².
    fixed_variance : float, default 0
        Variance of weights that are not trained, times the width: they add to K, and of the
        tangent kernel they pass on what is below.
    """

    def __init__(
        self,
        inner: Covariance,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
        fixed_variance: float = 0.0,
    ) -> None:
        if not np.isfinite(weight_variance) or weight_variance <= 0:
            raise InputError(f"weight_variance must be finite and above 0, got {weight_variance!r}")
        if not np.isfinite(bias_variance) or bias_variance < 0:
            raise InputError(f"bias_variance must be finite and at least 0, got {bias_variance!r}")
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner = inner
        self.weight_variance, self.bias_variance = float(weight_variance), float(bias_variance)
        self.fixed_variance = float(fixed_variance)

    @property
    def _factor(self) -> float:
        """By what K is multiplied."""
        return self.weight_variance + self.fixed_variance

    def __repr__(self) -> str:
        bias = f"{self.bias_variance:g} + " if self.bias_variance else ""
        return f"{bias}{self._factor:g} * {self.inner!r}"

    def _apply(self, values: Array) -> Array:
        values *= self._factor
        values += self.bias_variance
        return values

    def _apply_both(self, both: Both) -> Both:
        K, tangent = both
        tangent *= self._factor
        tangent += self.weight_variance * K
        tangent += self.bias_variance
        return self._apply(K), tangent

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return σ_b² + δ_W K and σ_b² + δ_W (K + Θ)."""
        return self._apply_both(self.inner.both(rows, cols))

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of both."""
        return self._apply_both(self.inner.both_diag(rows))

    def both_local(self, groups: Integers) -> Both:
        """Return both within many small groups."""
        return self._apply_both(self.inner.both_local(groups))

    def both_dense(self) -> Both:
        """Return both N × N matrices."""
        return self._apply_both(self.inner.both_dense())

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return both times V."""
        product, tangent = self.inner.both_matmul(rows, cols, V)
        bias = self.bias_variance * np.asarray(V.sum(axis=0))
        tangent = self._factor * tangent + self.weight_variance * product + bias
        return self._factor * product + bias, tangent

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return σ_b² + δ_W K[rows, cols]."""
        return self._apply(self.inner.block(rows, cols))

    def diag(self, rows: Index = None) -> Array:
        """Return σ_b² + δ_W diag(K)."""
        return self._factor * self.inner.diag(rows) + self.bias_variance

    def dense(self) -> Array:
        """Return σ_b² + δ_W K."""
        return self._apply(self.inner.dense())

    @property
    def rank(self) -> int | None:
        """That of the input, and 1 for a bias."""
        inner = self.inner.rank
        return None if inner is None else inner + bool(self.bias_variance)

    def root(self, rows: Index = None) -> Array:
        """Return [√δ_W Φ, σ_b]."""
        root = self.inner.root(rows)
        root *= self.dtype.type(self._factor**0.5)
        if not self.bias_variance:
            return root
        bias = np.full((len(root), 1), self.bias_variance**0.5, dtype=root.dtype)
        return np.hstack([root, bias])

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return √δ_W Φ[rows] @ weights, and σ_b times the last of them."""
        if not self.bias_variance:
            return self.inner.root_times(rows, self._factor**0.5 * weights)
        answer = self.inner.root_times(rows, self._factor**0.5 * weights[:-1])
        answer += np.asarray(self.bias_variance**0.5 * weights[-1], dtype=answer.dtype)
        return answer

    def correlation(self, cols: Index = None) -> Columns:
        """Return the inner correlations where there is no bias, which δ_W does not change."""
        if self.bias_variance:
            return super().correlation(cols)
        inner, scale = self.inner.correlation(cols), self.dtype.type(self._factor**0.5)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, std = inner(rows)
            return block, scale * std

        return columns

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return σ_b² (1 1ᵀ) V + δ_W K[rows, cols] @ V."""
        out = self.inner.matmul(rows, cols, V)
        out *= self._factor
        if self.bias_variance:
            out += self.bias_variance * np.asarray(V.sum(axis=0))
        return out

    def local(self, groups: Integers) -> Array:
        """Return σ_b² + δ_W K within many small groups."""
        return self._apply(self.inner.local(groups))
