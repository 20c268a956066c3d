"""What the systems that are no graph networks share: targets, folds and a linear classifier."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from gpgc_lab.array_types import Array, Integers
from gpgc_lab.problem import Problem


def one_hot(labels: Integers, n_classes: int) -> NDArray[np.float64]:
    """Return the indicators (n, C) of classes (n,).

    Examples
    --------
    >>> one_hot(np.array([1, 0]), 2)
    array([[0., 1.],
           [1., 0.]])
    """
    return np.asarray(np.eye(n_classes)[labels])


def class_shares(problem: Problem) -> NDArray[np.float64]:
    """Return the share (C,) of each class among the training labels."""
    return np.asarray(one_hot(problem.labels[problem.train], problem.n_classes).mean(axis=0))


def learn_and_judge(problem: Problem, seed: int) -> tuple[Integers, Integers]:
    """Divide the labelled nodes into those that settings learn from and those that judge them.

    The training and the validation nodes; where no node is for validation, a third of each class's
    training nodes, rounded down, judges what the others teach, so that no class is lost.
    """
    if len(problem.validation):
        return problem.train, problem.validation
    shuffled = np.random.default_rng(seed).permutation(problem.train)
    classes = problem.labels[shuffled]
    members = [shuffled[classes == label] for label in range(problem.n_classes)]
    judge = np.concatenate([nodes[: len(nodes) // 3] for nodes in members])
    return np.setdiff1d(problem.train, judge), judge


def accuracy(problem: Problem, probabilities: Array, nodes: Integers) -> float:
    """Return the share of nodes whose label is the most probable one; zero where there are none."""
    right = probabilities[nodes].argmax(axis=1) == problem.labels[nodes]
    return float(right.mean()) if nodes.size else 0.0


@dataclass(frozen=True, eq=False)
class LinearClassifier:
    """Logistic regression of each class against the rest.

    Parameters
    ----------
    weights : ndarray of shape (F, C)
    bias : ndarray of shape (C,)
        −∞ for a class without a training label, whose probability is zero.
    """

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]

    @classmethod
    def fit(
        cls, features: csr_array | Array, labels: Integers, n_classes: int, penalty: float = 1.0
    ) -> LinearClassifier:
        """Learn from features (n, F) and their classes (n,), penalising the squared weights."""
        present = np.unique(labels)
        weights = np.zeros((features.shape[1], n_classes))
        bias = np.full(n_classes, -np.inf)
        if len(present) == 1:
            bias[present] = 0.0
            return cls(weights, bias)
        for label in present:
            model = LogisticRegression(C=1 / penalty, max_iter=1000).fit(features, labels == label)
            weights[:, label], bias[label] = model.coef_[0], model.intercept_[0]
        return cls(weights, bias)

    def logits(self, features: csr_array | Array) -> NDArray[np.float64]:
        """Return how much more likely (n, C) each class is than the rest, as a log ratio."""
        return np.asarray(features @ self.weights + self.bias, dtype=np.float64)


def one_against_rest(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the class probabilities (n, C), normalised, of log ratios of each class to the rest.

    Examples
    --------
    >>> one_against_rest(np.array([[0.0, 0.0], [2.0, -np.inf]]))
    array([[0.5, 0.5],
           [1. , 0. ]])
    """
    likely = expit(logits)
    return np.asarray(likely / likely.sum(axis=1, keepdims=True), dtype=np.float64)
