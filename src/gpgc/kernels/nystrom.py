"""An approximation of finite rank to any covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpstrf

from gpgc._typing import Array, Index, Integers
from gpgc.compute import small_matrices
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance, take, times

JITTER_UNITS = 10.0
"""Roundings of the landmarks' covariance, a row's sum of them, that are added to its diagonal."""

KEPT_BYTES = 2**31
"""Size of the root of all nodes up to which it is kept, for a covariance with a graph inside."""


class Nystrom(Covariance):
    r"""K[:, M] K_MM⁻¹ K[M, :]: what landmarks M tell about all nodes.

    The best approximation to K within the span of its columns at M: exact where one of two nodes
    is a landmark, and never above K (the difference is positive semi-definite).

    Parameters
    ----------
    inner : Covariance
        K.
    landmarks : int array of shape (r,)
        M.
    whitening : array of shape (r, r), optional
        L⁻ᵀ with K_MM = L Lᵀ, where it is known.

    Examples
    --------
    >>> import gpgc
    >>> inner = gpgc.covariance(([0, 1], [1, 2]))
    >>> approximate = Nystrom(inner, np.array([0, 1, 2]))
    >>> bool(np.allclose(approximate.block(), inner.block(), atol=1e-6))
    True
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

    @property
    def whitening(self) -> Array:
        """L⁻ᵀ with K_MM = L Lᵀ, of shape (r, r)."""
        return self._whitening if self._given is None else self._given.astype(self.dtype)

    @computed_once
    def _all_rows(self) -> Array | None:
        """Φ of all nodes, where tiles of it would compute the same neighbourhoods many times."""
        size = self.n_nodes * self.rank * self.dtype.itemsize
        if self.tileable or size > self.context.whole(KEPT_BYTES):
            return None
        return self.inner.matmul(None, self.landmarks, self.whitening)

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return the product of two roots."""
        return np.asarray(self.root(rows) @ self.root(cols).T)

    def diag(self, rows: Index = None) -> Array:
        """Return the squared lengths of the root's rows."""
        root = self.root(rows)
        return np.asarray(np.einsum("ij,ij->i", root, root))

    def dense(self) -> Array:
        """Return K[:, M] K_MM⁻¹ K[M, :], with the jitter that the root has."""
        matrix = np.asarray(self.inner.dense(), dtype=np.float64)
        columns = matrix[:, self.landmarks] @ np.asarray(self.whitening, dtype=np.float64)
        return np.asarray(columns @ columns.T, dtype=self.dtype)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Φ[rows] (Φ[cols]ᵀ V); no row of the root is made but those of the columns."""
        return self.root_times(rows, times(self.root(cols).T, V))

    @computed_once
    def _whitening(self) -> Array:
        """L⁻ᵀ of K_MM."""
        return whitening(self.inner.block(self.landmarks, self.landmarks), self.dtype)


def whitening(block: Array, dtype: Any) -> Array:
    """Return L⁻ᵀ for K_MM = L Lᵀ, in float64 with a jitter of a few roundings of ``dtype``.

    Parameters
    ----------
    block : array of shape (r, r)
        K_MM.
    dtype : numpy dtype
        In which it was computed, and that of the answer.
    """
    gram = np.array(block, dtype=np.float64)
    scale = float(np.mean(np.diagonal(gram))) or 1.0
    jitter = JITTER_UNITS * len(gram) * float(np.finfo(dtype).eps) * scale
    with small_matrices(len(gram)):
        gram[np.diag_indices_from(gram)] += jitter
        lower = cholesky(gram, lower=True, overwrite_a=True)
        inverse = solve_triangular(lower, np.eye(len(gram)), lower=True)
    return np.asarray(inverse.T, dtype=dtype)


def choose_landmarks(covariance: Covariance, candidates: Integers, rank: int) -> Integers:
    """Choose landmarks one by one, each the candidate of which the others tell least.

    A Cholesky factor with pivots: the next pivot has the largest variance that is left given those
    before it, so that near copies of a landmark are never chosen. Fewer are returned where the
    candidates have no more directions.

    Parameters
    ----------
    covariance : Covariance
        K.
    candidates : int array of shape (c,)
        Nodes.
    rank : int
        How many landmarks at most.

    Returns
    -------
    int array
        Sorted indices of ``candidates``.

    Examples
    --------
    >>> import gpgc
    >>> covariance = gpgc.covariance(([0, 1], [1, 2]), np.array([[1.0, 0], [1, 0], [0, 1]]))
    >>> choose_landmarks(covariance, np.array([0, 0, 2]), 2).tolist()
    [0, 2]
    """
    gram = np.asarray(covariance.block(candidates, candidates), dtype=np.float64)
    unit = float(np.finfo(covariance.dtype).eps)
    tolerance = JITTER_UNITS * unit * float(np.diagonal(gram).max(initial=0.0))
    with small_matrices(len(gram)):
        _, pivots, found, _ = dpstrf(gram, tol=tolerance, lower=1, overwrite_a=1)
    return np.sort(pivots[: max(1, min(rank, found))] - 1)
