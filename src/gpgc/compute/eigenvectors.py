"""Leading eigenvectors of a large sparse symmetric matrix."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute.context import Context

ROUNDS = 8
"""Rounds of two products with the matrix at most."""

EXTRA = 8
"""Vectors beside those that are wanted, which speed up convergence."""

SETTLED = 1e-3
"""Relative change of the sum of the eigenvalues at which the rounds end."""


def leading_eigenvectors(
    matrix: sp.csr_array,
    known: sp.csr_array,
    rank: int,
    seed: int,
    context: Context,
    order: Integers | None = None,
) -> tuple[Array, Array]:
    r"""Return the largest eigenvalues by magnitude, and eigenvectors, of (I − QQᵀ) S (I − QQᵀ).

    Subspace iteration (Halko et al. 2011, algorithm 4.4); Q (``known``) are eigenvectors of S.
    """
    n_nodes = matrix.shape[0]
    width = min(n_nodes, rank + EXTRA)
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n_nodes, width), dtype=np.float32).astype(matrix.dtype)
    if order is not None:
        vectors[order] = vectors.copy()
    total = 0.0
    for _ in range(ROUNDS):
        vectors = _orthonormal(_without(known, vectors))
        once = context.multiply(matrix, vectors)
        # The trace of VᵀS²V, the sum of the squared Ritz values of the subspace.
        before, total = total, float(np.einsum("ij,ij->", once, once, dtype=np.float64))
        vectors = context.multiply(matrix, once)
        if abs(total - before) <= SETTLED * total:
            break
    vectors = _orthonormal(_without(known, vectors))
    ritz = vectors.T @ context.multiply(matrix, vectors)
    values, rotation = np.linalg.eigh(np.asarray((ritz + ritz.T) / 2, dtype=np.float64))
    chosen = np.argsort(-np.abs(values), kind="stable")[: min(rank, width)]
    return values[chosen], vectors @ rotation[:, chosen].astype(matrix.dtype)


def _without(known: sp.csr_array, vectors: Array) -> Array:
    """Return V − Q Qᵀ V."""
    return np.asarray(vectors - known @ (known.T @ vectors))


def _orthonormal(vectors: Array) -> Array:
    """Return an orthonormal basis of the span by the eigenvectors of the Gram matrix, twice."""
    for _ in range(2):
        gram = np.asarray(vectors.T @ vectors, dtype=np.float64)
        values, rotation = np.linalg.eigh(gram)
        floor = float(np.finfo(vectors.dtype).eps) * max(float(values[-1]), 0.0)
        kept = values > floor
        scale = np.where(kept, 1 / np.sqrt(np.where(kept, values, 1.0)), 0.0)
        vectors = vectors @ (rotation * scale).astype(vectors.dtype)
    return vectors
