"""The leaf of every expression: a base kernel on rows of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.kernels.base_kernels import BaseKernel, InnerProduct
from gpgc.kernels.covariance import Columns, Covariance, inverse_or_zero
from gpgc.kernels.rows import Rows, StoredRows


class Features(Covariance):
    """K_θ(x_m, x_n) for the rows x of a feature matrix, given as directions beside lengths.

    Parameters
    ----------
    kernel : BaseKernel
        The formula, of the cosine of two rows and their lengths.
    rows : Rows
        The rows of a feature matrix; ``Features.of`` takes an array or sparse matrix (N, F).
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
        columns = self.rows.cosines(cols, self.context)
        cosines, lengths = columns(rows)
        return self._values(cosines, lengths[:, None], columns.std)

    def diag(self, rows: Index = None) -> Array:
        """Return K_θ(x, x), exactly."""
        return self._variance(self.rows.take(rows)[1])

    def dense(self) -> Array:
        """Return K_θ of all rows by the plain formula."""
        unit, lengths = self.rows.take(None)
        unit = unit.toarray() if sp.issparse(unit) else unit
        cosines = unit @ unit.T
        np.fill_diagonal(cosines, lengths > 0)
        return self._values(cosines, lengths[:, None], lengths)

    @property
    def rank(self) -> int | None:
        """The number F of features for the inner product, K = X Xᵀ."""
        return self.rows.shape[1] if isinstance(self.kernel, InnerProduct) else None

    def root(self, rows: Index = None) -> Array:
        """Return the rows themselves, for the inner product."""
        if self.rank is None:
            return super().root(rows)
        unit, lengths = self.rows.take(rows)
        return np.asarray((unit.toarray() if sp.issparse(unit) else unit) * lengths[:, None])

    def correlation(self, cols: Index = None) -> Columns:
        """Return the cosines for the inner product, which may exceed 1 by rounding; else K_θ."""
        cosines = self.rows.cosines(cols, self.context)
        if isinstance(self.kernel, InnerProduct):
            return cosines
        right = np.sqrt(self._variance(cosines.std))
        inverse = inverse_or_zero(right)

        def columns(rows: Index) -> tuple[Array, Array]:
            block, lengths = cosines(rows)
            std = np.sqrt(self._variance(lengths))
            block = self._values(block, lengths[:, None], cosines.std)
            block *= inverse_or_zero(std)[:, None]
            block *= inverse
            return block, std

        return Columns(columns, right)

    def local(self, groups: Integers) -> Array:
        """Return K_θ within many small groups."""
        nodes, position = np.unique(groups, return_inverse=True)
        rows, lengths = self.rows.gathered(nodes)
        position = position.reshape(groups.shape)
        unit, lengths = (rows.toarray() if sp.issparse(rows) else rows)[position], lengths[position]
        cosines = unit @ unit.transpose(0, 2, 1)
        block = self._values(cosines, lengths[:, :, None], lengths[:, None, :])
        diagonal = np.arange(groups.shape[1])
        block[:, diagonal, diagonal] = self._variance(lengths)
        return block

    def _variance(self, lengths: Array) -> Array:
        return self.kernel.variance((lengths > 0).astype(self.dtype), lengths)

    def _values(self, cosines: Array, left: Array, right: Array) -> Array:
        """Return K_θ from cosines, which may exceed 1 by rounding and are overwritten."""
        return self.kernel.evaluate(np.clip(cosines, -1, 1, out=cosines), left, right)
