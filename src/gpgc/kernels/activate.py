"""The non-linearity: the covariance after an infinitely wide layer of activations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.kernels.activations import Activation, Rectifier, ReLU
from gpgc.kernels.covariance import Columns, Covariance, inverse_or_zero

CHUNK_ROWS = 256
"""Rows that are compared with columns at once."""

Question: TypeAlias = Callable[[Covariance], Array]
"""What is asked of a covariance, such as a block."""


class Elementwise(Covariance):
    """A function of the correlations and standard deviations of an inner covariance K."""

    def __init__(self, inner: Covariance, activation: Activation, needs_exact_ones: bool) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner, self.activation, self.needs_exact_ones = inner, activation, needs_exact_ones

    @abstractmethod
    def values(self, correlation: Array, left: Array, right: Array, asked: Question) -> Array:
        """Return what is ``asked`` from inner correlations, to be overwritten, and inner stds."""

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return the values at rows and columns."""
        columns = self.before(cols)
        correlation, std = columns(rows)
        left, right = std[:, None], columns.std
        return self.values(correlation, left, right, lambda part: part.block(rows, cols))

    def dense(self) -> Array:
        """Return the values at the correlations of the inner N × N matrix."""
        matrix = self.inner.dense()
        std = np.sqrt(np.diagonal(matrix))
        inverse = inverse_or_zero(std)
        correlation = matrix * np.outer(inverse, inverse)
        np.fill_diagonal(correlation, std > 0)
        return self.values(correlation, std[:, None], std, lambda part: part.dense())

    def local(self, groups: Integers) -> Array:
        """Return the values within many small groups."""
        block = self.inner.local(groups)
        own = np.maximum(np.einsum("bii->bi", block), 0)  # exact where there is no aggregation
        std = np.sqrt(own) if self.tileable else self.inner.std()[groups]
        inverse = inverse_or_zero(std)
        block *= inverse[:, :, None]
        block *= inverse[:, None, :]
        if self.needs_exact_ones:
            diagonal = np.arange(block.shape[1])
            block[:, diagonal, diagonal] = std > 0
        left, right = std[:, :, None], std[:, None, :]
        return self.values(block, left, right, lambda part: part.local(groups))

    def before(self, cols: Index) -> Columns:
        """Return the inner correlations, with 1 where a node meets itself if that matters."""
        inner = self.inner.correlation(cols)
        if not self.needs_exact_ones:
            return inner
        own = self.indices(cols)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, std = inner(rows)
            left = self.indices(rows)
            for start in range(0, len(left), CHUNK_ROWS):
                row, column = np.nonzero(left[start : start + CHUNK_ROWS, None] == own)
                block[row + start, column] = std[row + start] > 0
            return block, std

        return Columns(columns, inner.std)


class Activate(Elementwise):
    """s_m s_n κ̂(c_mn), with c the inner correlations and s the stds after the activation.

    For the ReLU this is κ(K)_mn = √(K_mm K_nn) κ̂(K_mn / √(K_mm K_nn)) (equation 9): variances
    stay as they are, and the 1/π of the paper is twice E[ReLU · ReLU].
    """

    def __init__(self, inner: Covariance, activation: Activation | None = None) -> None:
        chosen = activation or ReLU()
        # A rectifier passes a correlation near 1 and its rounding unchanged, however long rows are.
        super().__init__(inner, chosen, not isinstance(chosen, Rectifier))

    def __repr__(self) -> str:
        return f"{type(self.activation).__name__.lower()}({self.inner!r})"

    def diag(self, rows: Index = None) -> Array:
        """Return the variances after the activation."""
        return np.asarray(self.activation.std(self.inner.std(rows)) ** 2)

    def correlation(self, cols: Index = None) -> Columns:
        """Return κ̂ of the inner correlations."""
        before, primitives = self.before(cols), self.context.primitives(self.n_nodes)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, std = before(rows)
            block = self.activation.correlation(block, std[:, None], before.std, primitives)
            return block, self.activation.std(std)

        return Columns(columns, self.activation.std(before.std))

    def mean(self) -> Array:
        """Return the means E[φ] of all nodes, since the units after it are not centered."""
        return np.asarray(self.activation.mean(self.inner.std()))

    def values(self, correlation: Array, left: Array, right: Array, asked: Question) -> Array:
        """Return s_m s_n κ̂."""
        primitives = self.context.primitives(self.n_nodes)
        block = self.activation.correlation(correlation, left, right, primitives)
        block *= self.activation.std(left)
        block *= self.activation.std(right)
        return block


class Chain(Elementwise):
    """a κ(K) + κ̇(K) ∘ Θ, with κ̇ = E[φ′φ′]: the chain rule, for tangent kernels.

    Where Θ (``below``) is K itself, as after a network's first layer, K is evaluated once.
    """

    def __init__(self, activated: Activate, below: Covariance, share: float) -> None:
        super().__init__(activated.inner, activated.activation, needs_exact_ones=True)
        self.activated, self.below, self.share = activated, below, share
        self.tileable = activated.tileable and below.tileable

    def __repr__(self) -> str:
        return f"({self.share:g} * {self.activated!r} + its derivative * {self.below!r})"

    def diag(self, rows: Index = None) -> Array:
        """Return the variances."""
        std = self.inner.std(rows)
        correlation = np.asarray(std > 0, dtype=self.dtype)
        return self.values(correlation, std, std, lambda part: part.diag(rows))

    def values(self, correlation: Array, left: Array, right: Array, asked: Question) -> Array:
        """Return a κ + κ̇ ∘ Θ, with Θ as it is ``asked``."""
        is_first = self.below is self.inner
        values = correlation * left * right if is_first else asked(self.below)
        values *= self.activation.derivative(correlation, left, right)
        if self.share:
            values += self.share * self.activated.values(correlation, left, right, asked)
        return values
