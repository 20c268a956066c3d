"""A posterior that grows by one observation at a time, in weight space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.kernels import Covariance
from gpgc.labelling.growing import Growing

AT_ONCE = 64
"""Observations from which all are taken in by one factorisation, not one at a time."""

TILE_BYTES = 2**26
"""Size of the rows of the root that are worked on at once."""


class GrowingWeights(Growing):
    r"""Regression on the r columns of the root, Γ = ΦΦᵀ, for more observations than columns.

    With :math:`A = \Phi_D^\top \Phi_D + \sigma^2 I` it keeps :math:`P = A^{-1}` and
    :math:`w = P\,\Phi_D^\top Y`. An observation y of a node with the row φ is

    .. math::
        w \leftarrow w + g\,(y - \varphi^\top w), \qquad
        P \leftarrow P - g\,(P\varphi)^\top, \qquad
        g = P\varphi / (1 + \varphi^\top P \varphi)

    and costs O(r² + n r) for n nodes, however many observations there are.

    Parameters and attributes are those of :class:`gpgc.labelling.growing.Growing`; the covariance
    has a ``rank``.

    Examples
    --------
    >>> from gpgc.kernels import Features, InnerProduct
    >>> covariance = Features.of(InnerProduct(), np.array([[1.0], [2.0], [3.0]]))
    >>> posterior = GrowingWeights(covariance, 0.1, n_targets=1)
    >>> posterior.observe([0, 1], [[1.0], [2.0]])
    >>> posterior.mean.round(2).T
    array([[0.98, 1.96, 2.94]])
    """

    def __init__(
        self,
        covariance: Covariance,
        noise_variance: float,
        n_targets: int = 0,
        nodes: Integers | None = None,
    ) -> None:
        super().__init__(covariance, noise_variance, n_targets, nodes)
        rank = covariance.rank or 0
        covariance.context.require(3 * 8 * rank**2, f"{rank:,} × {rank:,} matrices of the weights")
        self._inverse: Array = np.eye(rank) / self.noise_variance
        self._weights: Array = np.zeros((rank, n_targets))
        self._values: Array = np.zeros((0, n_targets))

    def _observe(self, chosen: Integers, values: Array) -> None:
        self.observed += chosen.tolist()
        self._values = np.vstack([self._values, values])
        if len(chosen) >= AT_ONCE:
            self._factorise()
            return
        for row, value in zip(self._root(chosen), values, strict=True):
            self._change(row, value, 1.0)

    def retarget(self, targets: Any) -> None:
        """Give all observations so far other values, of shape (D, k) with any k."""
        self._values = np.asarray(targets, dtype=np.float64)
        self._weights = self._inverse @ self._moments()
        self._answer_means()

    def remove(self, nodes: Any) -> None:
        """Forget observations, one at a time or, of many, by factorising what is left."""
        gone = set(np.asarray(nodes, dtype=np.intp).tolist())
        keep = np.array([node not in gone for node in self.observed], dtype=bool)
        rows = np.array(self.observed, dtype=np.intp)[~keep]
        values, self._values = self._values[~keep], self._values[keep]
        self.observed = [node for node, kept in zip(self.observed, keep, strict=True) if kept]
        if len(rows) >= AT_ONCE:
            self._factorise()
            return
        for row, value in zip(self._root(rows), values, strict=True):
            self._change(row, value, -1.0)

    def residual(self, rows: Integers, columns: Integers) -> Array:
        """Return σ² Φ[rows] P Φ[columns]ᵀ."""
        left = self._root(rows) @ self._inverse
        return np.asarray(self.noise_variance * (left @ self._root(columns).T))

    def widen(self, n_targets: int) -> None:
        """Add columns to the targets, which are 0 in all observations so far."""
        more = ((0, 0), (0, n_targets - self.mean.shape[1]))
        self.mean, self._values = np.pad(self.mean, more), np.pad(self._values, more)
        self._weights = np.pad(self._weights, more)

    def _change(self, row: Array, value: Array, sign: float) -> None:
        """Add an observation, or with −1 take one away: A ± φφᵀ."""
        image = self._inverse @ row
        gain = sign * image / (1 + sign * float(row @ image))
        surprise = value - row @ self._weights
        self._inverse -= np.outer(gain, image)
        self._weights += np.outer(gain, surprise)
        for part, root in self._tiles():
            moved = root @ image
            self.mean[part] += np.outer(root @ gain, surprise)
            lower = self.noise_variance * moved * (root @ gain)
            self.variance[part] = np.maximum(self.variance[part] - lower, 0.0)

    def _factorise(self) -> None:
        """Compute P and w from all observations."""
        gram = np.zeros_like(self._inverse)
        gram[np.diag_indices_from(gram)] = self.noise_variance
        for _, root in self._tiles(np.array(self.observed, dtype=np.intp)):
            gram += root.T @ root
        with small_matrices(len(gram)):
            lower = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
            self._inverse = cho_solve((lower, True), np.eye(len(lower)))
        self._weights = self._inverse @ self._moments()
        self._answer_means()
        for part, root in self._tiles():
            spread = np.einsum("ij,ij->i", root @ self._inverse, root)
            self.variance[part] = self.noise_variance * spread

    def _answer_means(self) -> None:
        self.mean = np.empty((len(self.variance), self._values.shape[1]))
        for part, root in self._tiles():
            self.mean[part] = root @ self._weights

    def _moments(self) -> Array:
        """Return Φ_Dᵀ Y."""
        total: Array = np.zeros((len(self._inverse), self._values.shape[1]))
        for part, root in self._tiles(np.array(self.observed, dtype=np.intp)):
            total += root.T @ self._values[part]
        return total

    def _tiles(self, nodes: Integers | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield slices of nodes, of the kept ones when not given, with their rows of Φ."""
        chosen = self.covariance.indices(self.nodes if nodes is None else nodes)
        size = max(256, self.covariance.context.whole(TILE_BYTES) // (8 * len(self._inverse)))
        for start in range(0, len(chosen), size):
            part = slice(start, start + size)
            yield part, self._root(chosen[part])

    def _root(self, nodes: Integers) -> Array:
        return self.covariance.root(nodes).astype(np.float64)
