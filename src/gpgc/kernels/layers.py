"""Many layers, computed one after the other: deep networks without deep recursion."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gpgc._caching import computed_once
from gpgc._typing import Array, Index, Integers
from gpgc.kernels.activate import activated, relu_for
from gpgc.kernels.combine import check_variances
from gpgc.kernels.covariance import Columns, Covariance, inverse_or_zero


class DenseLayers(Covariance):
    """K ← σ_b² + δ_W κ(K), several times: ReLU layers without aggregation.

    Variances follow v ← σ_b² + δ_W v, and correlations are mapped entry by entry, so that a tile
    passes all layers at once.

    Parameters
    ----------
    inner : Covariance
        Before the first of the layers.
    n_layers : int
        How many.
    weight_variance, bias_variance : float
        δ_W and σ_b².
    """

    def __init__(
        self,
        inner: Covariance,
        n_layers: int,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
    ) -> None:
        check_variances(weight_variance, bias_variance)
        self.inner, self.n_layers = inner, n_layers
        self.weight_variance, self.bias_variance = float(weight_variance), float(bias_variance)
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine
        self.tileable = inner.tileable

    def __repr__(self) -> str:
        return f"{self.n_layers} layers({self.inner!r})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Γ[rows, cols]."""
        block, deviation = self.correlation(cols)(rows)
        block *= deviation[:, None]
        block *= np.sqrt(self.diag(cols))
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return the variances."""
        return self._variances(self.inner.diag(rows))[-1]

    def dense(self) -> Array:
        """Return the N × N matrix, layer by layer."""
        matrix = self.inner.dense()
        for _ in range(self.n_layers):
            matrix = self.weight_variance * activated(matrix) + self.bias_variance
        return matrix

    def correlation(self, cols: Index = None) -> Columns:
        """Return the correlations after the last layer."""
        before, right = self.inner.correlation(cols), self._variances(self.inner.diag(cols))

        def columns(rows: Index) -> tuple[Array, Array]:
            block, deviation = before(rows)
            left = self._variances(deviation**2)
            return self._pass(block, [v[:, None] for v in left], right), np.sqrt(left[-1])

        return columns

    def local(self, groups: Integers) -> Array:
        """Return Γ within many small groups."""
        block = self.inner.local(groups)
        variances = self._variances(self.inner.diag()[groups])
        inverse = inverse_or_zero(np.sqrt(variances[0]))
        block *= inverse[:, :, None]
        block *= inverse[:, None, :]
        left, right = [v[:, :, None] for v in variances], [v[:, None, :] for v in variances]
        block = self._pass(block, left, right)
        block *= np.sqrt(left[-1])
        block *= np.sqrt(right[-1])
        return block

    def _variances(self, first: Array) -> list[Array]:
        """Return the variances before the first layer and after each."""
        found = [first]
        for _ in range(self.n_layers):
            found.append(self.weight_variance * found[-1] + self.bias_variance)
        return found

    def _pass(self, correlation: Array, left: list[Array], right: list[Array]) -> Array:
        """Return correlations after the last layer for those before the first, in place."""
        relu = relu_for(self.n_nodes, self.dtype)
        for layer in range(self.n_layers):
            correlation = relu(correlation)
            if not self.bias_variance:
                continue
            # c ← (σ_b² + δ_W √(v_m v_n) κ̂(c)) / √(v'_m v'_n)
            correlation *= self.weight_variance * np.sqrt(left[layer] / left[layer + 1])
            correlation *= np.sqrt(right[layer] / right[layer + 1])
            correlation += np.sqrt(self.bias_variance / left[layer + 1]) * np.sqrt(
                self.bias_variance / right[layer + 1]
            )
        return correlation


class GraphLayers(Covariance):
    """K ← σ_b² + δ_W S κ(K) Sᵀ, several times: ReLU layers with aggregation over the graph.

    A few layers reach the whole graph, whose N × N matrix is therefore computed, once a layer, and
    the last one kept: N² κ and two sparse products a layer, whatever is asked.

    Parameters
    ----------
    inner : Covariance
        Before the first of the layers.
    matrix : csr_array of shape (N, N)
        S.
    n_layers : int
        How many.
    weight_variance, bias_variance : float
        δ_W and σ_b².
    """

    def __init__(
        self,
        inner: Covariance,
        matrix: sp.csr_array,
        n_layers: int,
        weight_variance: float = 1.0,
        bias_variance: float = 0.0,
    ) -> None:
        check_variances(weight_variance, bias_variance)
        self.inner, self.n_layers = inner, n_layers
        self.matrix = sp.csr_array(matrix, dtype=inner.dtype)
        self.weight_variance, self.bias_variance = float(weight_variance), float(bias_variance)
        self.n_nodes, self.dtype, self.engine = inner.n_nodes, inner.dtype, inner.engine

    def __repr__(self) -> str:
        return f"{self.n_layers} graph layers({self.inner!r})"

    @staticmethod
    def bytes_for(n_nodes: int, dtype: np.dtype[np.floating]) -> int:
        """Return the size of the two N × N matrices that a layer needs."""
        return 2 * n_nodes**2 * dtype.itemsize

    @computed_once
    def _last(self) -> Array:
        """Γ of all nodes after the last layer."""
        needed = self.bytes_for(self.n_nodes, self.dtype)
        self.engine.require(needed, f"the deep covariance of {self.n_nodes:,} nodes")
        matrix = self.inner.block()
        for _ in range(self.n_layers):
            self._activate(matrix)
            matrix = self._aggregate(matrix)
        return matrix

    def _activate(self, matrix: Array) -> None:
        """Apply κ in place."""
        variance = np.maximum(np.diagonal(matrix), 0)
        deviation = np.sqrt(variance)
        inverse = inverse_or_zero(deviation)
        relu = relu_for(self.n_nodes, self.dtype)

        def tile(part: slice) -> None:
            block = matrix[part]
            block *= inverse[part, None]
            block *= inverse
            relu(block)
            block *= deviation[part, None]
            block *= deviation

        self.engine.rows(self.n_nodes, matrix.strides[0], tile)
        np.fill_diagonal(matrix, variance)

    def _aggregate(self, matrix: Array) -> Array:
        """Return σ_b² + δ_W S K Sᵀ for a symmetric K."""
        out = np.empty_like(matrix)

        def tile(part: slice) -> None:
            out[part] = (self.matrix @ (self.matrix[part] @ matrix).T).T
            out[part] *= self.weight_variance
            out[part] += self.bias_variance

        self.engine.rows(self.n_nodes, matrix.strides[0], tile)
        return out

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Γ[rows, cols]."""
        return np.asarray(self._last[np.ix_(self.indices(rows), self.indices(cols))])

    def diag(self, rows: Index = None) -> Array:
        """Return the variances."""
        return np.asarray(np.diagonal(self._last)[self.indices(rows)])

    def dense(self) -> Array:
        """Return the N × N matrix, layer by layer."""
        matrix = self.inner.dense()
        for _ in range(self.n_layers):
            reached = self.matrix @ (self.matrix @ activated(matrix)).T
            matrix = self.weight_variance * np.asarray(reached).T + self.bias_variance
        return matrix

    def local(self, groups: Integers) -> Array:
        """Return Γ within many small groups."""
        return self._last[groups[:, :, None], groups[:, None, :]]
