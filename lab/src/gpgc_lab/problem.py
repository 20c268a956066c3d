"""What every system of the comparison is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from gpgc.datasets import Dataset
    from gpgc_lab.array_types import Array


@dataclass(frozen=True, eq=False)
class Problem:
    """A graph with the labels that a system may see; the test labels are not among them.

    Parameters
    ----------
    adjacency : csr_array of shape (N, N)
        Symmetric, without self-loops, non-negative weights.
    features : csr_array or ndarray of shape (N, F)
        One row per node.
    labels : ndarray of int64, shape (N,)
        Class 0, ..., C − 1 of the training and validation nodes; −1 everywhere else.
    train, validation : ndarray of int64
        Labels of training nodes are learnt from. Those of validation nodes (possibly none) choose
        among settings and epochs, and are learnt from only by a system whose name ends in X.
    n_classes : int
        C.
    """

    adjacency: csr_array
    features: csr_array | Array
    labels: NDArray[np.int64]
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    n_classes: int

    @classmethod
    def of(cls, data: Dataset, adjacency: csr_array | None = None) -> Problem:
        """Hide the test labels of a data set, whose graph is given where it brings none."""
        graph = data.adjacency if adjacency is None else adjacency
        seen = np.concatenate([data.train, data.validation])
        labels = np.full(len(data.labels), -1, dtype=np.int64)
        labels[seen] = data.labels[seen]
        return cls(graph, data.features, labels, data.train, data.validation, len(data.classes))


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a system says of every node, and how long it took.

    Seconds are processor time of the one core that a system runs on, so that those of a busy
    machine count as well. On one core equal seeds give equal bits; on more, sums in another order
    may differ in the last digits.

    Parameters
    ----------
    probabilities : ndarray of shape (N, C)
        Class probabilities; rows add up to one. Systems without probabilities of their own give
        their normalised scores.
    train_seconds : float
        From the problem to a fitted system, preparation of the graph included.
    predict_seconds : float
        From the fitted system to the probabilities of all nodes.
    epochs : int or None
        Passes over the training data, for systems that are trained by them.
    """

    probabilities: Array
    train_seconds: float
    predict_seconds: float
    epochs: int | None = None


class System(Protocol):
    """A way to label the nodes of a graph."""

    def __call__(self, problem: Problem, seed: int) -> Prediction:
        """Learn from the problem's labels and return what is said of all nodes."""
        ...
