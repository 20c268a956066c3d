"""The leaf of every expression: a base kernel on rows of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.engine import Engine
from gpgc.kernels.base import BaseKernel, InnerProduct
from gpgc.kernels.covariance import Columns, Covariance, inverse_or_zero, take, times

DENSE_FROM = 0.15
"""Share of non-zeros from which a dense product is cheaper than a sparse one."""

DENSE_LIMIT = 2**28
"""Bytes up to which the right-hand side of a sparse product may be made dense."""


class Features(Covariance):
    """K_θ(x_m, x_n) for the rows x of a feature matrix.

    Rows are stored as directions of length 1 beside their lengths, so that one matrix product
    gives the cosines that every base kernel is a function of.

    Parameters
    ----------
    kernel : BaseKernel
        The formula.
    features : array or sparse matrix of shape (N, F)
        Propagated features ÂX.
    dtype : numpy dtype
        float64, the reference, or float32.
    engine : Engine
        What runs the tiles.
    """

    tileable = True

    def __init__(
        self,
        kernel: BaseKernel,
        features: Any,
        dtype: Any = np.float64,
        engine: Engine | None = None,
    ) -> None:
        self.kernel = kernel
        self.engine = engine or Engine()
        self.dtype = np.dtype(dtype)
        self.n_nodes, self.n_features = features.shape
        self.directions, self.norms = _directions(features, self.dtype)

    @classmethod
    def of_directions(
        cls, kernel: BaseKernel, directions: Any, norms: Array, engine: Engine | None = None
    ) -> Self:
        """Return the covariance of rows given as directions of length 1 (or 0) and lengths."""
        made = cls.__new__(cls)
        made.kernel, made.engine, made.dtype = kernel, engine or Engine(), directions.dtype
        made.n_nodes, made.n_features = directions.shape
        made.directions, made.norms = directions, norms
        return made

    def __repr__(self) -> str:
        return f"{self.kernel!r} on {self.n_nodes} x {self.n_features}"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return K_θ[rows, cols]."""
        left, right = take(self.norms, rows)[:, None], take(self.norms, cols)
        return self.kernel.evaluate(self._cosines(cols)(rows), left, right)

    def diag(self, rows: Index = None) -> Array:
        """Return K_θ(x, x), exactly."""
        norms = take(self.norms, rows)
        return self.kernel.variance((norms > 0).astype(self.dtype), norms)

    def dense(self) -> Array:
        """Return K_θ of all rows by the plain formula."""
        unit = self.directions.toarray() if sp.issparse(self.directions) else self.directions
        cosine = np.clip(unit @ unit.T, -1, 1)
        np.fill_diagonal(cosine, self.norms > 0)
        return self.kernel.evaluate(cosine, self.norms[:, None], self.norms)

    def correlation(self, cols: Index = None) -> Columns:
        """Return the cosines themselves for the inner product, K_θ with unit variance else.

        The former may exceed 1 by rounding.
        """
        if isinstance(self.kernel, InnerProduct):
            return self._products(cols)
        cosines = self._cosines(cols)
        scale = inverse_or_zero(np.sqrt(self.diag()))
        norms, right_norms, right_scale = self.norms, take(self.norms, cols), take(scale, cols)

        def columns(rows: Index) -> Array:
            block = self.kernel.evaluate(cosines(rows), take(norms, rows)[:, None], right_norms)
            block *= take(scale, rows)[:, None]
            block *= right_scale
            return block

        return columns

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return K_θ[rows, cols] @ V in tiles of rows."""
        cosines, right = self._cosines(cols), take(self.norms, cols)
        chosen = self.indices(rows)
        out = np.empty((len(chosen), V.shape[1]), dtype=self.dtype)

        def tile(part: slice) -> None:
            left = self.norms[chosen[part], None]
            out[part] = times(self.kernel.evaluate(cosines(chosen[part]), left, right), V)

        self.engine.rows(len(chosen), self.count(cols) * self.dtype.itemsize, tile)
        return out

    def local(self, groups: Integers) -> Array:
        """Return K_θ within many small groups."""
        rows = self.directions[groups.ravel()]
        unit = rows.toarray() if sp.issparse(rows) else rows
        unit = unit.reshape(*groups.shape, self.n_features)
        cosine = _clip(unit @ unit.transpose(0, 2, 1))
        norms = self.norms[groups]
        diagonal = np.arange(groups.shape[1])
        block = self.kernel.evaluate(cosine, norms[:, :, None], norms[:, None, :])
        block[:, diagonal, diagonal] = self.diag(groups.ravel()).reshape(groups.shape)
        return block

    def _cosines(self, cols: Index) -> Columns:
        products = self._products(cols)
        return lambda rows: _clip(products(rows))

    def _products(self, cols: Index) -> Columns:
        """Return a function of rows that gives their products with the chosen columns."""
        unit = self.directions
        right = take(unit, cols)
        if not sp.issparse(unit):
            return lambda rows: take(unit, rows) @ right.T
        if right.shape[0] * right.shape[1] * self.dtype.itemsize <= DENSE_LIMIT:
            by_feature = right.toarray(order="F").T
            return lambda rows: take(unit, rows) @ by_feature
        transposed = right.T.tocsr()
        return lambda rows: (take(unit, rows) @ transposed).toarray()


def _clip(cosine: Array) -> Array:
    return np.clip(cosine, -1, 1, out=cosine)


def propagated_directions(
    propagation: sp.csr_array, features: Any, dtype: np.dtype[Any], engine: Engine
) -> tuple[Any, Array]:
    """Return directions and lengths of the rows of S X, dense where that is cheaper and fits.

    How dense S X can be at the most is known from the rows' numbers of entries, before the product.

    Parameters
    ----------
    propagation : csr_array of shape (M, N)
        S.
    features : array or sparse matrix of shape (N, F)
        X.
    dtype : numpy dtype
        Of the result.
    engine : Engine
        What runs the tiles.

    Returns
    -------
    directions : array or csr_array of shape (M, F)
        Rows of length 1, or 0.
    lengths : array of shape (M,)
    """
    matrix = propagation.astype(dtype)
    shape = (propagation.shape[0], features.shape[1])
    size = shape[0] * shape[1]
    if sp.issparse(features):
        entries = np.diff(features.indptr)[propagation.indices].sum()
        if entries < DENSE_FROM * size or size * dtype.itemsize > 4 * DENSE_LIMIT:
            return _directions(matrix @ features.astype(dtype), dtype)
        features = features.astype(dtype).toarray()
    values = np.asarray(features, dtype=dtype)
    directions, lengths = np.empty(shape, dtype=dtype), np.empty(shape[0], dtype=dtype)

    def tile(rows: slice) -> None:
        directions[rows], lengths[rows] = _directions(matrix[rows] @ values, dtype)

    engine.rows(shape[0], shape[1] * dtype.itemsize, tile)
    return directions, lengths


def _directions(features: Any, dtype: np.dtype[Any]) -> tuple[Any, Array]:
    """Return the rows scaled to length 1 (rows of zeros stay) and their lengths."""
    if sp.issparse(features):
        unit = sp.csr_array(features, dtype=dtype, copy=True)
        squares = sp.csr_array((unit.data**2, unit.indices, unit.indptr), shape=unit.shape)
        norms = np.sqrt(squares.sum(axis=1, dtype=np.float64))
        unit.data *= np.repeat(inverse_or_zero(norms), np.diff(unit.indptr)).astype(dtype)
        return unit, norms.astype(dtype)
    array = np.asarray(features, dtype=dtype)
    norms = np.sqrt(np.einsum("ij,ij->i", array, array))
    return array * inverse_or_zero(norms)[:, None], norms
