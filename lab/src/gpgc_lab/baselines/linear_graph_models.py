r"""GraphAny's five linear models with uniform weights, in closed form.

Each is the least-squares fit of the one-hot labels on one of :math:`X, \bar A X, \bar A^2 X,
(I - \bar A) X, (I - \bar A)^2 X`, with :math:`\bar A` the mean over neighbours, and the answer is
the mean of the five. GraphAny itself learns the weights of the five on other graphs.

Reference: J. Zhao et al., *GraphAny: fully-inductive node classification on arbitrary graphs*,
equations 4 and 5 (2025).
"""

from __future__ import annotations

from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from gpgc_lab.array_types import Array, Integers
from gpgc_lab.baselines.classical import one_hot
from gpgc_lab.baselines.propagated_features import as_dense
from gpgc_lab.problem import Prediction, Problem


def run(problem: Problem, seed: int) -> Prediction:
    """Fit the five models; nothing is drawn at random.

    Returns
    -------
    Prediction
        ``probabilities`` are the mean of the least-squares answers: they need not lie between 0
        and 1.

    Examples
    --------
    >>> path = csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    >>> problem = Problem(path, np.eye(4), np.array([0, -1, -1, 1]), np.array([0, 3]),
    ...                   np.array([], dtype=int), 2)
    >>> run(problem, seed=0).probabilities[[0, 3]].argmax(axis=1)
    array([0, 1])
    """
    start = process_time()
    targets = one_hot(problem.labels[problem.train], problem.n_classes)
    answers = [_least_squares(rows, problem.train, targets) for rows in channels(problem)]
    return Prediction(np.mean(answers, axis=0), process_time() - start, 0.0)


def channels(problem: Problem) -> list[csr_array | Array]:
    r"""Return the five matrices (N, F)."""
    degrees = np.asarray(problem.adjacency.sum(axis=1), dtype=np.float64)
    mean = diags_array(1 / np.maximum(degrees, 1e-300) * (degrees > 0)) @ problem.adjacency
    features = problem.features
    near = mean @ features
    unlike = features - near
    return [features, near, mean @ near, unlike, unlike - mean @ unlike]


def _least_squares(
    rows: csr_array | Array, train: Integers, targets: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return F W with the W of least length that fits best, by the smaller of two Gram matrices.

    Singular values below the relative rounding error of float32 times the larger side are zero, as
    in the authors' code.
    """
    given = rows[train]
    tolerance = float((max(given.shape) * np.finfo(np.float32).eps) ** 2)
    if given.shape[0] <= given.shape[1]:
        return np.asarray(rows @ (given.T @ _solve(as_dense(given @ given.T), targets, tolerance)))
    return np.asarray(rows @ _solve(as_dense(given.T @ given), given.T @ targets, tolerance))


def _solve(
    gram: NDArray[np.float64], right: NDArray[np.float64], tolerance: float
) -> NDArray[np.float64]:
    values, vectors = np.linalg.eigh(gram)
    kept = values > tolerance * max(values[-1], 0.0)
    basis = vectors[:, kept]
    return np.asarray(basis @ ((basis.T @ right) / values[kept, None]))
