"""The systems of the tables of many labels: a task in, probabilities of all nodes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.graph import normalize
from gpgc_lab.array_types import Array
from gpgc_lab.task import Task

System: TypeAlias = Callable[[Task], "Array | tuple[Array, bool]"]

HIDDEN = 64
EPOCHS = 200
DENSE_COLUMNS = 4096
"""Columns of features up to which kernels of scikit-learn get them as a dense array."""


def gpgc_model(model: str) -> System:
    """Return a model of gpgc with its defaults: views, noise, temperature, class prior chosen."""

    def run(task: Task) -> Array:
        problem = task.problem
        links = problem.adjacency if problem.adjacency.nnz else None
        estimator = GPGCClassifier(model).fit(problem.features, problem.labels, adjacency=links)
        return np.asarray(estimator.predict_proba())

    return run


def logistic_regression(task: Task) -> Array:
    """Return logistic regression on [X, ÂX, Â²X] with the strength 1 that scikit-learn has."""
    from sklearn.linear_model import LogisticRegression

    rows = propagated(task)
    model = LogisticRegression(max_iter=1000)
    model.fit(rows[task.problem.train], task.problem.labels[task.problem.train])
    return np.asarray(model.predict_proba(rows))


def gaussian_process(task: Task) -> Array:
    """Return scikit-learn's Laplace approximation on [X, ÂX, Â²X], its hyper-parameters fitted."""
    from sklearn.gaussian_process import GaussianProcessClassifier
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    rows = _dense(propagated(task))
    model = GaussianProcessClassifier(ConstantKernel() * RBF(), copy_X_train=False)
    model.fit(rows[task.problem.train], task.problem.labels[task.problem.train])
    return np.asarray(model.predict_proba(rows))


def kernel_ridge(task: Task) -> tuple[Array, bool]:
    """Return scores of kernel ridge regression of one-hot labels on [X, ÂX, Â²X]; no chances."""
    from sklearn.kernel_ridge import KernelRidge

    rows = _dense(propagated(task))
    width = 1 / (rows.shape[1] * float(rows.var()))
    model = KernelRidge(alpha=0.1, kernel="rbf", gamma=width)
    model.fit(rows[task.problem.train], task.targets())
    parts = np.array_split(np.arange(len(rows)), max(1, len(rows) // 4096))
    return np.vstack([model.predict(rows[part]) for part in parts]), False


def graph_convolution(task: Task) -> Array:
    """Return a GCN of 64 hidden units, 200 epochs."""
    from gpgc_lab.baselines import graph_convolution as network

    nobody = np.array([], dtype=np.int64)
    problem = replace(task.problem, validation=nobody)
    return np.asarray(network.run(problem, 0, HIDDEN, EPOCHS).probabilities)


def propagated(task: Task) -> Any:
    """Return [X, ÂX, Â²X]."""
    matrix = normalize(task.problem.adjacency)
    rows = [task.problem.features]
    for _ in range(2):
        rows.append(matrix @ rows[-1])
    if sp.issparse(rows[0]):
        return sp.csr_array(sp.hstack(rows))
    return np.hstack(rows)


def _dense(rows: Any) -> Array:
    if not sp.issparse(rows):
        return np.asarray(rows)
    if rows.shape[1] <= DENSE_COLUMNS:
        return np.asarray(rows.toarray())
    from sklearn.decomposition import TruncatedSVD

    return np.asarray(TruncatedSVD(256, random_state=0).fit_transform(rows))


SYSTEMS: dict[str, System] = {
    "gpgc, default": gpgc_model("broad"),
    "gpgc, big": gpgc_model("big"),
    "logistic regression": logistic_regression,
    "kernel ridge": kernel_ridge,
    "GCN": graph_convolution,
    "Gaussian process, scikit-learn": gaussian_process,
}
"""By the name that the tables give them; others may be added."""
