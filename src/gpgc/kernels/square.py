"""Squares over nodes: two nodes are alike if they are alike to the same nodes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance, inverse_or_zero, take
from gpgc.kernels.low_rank import Rooted

STORE_BYTES = 2**27
"""Size of the root up to which it is kept, so that it is computed once."""

FEW = 4
"""How many times more nodes there are than few of them."""


class Square(Rooted):
    """The cosine of K[m, L] and K[n, L]: two nodes are alike if they are alike to the same nodes.

    With all nodes as landmarks L this is K K at unit variance, which raises each eigenvalue of K to
    its square and so trusts the directions in which the whole graph varies most. A sample of
    landmarks estimates the same sums at a cost that is linear in N.
    """

    def __init__(self, inner: Covariance, landmarks: Integers | None = None) -> None:
        super().__init__(inner.n_nodes, inner.context)
        self.inner, self.landmarks = inner, landmarks

    def __repr__(self) -> str:
        return f"square({self.inner!r})"

    @property
    def rank(self) -> int:
        """The number of landmarks."""
        return self.inner.count(self.landmarks)

    def rows_of_root(self, n_rows: int) -> Callable[[Index], Array]:
        """Return the function that gives rows of K[:, L], scaled to length 1; few are not kept."""
        stored = self._stored if FEW * n_rows > self.n_nodes else None
        if stored is None:
            return self._computed()
        return lambda rows: np.asarray(take(stored, rows))

    @computed_once
    def _stored(self) -> Array | None:
        """The root where it is small enough to keep."""
        size = self.n_nodes * self.rank * self.dtype.itemsize
        if size > self.context.budget(STORE_BYTES):
            return None
        at, out = self._computed(), np.empty((self.n_nodes, self.rank), dtype=self.dtype)
        self.context.fill(out, at, self.rank * self.dtype.itemsize)
        return out

    def _computed(self) -> Callable[[Index], Array]:
        columns = self.inner.correlation(self.landmarks)
        scale_rows = self.context.primitives(self.n_nodes).scale_rows

        def at(rows: Index) -> Array:
            block, std = columns(rows)
            for scale in (std[:, None], columns.std):
                if (scale != 1).any():
                    block *= scale
            return scale_rows(block)[0]

        return at

    def diag(self, rows: Index = None) -> Array:
        """Return 1, or 0 where a row of K is 0; those of many nodes are computed once for all."""
        if FEW * self.count(rows) > self.n_nodes:
            return np.array(take(self._variances, rows))
        return np.rint(super().diag(rows))

    @computed_once
    def _variances(self) -> Array:
        return np.rint(super().diag())

    def dense(self) -> Array:
        """Return the cosines of the rows of K[:, L]."""
        columns = take(self.inner.dense().T, self.landmarks).T
        columns = columns * inverse_or_zero(np.linalg.norm(columns, axis=1))[:, None]
        return np.asarray(columns @ columns.T)
