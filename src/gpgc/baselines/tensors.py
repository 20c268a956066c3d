"""What the systems written in PyTorch share: sparse products, node features, training."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, embedding_bag

from gpgc._typing import Array
from gpgc.baselines.problem import Outcome, Problem

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


class Network(nn.Module):
    """A network that is called with nodes (n,) and returns their scores (n, C) before softmax."""

    def penalty(self) -> Tensor | float:
        """Return what the last call adds to the cross-entropy."""
        return 0.0


class Stopping(Protocol):
    """When to stop by the validation nodes, and which weights to keep."""

    def is_over(self, loss: float, accuracy: float, network: Network) -> bool:
        """Return whether the epoch that gave this validation loss and accuracy is the last."""
        ...

    def restore(self, network: Network) -> None:
        """Give the network the weights to keep."""
        ...


class Window:
    """Stop when the loss exceeds the mean of those before it; keep the last weights.

    Parameters
    ----------
    length : int
        How many epochs before the last one the mean is over.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self.losses: list[float] = []

    def is_over(self, loss: float, accuracy: float, network: Network) -> bool:
        """Compare the loss with the window before it, once there is one."""
        before = self.losses[-self.length :]
        self.losses.append(loss)
        return len(self.losses) > self.length + 1 and loss > float(np.mean(before))

    def restore(self, network: Network) -> None:
        """Leave the weights of the last epoch."""


class Patience:
    """Stop when the loss has missed its best for long; go back to the best weights.

    Parameters
    ----------
    length : int
        How many epochs in a row may miss it.
    or_accuracy : bool
        Whether an epoch that reaches the best accuracy counts as well, as for GAT; the weights to
        keep are then those of the last epoch that reached both.
    """

    def __init__(self, length: int, or_accuracy: bool = False) -> None:
        self.length = length
        self.or_accuracy = or_accuracy
        self.missed = 0
        self.least, self.most = float("inf"), 0.0
        self.kept: dict[str, Tensor] = {}

    def is_over(self, loss: float, accuracy: float, network: Network) -> bool:
        """Count the epochs that missed, and keep the weights of the best."""
        by_loss, by_accuracy = loss <= self.least, accuracy >= self.most
        if by_loss and (by_accuracy or not self.or_accuracy):
            self.kept = {name: value.clone() for name, value in network.state_dict().items()}
        reached = by_loss or (by_accuracy and self.or_accuracy)
        self.missed = 0 if reached else self.missed + 1
        self.least, self.most = min(loss, self.least), max(accuracy, self.most)
        return self.missed >= self.length

    def restore(self, network: Network) -> None:
        """Go back to the weights that were kept, if there were validation nodes."""
        if self.kept:
            network.load_state_dict(self.kept)


def learn(
    problem: Problem,
    seed: int,
    prepare: Callable[[], tuple[Network, torch.optim.Optimizer]],
    stopping: Stopping,
    epochs: int,
) -> Outcome:
    """Train a network on the training nodes and ask it about all of them.

    Parameters
    ----------
    problem : Problem
        Graph and labels.
    seed : int
        Of the initial weights and of dropout; the caller's own random numbers stay as they are.
    prepare : callable
        Returns the network and its optimiser.
    stopping : Stopping
        Asked after each epoch, if there are validation nodes.
    epochs : int
        How many at most; just as many without validation nodes.
    """
    torch.optim.SGD([torch.zeros(1)])  # the first optimiser of a process imports for seconds
    start = process_time()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, optimiser = prepare()
        done = _train(problem, network, optimiser, stopping, epochs)
    trained = process_time()
    scores = _scores(network, torch.arange(len(problem.labels)))
    probabilities = torch.softmax(scores.double(), dim=1).numpy()
    return Outcome(probabilities, trained - start, process_time() - trained, done)


def _train(
    problem: Problem,
    network: Network,
    optimiser: torch.optim.Optimizer,
    stopping: Stopping,
    epochs: int,
) -> int:
    train, validation, labels = (
        torch.from_numpy(part) for part in (problem.train, problem.validation, problem.labels)
    )
    done = 0
    while done < epochs:
        done += 1
        network.train()
        optimiser.zero_grad()
        loss = cross_entropy(network(train), labels[train])
        torch.autograd.backward(loss + network.penalty())
        optimiser.step()
        if len(validation):
            scores, truth = _scores(network, validation), labels[validation]
            accuracy = float((scores.argmax(dim=1) == truth).float().mean())
            if stopping.is_over(float(cross_entropy(scores, truth)), accuracy, network):
                break
    stopping.restore(network)
    return done


def _scores(network: Network, nodes: Tensor) -> Tensor:
    network.eval()
    with torch.no_grad():
        scores: Tensor = network(nodes)
    return scores
