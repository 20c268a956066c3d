"""An approximation of finite rank to any covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpstrf

from gpgc._typing import Array, Index, Integers
from gpgc.compute import small_matrices
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance, take
from gpgc.kernels.low_rank import Rooted

JITTER_UNITS = 10.0
"""Roundings of the landmarks' covariance, a row's sum of them, that are added to its diagonal."""

KEPT_BYTES = 2**31
"""Size of the root of all nodes up to which it is kept, for a covariance with a graph inside."""


class Nystrom(Rooted):
    """K[:, M] K_MM⁻¹ K[M, :]: what landmarks M tell about all nodes.

    The best approximation to K within the span of its columns at M: exact where one of two nodes
    is a landmark, and never above K (the difference is positive semi-definite).
    """

    def __init__(
        self, inner: Covariance, landmarks: Integers, whitening: Array | None = None
    ) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner, self.landmarks = inner, np.asarray(landmarks, dtype=np.intp)
        self._given = whitening

    def __repr__(self) -> str:
        return f"nystrom({self.inner!r}, {len(self.landmarks)})"

    @property
    def rank(self) -> int:
        """The number of landmarks."""
        return len(self.landmarks)

    def rows_of_root(self, n_rows: int) -> Callable[[Index], Array]:
        """Return the function :meth:`root`."""
        return self.root

    def root(self, rows: Index = None) -> Array:
        """Return K[rows, M] L⁻ᵀ with K_MM = L Lᵀ."""
        if self._all_rows is not None:
            return np.array(take(self._all_rows, rows))
        return self.inner.matmul(rows, self.landmarks, self.whitening)

    def root_times(self, rows: Index, weights: Array) -> Array:
        """Return K[rows, M] (L⁻ᵀ weights): no row of the root is made."""
        if self._all_rows is not None:
            return super().root_times(rows, weights)
        solved = np.asarray(self.whitening, dtype=np.float64) @ weights
        return self.inner.matmul(rows, self.landmarks, np.asarray(solved, dtype=self.dtype))

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return the product of two roots, which L⁻ᵀ Φ[cols]ᵀ would lose digits of."""
        return np.asarray(self.root(rows) @ self.root(cols).T)

    @computed_once
    def whitening(self) -> Array:
        """L⁻ᵀ with K_MM = L Lᵀ, of shape (r, r)."""
        if self._given is not None:
            return self._given.astype(self.dtype)
        return whitening(self.inner.block(self.landmarks, self.landmarks), self.dtype)

    @computed_once
    def _all_rows(self) -> Array | None:
        """Φ of all nodes, where tiles of it would compute the same neighborhoods many times."""
        size = self.n_nodes * self.rank * self.dtype.itemsize
        if self.tileable or size > self.context.whole(KEPT_BYTES):
            return None
        return self.inner.matmul(None, self.landmarks, self.whitening)

    def dense(self) -> Array:
        """Return K[:, M] K_MM⁻¹ K[M, :], with the jitter that the root has."""
        matrix = np.asarray(self.inner.dense(), dtype=np.float64)
        columns = matrix[:, self.landmarks] @ np.asarray(self.whitening, dtype=np.float64)
        return np.asarray(columns @ columns.T, dtype=self.dtype)


def whitening(block: Array, dtype: Any) -> Array:
    """Return L⁻ᵀ for K_MM = L Lᵀ, in float64 with a jitter of a few roundings of ``dtype``."""
    gram = np.array(block, dtype=np.float64)
    scale = float(np.mean(np.diagonal(gram))) or 1.0
    jitter = JITTER_UNITS * len(gram) * float(np.finfo(dtype).eps) * scale
    with small_matrices(len(gram)):
        gram[np.diag_indices_from(gram)] += jitter
        lower = cholesky(gram, lower=True, overwrite_a=True)
        inverse = solve_triangular(lower, np.eye(len(gram)), lower=True)
    return np.asarray(inverse.T, dtype=dtype)


def choose_landmarks(covariance: Covariance, candidates: Integers, rank: int) -> Integers:
    """Choose at most ``rank`` candidates, each the one of which those before tell least.

    A Cholesky factor with pivots: near copies of a landmark are never chosen.
    """
    gram = np.asarray(covariance.block(candidates, candidates), dtype=np.float64)
    unit = float(np.finfo(covariance.dtype).eps)
    tolerance = JITTER_UNITS * unit * float(np.diagonal(gram).max(initial=0.0))
    with small_matrices(len(gram)):
        _, pivots, found, _ = dpstrf(gram, tol=tolerance, lower=1, overwrite_a=1)
    return np.sort(pivots[: max(1, min(rank, found))] - 1)
