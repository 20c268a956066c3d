"""The leaf of every expression: a base kernel on rows of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.engine import Engine
from gpgc.kernels.base import BaseKernel, InnerProduct
from gpgc.kernels.covariance import Columns, Covariance, inverse_or_zero, multiplication_by
from gpgc.kernels.rows import Rows, StoredRows


class Features(Covariance):
    """K_θ(x_m, x_n) for the rows x of a feature matrix.

    Rows come as directions of length 1 beside their lengths, so that one matrix product gives
    the cosines that every base kernel is a function of.

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
        self.rows: Rows = StoredRows.of(features, self.dtype)

    @classmethod
    def of_rows(cls, kernel: BaseKernel, rows: Rows, engine: Engine | None = None) -> Self:
        """Return the covariance of rows that are given as directions and lengths."""
        made = cls.__new__(cls)
        made.kernel, made.engine, made.dtype, made.rows = (
            kernel,
            engine or Engine(),
            rows.dtype,
            rows,
        )
        made.n_nodes, made.n_features = rows.shape
        return made

    def __repr__(self) -> str:
        return f"{self.kernel!r} on {self.n_nodes} x {self.n_features}"

    def block(self, rows: Index = None, cols: Index = None) -> Array:
        """Return K_θ[rows, cols]."""
        return self._columns(cols)(rows)

    def diag(self, rows: Index = None) -> Array:
        """Return K_θ(x, x), exactly."""
        return self._variance(self.rows.take(rows)[1])

    def dense(self) -> Array:
        """Return K_θ of all rows by the plain formula."""
        unit, norms = self.rows.take(None)
        unit = unit.toarray() if sp.issparse(unit) else unit
        cosine = np.clip(unit @ unit.T, -1, 1)
        np.fill_diagonal(cosine, norms > 0)
        return self.kernel.evaluate(cosine, norms[:, None], norms)

    def correlation(self, cols: Index = None) -> Columns:
        """Return the cosines themselves for the inner product, K_θ with unit variance else.

        The former may exceed 1 by rounding.
        """
        products, right_norms = self.rows.cosines(cols, self.engine)
        if isinstance(self.kernel, InnerProduct):
            return products
        right_scale = inverse_or_zero(np.sqrt(self._variance(right_norms)))

        def columns(rows: Index) -> tuple[Array, Array]:
            cosines, norms = products(rows)
            deviation = np.sqrt(self._variance(norms))
            block = self.kernel.evaluate(_clip(cosines), norms[:, None], right_norms)
            block *= inverse_or_zero(deviation)[:, None]
            block *= right_scale
            return block, deviation

        return columns

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return K_θ[rows, cols] @ V in tiles of rows."""
        columns, chosen = self._columns(cols), self.indices(rows)
        multiply = multiplication_by(V, self.dtype)
        out = np.empty((len(chosen), V.shape[1]), dtype=self.dtype)

        def tile(part: slice) -> None:
            out[part] = multiply(columns(part if rows is None else chosen[part]))

        self.engine.rows(len(chosen), self.count(cols) * self.dtype.itemsize, tile)
        return out

    def local(self, groups: Integers) -> Array:
        """Return K_θ within many small groups."""
        rows, norms = self.rows.stored().take(groups.ravel())
        norms = norms.reshape(groups.shape)
        unit = rows.toarray() if sp.issparse(rows) else rows
        unit = unit.reshape(*groups.shape, self.n_features)
        cosine = _clip(unit @ unit.transpose(0, 2, 1))
        diagonal = np.arange(groups.shape[1])
        block = self.kernel.evaluate(cosine, norms[:, :, None], norms[:, None, :])
        block[:, diagonal, diagonal] = self._variance(norms)
        return block

    def _variance(self, norms: Array) -> Array:
        return self.kernel.variance((norms > 0).astype(self.dtype), norms)

    def _columns(self, cols: Index) -> Callable[[Index], Array]:
        """Return a function of rows that gives K_θ[rows, cols]."""
        products, right_norms = self.rows.cosines(cols, self.engine)

        def columns(rows: Index) -> Array:
            cosines, norms = products(rows)
            return self.kernel.evaluate(_clip(cosines), norms[:, None], right_norms)

        return columns


def _clip(cosine: Array) -> Array:
    return np.clip(cosine, -1, 1, out=cosine)
