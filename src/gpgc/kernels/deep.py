"""Many layers that each reach farther, computed one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance
from gpgc.kernels.given import Given
from gpgc.kernels.low_rank import LowRank
from gpgc.kernels.nystrom import Nystrom, whitening

Step: TypeAlias = Callable[[int, Covariance], Covariance]
"""Function of a layer's number, from 0, and of its input's covariance: that of its output."""


class Deep(Covariance):
    """A step that is taken several times, K ← step(K), each layer computed once and kept.

    A few layers that aggregate reach the whole graph, and each answer of one asks the one below
    several times. Here each layer's matrix is computed once, from the one before, and the last
    is kept: the cost of one step on N × N a layer, whatever is asked, and no deep recursion. With
    landmarks the N × r root of a Nyström approximation is kept in place of N × N numbers.
    """

    n_kernels = 1
    """How many covariances are kept of each layer."""

    def __init__(
        self, inner: Covariance, step: Step, n_layers: int, landmarks: Integers | None = None
    ) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=landmarks is not None)
        self.inner, self.step, self.n_layers = inner, step, n_layers
        self.landmarks = landmarks

    def __repr__(self) -> str:
        return f"{self.n_layers} layers({self.inner!r})"

    @staticmethod
    def bytes_for(n_nodes: int, dtype: np.dtype[np.floating]) -> int:
        """Return the size of the N × N matrices that are there at once."""
        return 3 * n_nodes**2 * dtype.itemsize

    @computed_once
    def _last(self) -> Covariance:
        needed = self.bytes_for(self.n_nodes, self.dtype)
        if self.landmarks is not None:
            needed = 3 * self.n_nodes * len(self.landmarks) * self.dtype.itemsize
        what = f"the deep covariance of {self.n_nodes:,} nodes"
        self.context.require(self.n_kernels * needed, what)
        last = self.after(self.keep)
        return last if self.n_layers else Given(last.block(), self.context)

    def after(self, keep: Callable[[Covariance], Covariance]) -> Covariance:
        """Return the covariance after the last layer, of each of which something is kept."""
        layer = self.inner
        for number in range(self.n_layers):
            layer = keep(self.step(number, layer))
        return layer

    def keep(self, layer: Covariance) -> Covariance:
        """Return what is kept of a layer: all entries, or a Nyström root."""
        if self.landmarks is None:
            return Given(layer.block(), self.context)
        if layer.rank is not None and layer.rank <= len(self.landmarks):
            return LowRank(layer.root(), self.context)
        columns = layer.block(None, self.landmarks)
        root = columns @ whitening(columns[self.landmarks], self.dtype)
        return LowRank(root, self.context)

    @property
    def rank(self) -> int | None:
        """The number of landmarks, or less where the last layer has a smaller rank."""
        return None if self.landmarks is None else self._last.rank

    def root(self, rows: Index = None) -> Array:
        """Return the root that is kept, with landmarks."""
        return super().root(rows) if self.landmarks is None else self._last.root(rows)

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Γ[rows, cols]."""
        return self._last.block(rows, cols)

    def diag(self, rows: Index = None) -> Array:
        """Return the variances."""
        return self._last.diag(rows)

    def dense(self) -> Array:
        """Return the N × N matrix by the plain formulas, layer by layer."""

        def keep(layer: Covariance) -> Covariance:
            matrix = Given(layer.dense(), self.context)
            if self.landmarks is None:
                return matrix
            return Given(Nystrom(matrix, self.landmarks).dense(), self.context)

        return self.after(keep).dense()

    def local(self, groups: Integers) -> Array:
        """Return Γ within many small groups."""
        return self._last.local(groups)


MOST_NESTED = 100
"""Layers that are nested in one expression; more would recurse too deeply."""


def layers(
    inner: Covariance,
    step: Step,
    n_layers: int,
    stored: bool = False,
    landmarks: Integers | None = None,
) -> Covariance:
    """Return the covariance after several layers, nested in one expression or stored."""
    if stored or n_layers > MOST_NESTED:
        return Deep(inner, step, n_layers, landmarks)
    for number in range(n_layers):
        inner = step(number, inner)
    return inner
