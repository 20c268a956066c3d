r"""The tangent kernel Θ of an infinitely wide network, by one pass that carries Γ along.

Θ is the inner product of the gradients of a network's outputs by all its weights, which training
by gradient descent leaves as it is where the network is infinitely wide (Jacot et al. 2018;
graphs: Du et al. 2019). Every part says how it passes on both:

.. math::
    \text{dense layer:}\quad \Theta' = \sigma_b^2 + \delta_W (K + \Theta), \qquad
    \text{activation:}\quad \Theta' = \Theta \circ E[\phi'\phi'], \qquad
    \text{aggregation:}\quad \Theta' = S \Theta S^\top
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute import split
from gpgc.kernels.covariance import CHUNK_BYTES, Both, Covariance, times


class WithoutWeights(Covariance):
    """An input of a network, with no weights below it: Θ is 0."""

    def both(self, rows: Index = None, cols: Index = None) -> Both:
        """Return Γ[rows, cols] and zeros."""
        return _with_zeros(self.block(rows, cols))

    def both_diag(self, rows: Index = None) -> Both:
        """Return the diagonal of Γ and zeros."""
        return _with_zeros(self.diag(rows))

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return Γ[rows, cols] @ V and zeros."""
        return _with_zeros(self.matmul(rows, cols, V))

    def both_local(self, groups: Integers) -> Both:
        """Return Γ within many small groups and zeros."""
        return _with_zeros(self.local(groups))

    def both_dense(self) -> Both:
        """Return the N × N matrix Γ and zeros."""
        return _with_zeros(self.dense())


def _with_zeros(values: Array) -> Both:
    return values, np.zeros_like(values)


class CarriesTangent(Covariance):
    """A part with weights below it, whose products and small blocks come from its ``both``."""

    def both_matmul(self, rows: Index, cols: Index, V: Any) -> Both:
        """Return Γ[rows, cols] @ V and Θ[rows, cols] @ V, a few rows or columns at a time."""
        chosen, columns = self.indices(rows), self.indices(cols)
        out = np.zeros((2, len(chosen), V.shape[1]), dtype=self.dtype)
        if self.tileable:

            def tile(part: slice) -> None:
                at = part if rows is None else chosen[part]
                for place, block in enumerate(self.both(at, cols)):
                    out[place, part] = times(block, V)

            row_bytes = 2 * len(columns) * self.dtype.itemsize
            self.context.map(tile, self.context.tiles(len(chosen), row_bytes))
            return out[0], out[1]
        size = self.context.budget(CHUNK_BYTES) // max(1, 2 * len(chosen) * self.dtype.itemsize)
        start = 0
        for chunk in split(columns, size):
            for place, block in enumerate(self.both(rows, chunk)):
                out[place] += times(block, V[start : start + len(chunk)])
            start += len(chunk)
        return out[0], out[1]

    def both_local(self, groups: Integers) -> Both:
        """Return the blocks within small groups, cut from the block of all their nodes."""
        nodes, position = np.unique(groups, return_inverse=True)
        size = 2 * len(nodes) ** 2 * self.dtype.itemsize
        if size > self.context.budget(CHUNK_BYTES) and len(groups) > 1:
            halves = [self.both_local(half) for half in np.array_split(groups, 2)]
            K, tangent = (np.concatenate(pair) for pair in zip(*halves, strict=True))
            return K, tangent
        position = position.reshape(groups.shape)
        at = position[:, :, None], position[:, None, :]
        K, tangent = self.both(nodes, nodes)
        return K[at], tangent[at]


class Tangent(Covariance):
    """Θ, the tangent kernel of the network whose covariance is given.

    Parameters
    ----------
    inner : Covariance
        Γ of the network's outputs, as an expression of the algebra.

    Examples
    --------
    >>> from gpgc.kernels import Activate, DenseLayer, Given
    >>> network = DenseLayer(Activate(DenseLayer(Given(np.eye(2)))))
    >>> Tangent(network).block().round(4)
    array([[2.    , 0.3183],
           [0.3183, 2.    ]])
    """

    def __init__(self, inner: Covariance) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner = inner

    def __repr__(self) -> str:
        return f"tangent({self.inner!r})"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return Θ[rows, cols]."""
        return self.inner.both(rows, cols)[1]

    def diag(self, rows: Index = None) -> Array:
        """Return the diagonal of Θ."""
        return self.inner.both_diag(rows)[1]

    def dense(self) -> Array:
        """Return the N × N matrix Θ by the plain formulas."""
        return self.inner.both_dense()[1]

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Θ[rows, cols] @ V."""
        return self.inner.both_matmul(rows, cols, V)[1]

    def local(self, groups: Integers) -> Array:
        """Return Θ within many small groups."""
        return self.inner.both_local(groups)[1]
