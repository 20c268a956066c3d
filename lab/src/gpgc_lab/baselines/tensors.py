"""Sparse products and node features of the systems written in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, embedding_bag

from gpgc_lab.array_types import Array

DENSE = 0.2
"""Features with a larger share of non-zeros are kept as a dense matrix."""


class SparseMatrix:
    """A sparse matrix in front of dense ones, its gradients by products that stay sparse.

    Parameters
    ----------
    matrix : csr_array of shape (N, M)
        Its zeros stay zeros; its values may be replaced in each product.

    Examples
    --------
    >>> matrix = SparseMatrix(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    >>> matrix.times(torch.tensor([[1.0], [3.0]])).ravel()
    tensor([6., 1.])
    >>> matrix.times(torch.tensor([[1.0], [3.0]]), torch.tensor([1.0, 5.0])).ravel()
    tensor([3., 5.])
    """

    def __init__(self, matrix: sp.csr_array) -> None:
        order = sp.csr_array(
            (np.arange(matrix.nnz, dtype=np.float64), matrix.indices, matrix.indptr), matrix.shape
        )
        turned = sp.csr_array(order.T)
        self.shape = matrix.shape
        self.values = torch.from_numpy(matrix.data.astype(np.float32))
        self.columns = torch.from_numpy(matrix.indices.astype(np.int64))
        self.starts = torch.from_numpy(matrix.indptr[:-1].astype(np.int64))
        self.rows = torch.from_numpy(np.repeat(np.arange(self.shape[0]), np.diff(matrix.indptr)))
        self.turned_columns = torch.from_numpy(turned.indices.astype(np.int64))
        self.turned_starts = torch.from_numpy(turned.indptr[:-1].astype(np.int64))
        self.turned_order = torch.from_numpy(turned.data.astype(np.int64))

    def times(self, dense: Tensor, values: Tensor | None = None) -> Tensor:
        """Return the product with a dense matrix (M, K), with other values if given."""
        return _product(self, self.values if values is None else values, dense)


class _Product(torch.autograd.Function):
    """Y = S V: rows of V are summed with weights, which is what a bag of embeddings does."""

    @staticmethod
    def forward(context: Any, matrix: SparseMatrix, values: Tensor, dense: Tensor) -> Tensor:
        context.matrix = matrix
        context.save_for_backward(values, dense)
        return embedding_bag(
            matrix.columns, dense, matrix.starts, mode="sum", per_sample_weights=values
        )

    @staticmethod
    def backward(context: Any, slope: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        matrix = context.matrix
        values, dense = context.saved_tensors
        of_values = of_dense = None
        if context.needs_input_grad[1]:
            of_values = (slope[matrix.rows] * dense[matrix.columns]).sum(dim=1)
        if context.needs_input_grad[2]:
            of_dense = embedding_bag(
                matrix.turned_columns,
                slope.contiguous(),
                matrix.turned_starts,
                mode="sum",
                per_sample_weights=values[matrix.turned_order],
            )
        return None, of_values, of_dense


_product: Callable[..., Tensor] = _Product.apply


class Inputs:
    """Node features whose absolute values add up to one in each row that is not zero.

    Parameters
    ----------
    features : csr_array or ndarray of shape (N, F)
        X.
    """

    def __init__(self, features: sp.csr_array | Array) -> None:
        self.n_features = features.shape[1]
        scaled = sp.csr_array(unit_rows(features), dtype=np.float32)
        self.matrix: SparseMatrix | Tensor
        if scaled.nnz > DENSE * scaled.shape[0] * scaled.shape[1]:
            self.matrix = torch.from_numpy(scaled.toarray())
        else:
            self.matrix = SparseMatrix(scaled)

    def times(self, weights: Tensor, rate: float = 0.0) -> Tensor:
        """Return X W, where each feature of each node is dropped with probability `rate`."""
        if isinstance(self.matrix, SparseMatrix):
            return self.matrix.times(weights, dropout(self.matrix.values, rate))
        return dropout(self.matrix, rate) @ weights

    def tensor(self, rate: float = 0.0) -> Tensor:
        """Return X, sparse where it is sparse, with dropout as in :meth:`times`."""
        if not isinstance(self.matrix, SparseMatrix):
            return dropout(self.matrix, rate)
        places = torch.stack([self.matrix.rows, self.matrix.columns])
        values = dropout(self.matrix.values, rate)
        return torch.sparse_coo_tensor(
            places, values, self.matrix.shape, is_coalesced=True, check_invariants=False
        )


def unit_rows(matrix: sp.csr_array | Array) -> sp.csr_array:
    """Divide each row that is not zero by the sum of its absolute values."""
    total = np.asarray(abs(matrix).sum(axis=1)).ravel()
    scale = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
    return sp.csr_array(sp.diags_array(scale) @ sp.csr_array(matrix))


def edges_with_loops(adjacency: sp.csr_array) -> Tensor:
    """Return the edges (2, E), source above target, with a loop at every node."""
    looped = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"))
    looped.eliminate_zeros()
    target, source = looped.tocoo().coords
    return torch.from_numpy(np.vstack([source, target]).astype(np.int64))


def glorot(rows: int, columns: int) -> nn.Parameter:
    """Return weights drawn uniformly with the variance 2 / (rows + columns)."""
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns)))
