"""The leaf of every expression: a base kernel on rows of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.kernels.base_kernels import BaseKernel, InnerProduct
from gpgc.kernels.covariance import Columns, inverse_or_zero, multiplication_by
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.kernels.tangent import WithoutWeights


class Features(WithoutWeights):
    """K_θ(x_m, x_n) for the rows x of a feature matrix.

    Rows come as directions of length 1 beside their lengths, so that one matrix product gives
    the cosines that every base kernel is a function of.

    Parameters
    ----------
    kernel : BaseKernel
        The formula.
    rows : Rows
        The rows of a feature matrix, as directions of length 1 beside their lengths.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, kernel: BaseKernel, rows: Rows, context: Context) -> None:
        super().__init__(rows.shape[0], context, tileable=True)
        self.kernel, self.rows = kernel, rows

    @classmethod
    def of(cls, kernel: BaseKernel, features: Any, context: Context | None = None) -> Self:
        """Return the covariance of the rows of an array or sparse matrix (N, F)."""
        context = context or Context()
        return cls(kernel, StoredRows.of(features, context.dtype), context)

    def __repr__(self) -> str:
        return f"{self.kernel!r} on {self.n_nodes} x {self.rows.shape[1]}"

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

    @property
    def rank(self) -> int | None:
        """The number F of features for the inner product, K = X Xᵀ."""
        return self.rows.shape[1] if isinstance(self.kernel, InnerProduct) else None

    def root(self, rows: Index = None) -> Array:
        """Return the rows themselves, for the inner product."""
        if self.rank is None:
            return super().root(rows)
        unit, norms = self.rows.take(rows)
        return np.asarray((unit.toarray() if sp.issparse(unit) else unit) * norms[:, None])

    def correlation(self, cols: Index = None) -> Columns:
        """Return the cosines themselves for the inner product, K_θ with unit variance else.

        The former may exceed 1 by rounding.
        """
        products, right_norms = self.rows.cosines(cols, self.context)
        if isinstance(self.kernel, InnerProduct):
            return products
        right_scale = inverse_or_zero(np.sqrt(self._variance(right_norms)))

        def columns(rows: Index) -> tuple[Array, Array]:
            cosines, norms = products(rows)
            std = np.sqrt(self._variance(norms))
            block = self.kernel.evaluate(_clip(cosines), norms[:, None], right_norms)
            block *= inverse_or_zero(std)[:, None]
            block *= right_scale
            return block, std

        return columns

    def matmul(self, rows: Index, cols: Index, V: Any) -> Array:
        """Return K_θ[rows, cols] @ V in tiles of rows."""
        columns, chosen = self._columns(cols), self.indices(rows)
        multiply = multiplication_by(V, self.dtype)

        def tile(part: slice) -> Array:
            return multiply(columns(part if rows is None else chosen[part]))

        out = np.empty((len(chosen), V.shape[1]), dtype=self.dtype)
        self.context.fill(out, tile, self.count(cols) * self.dtype.itemsize)
        return out

    def local(self, groups: Integers) -> Array:
        """Return K_θ within many small groups."""
        rows, norms = self.rows.stored().take(groups.ravel())
        norms = norms.reshape(groups.shape)
        unit = rows.toarray() if sp.issparse(rows) else rows
        unit = unit.reshape(*groups.shape, self.rows.shape[1])
        cosine = _clip(unit @ unit.transpose(0, 2, 1))
        diagonal = np.arange(groups.shape[1])
        block = self.kernel.evaluate(cosine, norms[:, :, None], norms[:, None, :])
        block[:, diagonal, diagonal] = self._variance(norms)
        return block

    def _variance(self, norms: Array) -> Array:
        return self.kernel.variance((norms > 0).astype(self.dtype), norms)

    def _columns(self, cols: Index) -> Callable[[Index], Array]:
        """Return a function of rows that gives K_θ[rows, cols]."""
        products, right_norms = self.rows.cosines(cols, self.context)

        def columns(rows: Index) -> Array:
            cosines, norms = products(rows)
            return self.kernel.evaluate(_clip(cosines), norms[:, None], right_norms)

        return columns


def _clip(cosine: Array) -> Array:
    return np.clip(cosine, -1, 1, out=cosine)
