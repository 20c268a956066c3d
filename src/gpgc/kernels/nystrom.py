"""An approximation of finite rank to any covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from gpgc._typing import Array, Index, Integers
from gpgc.compute import small_matrices
from gpgc.compute.caching import computed_once
from gpgc.kernels.covariance import Covariance

JITTER_UNITS = 10.0
"""Roundings of the landmarks' covariance, a row's sum of them, that are added to its diagonal."""


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

    Examples
    --------
    >>> import gpgc
    >>> inner = gpgc.covariance(([0, 1], [1, 2]))
    >>> approximate = Nystrom(inner, np.array([0, 1, 2]))
    >>> bool(np.allclose(approximate.block(), inner.block(), atol=1e-6))
    True
    """

    def __init__(self, inner: Covariance, landmarks: Integers) -> None:
        super().__init__(inner.n_nodes, inner.context, tileable=inner.tileable)
        self.inner, self.landmarks = inner, np.asarray(landmarks, dtype=np.intp)

    def __repr__(self) -> str:
        return f"nystrom({self.inner!r}, {len(self.landmarks)})"

    @property
    def rank(self) -> int:
        """The number of landmarks."""
        return len(self.landmarks)

    def root(self, rows: Index = None) -> Array:
        """Return K[rows, M] L⁻ᵀ with K_MM = L Lᵀ."""
        return self.inner.matmul(rows, self.landmarks, self._whitening)

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
        columns = matrix[:, self.landmarks] @ np.asarray(self._whitening, dtype=np.float64)
        return np.asarray(columns @ columns.T, dtype=self.dtype)

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return Φ[rows] (Φ[cols]ᵀ V)."""
        right = self.root(cols)
        product = (V.T @ right).T if hasattr(V, "tocsr") else right.T @ V
        return np.asarray(self.root(rows) @ np.asarray(product, dtype=self.dtype))

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
