"""Many layers that each reach farther, computed one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Both, Covariance
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

    Parameters
    ----------
    inner : Covariance
        Before the first layer.
    step : callable
        As an expression of the algebra.
    n_layers : int
        How many.
    landmarks : int array of shape (r,), optional
        Nodes of the Nyström approximation; exact when not given.

    Examples
    --------
    >>> from gpgc.kernels import DenseLayer
    >>> Deep(Given(np.eye(2)), lambda layer, K: DenseLayer(K, 2.0), 3).block()
    array([[8., 0.],
           [0., 8.]])
    """

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

    def _require(self, matrices: int) -> None:
        """Refuse what cannot fit: N × N matrices, or N × r with landmarks."""
        needed = self.bytes_for(self.n_nodes, self.dtype)
        if self.landmarks is not None:
            needed = 3 * self.n_nodes * len(self.landmarks) * self.dtype.itemsize
        self.context.require(matrices * needed, f"the deep covariance of {self.n_nodes:,} nodes")

    @computed_once
    def _last(self) -> Covariance:
        """Γ after the last layer."""
        self._require(1)
        layer: Covariance = self.inner
        for number in range(self.n_layers):
            layer = self._keep(self.step(number, layer))
        return layer if self.n_layers else Given(layer.block(), self.context)

    def _keep(self, layer: Covariance) -> Covariance:
        if self.landmarks is not None:
            if layer.rank is not None and layer.rank <= len(self.landmarks):
                return LowRank(layer.root(), self.context)
            return LowRank(Nystrom(layer, self.landmarks).root(), self.context)
        return Given(layer.block(), self.context)

    @computed_once
    def _last_both(self) -> Covariance:
        """Γ and Θ after the last layer."""
        self._require(2)
        layer: Covariance = self.inner
        for number in range(self.n_layers):
            layer = self._keep_both(self.step(number, layer))
        return layer if self.n_layers else self._keep_both(layer)

    def _keep_both(self, layer: Covariance) -> Covariance:
        K, tangent = layer.both(None, self.landmarks)
        if self.landmarks is None:
            for matrix, variance in zip((K, tangent), layer.both_diag(), strict=True):
                np.fill_diagonal(matrix, variance)
            return Given(K, self.context, tangent)
        roots = [
            LowRank(columns @ whitening(columns[self.landmarks], self.dtype), self.context)
            for columns in (K, tangent)
        ]
        return LowRank(roots[0].factor, self.context, roots[1])

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
        matrix = self.inner.dense()
        for number in range(self.n_layers):
            layer = self.step(number, Given(matrix, self.context))
            matrix = self._approximate(layer.dense())
        return matrix

    def _approximate(self, matrix: Array) -> Array:
        if self.landmarks is None:
            return matrix
        return Nystrom(Given(matrix, self.context), self.landmarks).dense()

    def local(self, groups: Integers) -> Array:
        """Return Γ within many small groups."""
        return self._last.local(groups)

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return Γ[rows, cols] and Θ[rows, cols]."""
        return self._last_both.both(rows, cols)

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonals of both."""
        return self._last_both.both_diag(rows)

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return both times V."""
        return self._last_both.both_matmul(rows, cols, V)

    def both_local(self, groups: Integers) -> Both:
        """Return both within many small groups."""
        return self._last_both.both_local(groups)

    def both_dense(self) -> Both:
        """Return both N × N matrices by the plain formulas, layer by layer."""
        K, tangent = self.inner.both_dense()
        for number in range(self.n_layers):
            layer = self.step(number, Given(K, self.context, tangent))
            K, tangent = (self._approximate(matrix) for matrix in layer.both_dense())
        return K, tangent


MOST_NESTED = 100
"""Layers that are nested in one expression; more would recurse too deeply."""


def layers(
    inner: Covariance,
    step: Step,
    n_layers: int,
    stored: bool = False,
    landmarks: Integers | None = None,
) -> Covariance:
    """Return the covariance after several layers, nested in one expression or stored.

    Parameters
    ----------
    inner : Covariance
        Before the first layer.
    step : callable
        One layer.
    n_layers : int
        How many; more than 100 are stored in any case.
    stored : bool, default False
        Whether each layer is computed as an N × N matrix (:class:`Deep`).
    landmarks : int array of shape (r,), optional
        With ``stored``, nodes of a Nyström approximation of each layer; exact when not given.
    """
    if stored or n_layers > MOST_NESTED:
        return Deep(inner, step, n_layers, landmarks)
    for number in range(n_layers):
        inner = step(number, inner)
    return inner
