"""Many layers that each reach farther, computed one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance
from gpgc.kernels.given import Given

Step: TypeAlias = Callable[[int, Covariance], Covariance]
"""Function of a layer's number, from 0, and of its input's covariance: that of its output."""


class Deep(Covariance):
    """A step that is taken several times, K ← step(K), as N × N matrices.

    A few layers that aggregate reach the whole graph, and each answer of one asks the one below
    several times. Here each layer's matrix is computed once, from the one before, and the last
    is kept: the cost of one step on N × N a layer, whatever is asked, and no deep recursion.

    Parameters
    ----------
    inner : Covariance
        Before the first layer.
    step : callable
        As an expression of the algebra.
    n_layers : int
        How many.

    Examples
    --------
    >>> from gpgc.kernels import DenseLayer
    >>> Deep(Given(np.eye(2)), lambda layer, K: DenseLayer(K, 2.0), 3).block()
    array([[8., 0.],
           [0., 8.]])
    """

    def __init__(self, inner: Covariance, step: Step, n_layers: int) -> None:
        super().__init__(inner.n_nodes, inner.context)
        self.inner, self.step, self.n_layers = inner, step, n_layers

    def __repr__(self) -> str:
        return f"{self.n_layers} layers({self.inner!r})"

    @staticmethod
    def bytes_for(n_nodes: int, dtype: np.dtype[np.floating]) -> int:
        """Return the size of the N × N matrices that are there at once."""
        return 3 * n_nodes**2 * dtype.itemsize

    @computed_once
    def _last(self) -> Given:
        """Γ after the last layer."""
        needed = self.bytes_for(self.n_nodes, self.dtype)
        self.context.require(needed, f"the deep covariance of {self.n_nodes:,} nodes")
        layer: Covariance = self.inner
        for number in range(self.n_layers):
            layer = Given(self.step(number, layer).block(), self.context)
            np.fill_diagonal(layer.matrix, layer.diag())
        return layer if isinstance(layer, Given) else Given(layer.block(), self.context)

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
            matrix = self.step(number, Given(matrix, self.context)).dense()
        return matrix

    def local(self, groups: Integers) -> Array:
        """Return Γ within many small groups."""
        return self._last.local(groups)


MOST_NESTED = 100
"""Layers that are nested in one expression; more would recurse too deeply."""


def layers(inner: Covariance, step: Step, n_layers: int, stored: bool = False) -> Covariance:
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
    """
    if stored or n_layers > MOST_NESTED:
        return Deep(inner, step, n_layers)
    for number in range(n_layers):
        inner = step(number, inner)
    return inner
