"""The same job by gpgc, by the paper's N × N formulation and by a Nyström approximation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from gpgc import GPGCClassifier
from gpgc_lab.speed.measure import fastest
from gpgc_lab.speed.propagation import propagation
from gpgc_lab.speed.variants import COMPILED, loops
from gpgc_lab.task import Task

BLOCK = 1024
"""Rows that are evaluated at once where the temporaries of N × N would not fit."""


def run(system: str, task: str, noise: float, repeats: int) -> dict[str, Any]:
    """Do the job of a file by one of the systems: seconds and accuracy."""
    given = Task.load(task)
    answers: list[Any] = []
    label = FORMULATIONS[system]
    (seconds,) = fastest([lambda: answers.append(label(given, noise))], repeats)
    return {"seconds": seconds, "accuracy": given.accuracy(answers[-1])}


def run_share(task: str, sparse: bool, n_rows: int) -> dict[str, Any]:
    """Estimate the seconds of the N × N formulation from those of some rows."""
    given = Task.load(task)
    start = perf_counter()
    aggregate = _aggregation(given.problem.adjacency, sparse)
    prepared = perf_counter()
    square_formulation(aggregate, given.problem.features, n_rows)
    done = perf_counter()
    share = n_rows / len(given.problem.labels)
    return {"seconds": prepared - start + (done - prepared) / share}


def exact(task: Task, noise: float, is_compiled: bool = False) -> Any:
    """Label all nodes by gpgc."""
    estimator = GPGCClassifier("big", noise_variance=noise, class_prior="labels", dtype="float32")
    known = np.full(len(task.problem.labels), -1)
    known[task.problem.train] = task.problem.labels[task.problem.train]
    with loops(is_compiled):
        return estimator.fit(
            task.problem.features, known, adjacency=task.problem.adjacency
        ).predict()


def square(task: Task, noise: float, sparse: bool) -> Any:
    """Label all nodes by forming Γ of all pairs of them."""
    gamma = square_formulation(_aggregation(task.problem.adjacency, sparse), task.problem.features)
    return _labels(gamma[:, task.problem.train], task, noise)


def nystrom(task: Task, noise: float) -> Any:
    """Label all nodes by the feature map of a Nyström approximation."""
    features = nystrom_map(task.problem.adjacency, task.problem.features, task.problem.train)
    return _labels(features @ features[task.problem.train].T, task, noise)


FORMULATIONS: dict[str, Callable[[Task, float], Any]] = {
    "exact": exact,
    f"exact{COMPILED}": partial(exact, is_compiled=True),
    "square": partial(square, sparse=False),
    "square, sparse": partial(square, sparse=True),
    "nystrom": nystrom,
}


def square_formulation(aggregate: Any, features: Any, n_rows: int | None = None) -> Any:
    r"""Return :math:`\Gamma = \hat A\, \kappa(\hat A X X^\top \hat A^\top)\, \hat A^\top`.

    Parameters
    ----------
    aggregate : array or csr_array of shape (N, N)
        Â, dense as the paper's formulas have it, or sparse. Its dtype is that of all matrices.
    features : csr_array of shape (N, F)
        X.
    n_rows : int, optional
        How many rows to compute, to see how long all of them would take.
    """
    n_nodes, dtype = aggregate.shape[0], aggregate.dtype
    stop = n_rows or n_nodes
    blocks = [slice(start, min(start + BLOCK, stop)) for start in range(0, stop, BLOCK)]
    inputs = features.toarray().astype(dtype)
    smoothed = np.zeros_like(inputs)
    hidden, half = (np.zeros((n_nodes, n_nodes), dtype=dtype) for _ in range(2))
    for rows in blocks:
        smoothed[rows] = aggregate[rows] @ inputs
    norms = np.linalg.norm(smoothed, axis=1)
    for rows in blocks:
        hidden[rows] = _relu(smoothed[rows] @ smoothed.T, norms[rows], norms)
    for rows in blocks:
        half[rows] = aggregate[rows] @ hidden
    gamma = hidden
    for rows in blocks:
        gamma[rows] = half[rows] @ aggregate.T
    return gamma


def nystrom_map(adjacency: Any, features: Any, landmarks: Any, dtype: Any = np.float32) -> Any:
    """Return Q with Γ ≈ Q Qᵀ, where every layer is known by its columns at the landmarks.

    The base kernel XXᵀ is approximated first, then propagated, which is Q ← ÂQ; the same again
    after κ.
    """
    aggregate = propagation(adjacency, dtype)
    dense = features.toarray().astype(dtype)
    layer = aggregate @ _from_columns(dense @ dense[landmarks].T, landmarks)
    norms = np.linalg.norm(layer, axis=1)
    columns = _relu(layer @ layer[landmarks].T, norms, norms[landmarks])
    return aggregate @ _from_columns(columns, landmarks)


def _aggregation(adjacency: Any, sparse: bool) -> Any:
    aggregate = propagation(adjacency, np.float32)
    return aggregate if sparse else aggregate.toarray()


def _from_columns(columns: Any, landmarks: Any) -> Any:
    """Return Q = K[:, Z] K[Z, Z]^(−1/2), without the directions that rounding drowns."""
    values, vectors = np.linalg.eigh(columns[landmarks].astype(np.float64))
    floor = values[-1] * len(values) * np.finfo(columns.dtype).eps
    kept = values > floor
    return columns @ (vectors[:, kept] / np.sqrt(values[kept])).astype(columns.dtype)


def _relu(inner: Any, left: Any, right: Any) -> Any:
    """Return κ of inner products of rows with these norms (equation 9 of the paper)."""
    scale = np.outer(left, right)
    cosine = np.clip(np.divide(inner, scale, out=np.zeros_like(inner), where=scale > 0), -1, 1)
    angle = np.arccos(cosine)
    return scale * (np.sqrt(1 - cosine**2) + (np.pi - angle) * cosine) / np.pi


def _labels(columns: Any, task: Task, noise: float) -> Any:
    """Return the class with the largest posterior mean."""
    gamma = columns[task.problem.train].astype(np.float64)
    weights = np.linalg.solve(gamma + noise * np.eye(len(gamma)), task.targets())
    return (columns @ weights.astype(columns.dtype)).argmax(axis=1)
