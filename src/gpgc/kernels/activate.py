"""The non-linearity: the covariance after an infinitely wide layer of activations."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute.caching import computed_once
from gpgc.kernels.activations import Activation
from gpgc.kernels.covariance import Both, Columns, Covariance, inverse_or_zero, take
from gpgc.kernels.rectifiers import LeakyReLU, ReLU
from gpgc.kernels.smooth_activations import Identity
from gpgc.kernels.tangent import CarriesTangent

SMOOTH_AT_ONE = (ReLU, LeakyReLU, Identity)
"""Activations that a correlation near 1 and its rounding pass unchanged, however long rows are."""

CHUNK_ROWS = 256
"""Rows that are compared with columns at once."""


class Activate(CarriesTangent):
    """s_m s_n κ̂(c_mn), with c the inner correlations and s the stds after the activation.

    For the ReLU this is κ(K)_mn = √(K_mm K_nn) κ̂(K_mn / √(K_mm K_nn)) (equation 9): variances
    stay as they are, and the 1/π of the paper is twice E[ReLU · ReLU].

    Parameters
    ----------
    inner : Covariance
        K, of the values before the activation.
    activation : Activation, default ReLU
        κ̂ and the standard deviations that follow.
    """

    def __init__(self, inner: Covariance, activation: Activation | None = None) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner, self.activation = inner, activation or ReLU()

    def __repr__(self) -> str:
        return f"{type(self.activation).__name__.lower()}({self.inner!r})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return κ(K)[rows, cols]."""
        block, std = self.correlation(cols)(rows)
        block *= std[:, None]
        block *= self.activation.std(self.std_before(cols))
        return block

    def diag(self, rows: Index = None) -> Array:
        """Return the variances after the activation."""
        return np.asarray(self.activation.std(np.sqrt(self.inner.diag(rows))) ** 2)

    def dense(self) -> Array:
        """Return κ of the inner N × N matrix."""
        matrix = self.inner.dense()
        std = np.sqrt(np.diagonal(matrix))
        inverse, after = inverse_or_zero(std), self.activation.std(std)
        correlation = matrix * np.outer(inverse, inverse)
        self._exact(correlation, None, None, std)
        correlation = self.activation.correlation(correlation, std[:, None], std)
        return np.asarray(correlation * np.outer(after, after))

    def correlation(self, cols: Index = None) -> Columns:
        """Return κ̂ of the inner correlations."""
        before, right = self._before(cols), self.std_before(cols)
        primitives = self.context.primitives(self.n_nodes)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, std = before(rows)
            self._exact(block, rows, cols, std)
            block = self.activation.correlation(block, std[:, None], right, primitives)
            return block, self.activation.std(std)

        return columns

    def local(self, groups: Integers) -> Array:
        """Return κ(K) within many small groups."""
        block, std = self.inner.local(groups), self._inner_std[groups]
        inverse, after = inverse_or_zero(std), self.activation.std(std)
        block *= inverse[:, :, None]
        block *= inverse[:, None, :]
        self._exact_within(block, std)
        primitives = self.context.primitives(self.n_nodes)
        block = self.activation.correlation(block, std[:, :, None], std[:, None, :], primitives)
        block *= after[:, :, None]
        block *= after[:, None, :]
        return block

    def mean(self) -> Array:
        """Return the means E[φ] of all nodes, since the units after it are not centred."""
        return np.asarray(self.activation.mean(self.std_before(None)))

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return κ(K) and Θ E[φ′φ′]."""
        left, right = self.std_before(rows), self.std_before(cols)
        correlation, tangent = _correlations(self.inner.both(rows, cols), left[:, None], right)
        self._exact(correlation, rows, cols, left)
        return self._apply_both(correlation, tangent, left[:, None], right)

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of both."""
        std, (_, tangent) = self.std_before(rows), self.inner.both_diag(rows)
        slope = self.activation.derivative((std > 0).astype(std.dtype), std, std)
        return self.diag(rows), tangent * slope

    def both_local(self, groups: Integers) -> Both:
        """Return both within many small groups."""
        std = self.std_before(groups.ravel()).reshape(groups.shape)
        left, right = std[:, :, None], std[:, None, :]
        correlation, tangent = _correlations(self.inner.both_local(groups), left, right)
        self._exact_within(correlation, std)
        return self._apply_both(correlation, tangent, left, right)

    def both_dense(self) -> Both:
        """Return both N × N matrices."""
        matrix, tangent = self.inner.both_dense()
        std = np.sqrt(np.diagonal(matrix))
        correlation, tangent = _correlations((matrix, tangent), std[:, None], std)
        self._exact(correlation, None, None, std)
        return self._apply_both(correlation, tangent, std[:, None], std)

    def _apply_both(self, correlation: Array, tangent: Array, left: Array, right: Array) -> Both:
        tangent *= self.activation.derivative(correlation, left, right)
        correlation = self.activation.correlation(correlation, left, right)
        correlation *= self.activation.std(left)
        correlation *= self.activation.std(right)
        return correlation, tangent

    def _exact(self, correlation: Array, rows: Index, cols: Index, std: Array) -> None:
        """Put 1 where a node meets itself: rounding there is no small matter for long rows."""
        if isinstance(self.activation, SMOOTH_AT_ONE):
            return
        left, right = self.indices(rows), self.indices(cols)
        for start in range(0, len(left), CHUNK_ROWS):
            part = slice(start, start + CHUNK_ROWS)
            row, column = np.nonzero(left[part, None] == right)
            correlation[row + start, column] = std[row + start] > 0

    def _exact_within(self, correlation: Array, std: Array) -> None:
        """Put 1 on the diagonals of the blocks of groups (B, d, d)."""
        if not isinstance(self.activation, SMOOTH_AT_ONE):
            diagonal = np.arange(correlation.shape[1])
            correlation[:, diagonal, diagonal] = std > 0

    def _before(self, cols: Index) -> Columns:
        """Return the inner correlations.

        Where variances are no by-product of the rows they are computed once for all nodes.
        """
        if self.tileable:
            return self.inner.correlation(cols)
        inverse = inverse_or_zero(self._inner_std)

        def columns(rows: Index) -> tuple[Array, Array]:
            block = self.inner.block(rows, cols)
            block *= take(inverse, rows)[:, None]
            block *= take(inverse, cols)
            return block, take(self._inner_std, rows)

        return columns

    def std_before(self, index: Index) -> Array:
        """Return the standard deviations before the activation."""
        if self.tileable:
            return np.sqrt(self.inner.diag(index))
        return np.asarray(take(self._inner_std, index))

    @computed_once
    def _inner_std(self) -> Array:
        return np.sqrt(self.inner.diag())


def _correlations(both: Both, left: Array, right: Array) -> Both:
    """Return the entries of Γ over the standard deviations, and Θ as it is."""
    K, tangent = both
    K *= inverse_or_zero(left)
    K *= inverse_or_zero(right)
    return K, tangent
