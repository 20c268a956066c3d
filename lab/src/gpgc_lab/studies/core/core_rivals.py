"""What the versions are held against: short programs of scikit-learn, and label propagation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier

from gpgc.graph import neighbor_graph
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.baselines import gradient_boosting, label_propagation, logistic_regression
from gpgc_lab.baselines.propagated_features import as_dense, propagated_features, scaled
from gpgc_lab.problem import Prediction, Problem
from gpgc_lab.studies.core.package_sets import OpenedSet

N_NEIGHBORS, VOTES = 10, 5
"""Of the graph that label propagation gets for a table, and of kNN."""

COLUMNS = 256
"""Leading directions that stand for wider features where values are predicted."""

ALPHAS = tuple(10.0**power for power in range(-3, 6))
GRID = {"alpha": [0.001, 0.01, 0.1, 1.0], "gamma_times": [0.1, 0.3, 1.0, 3.0]}


def class_rivals(opened: OpenedSet) -> dict[str, Callable[[Integers, int], Prediction]]:
    """Return for each rival a function of labels (N,), −1 where unknown, and a seed.

    On a graph without features logistic regression is run on the identity.
    """
    n_classes = int(opened.targets.max()) + 1
    n_nodes = len(opened.targets)
    features = opened.features
    if features is None:
        features = csr_array((np.ones(n_nodes), (range(n_nodes), range(n_nodes))))
    graph = opened.adjacency
    if graph is None:
        graph = neighbor_graph(scaled(features), N_NEIGHBORS, n_jobs=1)

    def problem(labels: Integers) -> Problem:
        nobody = np.array([], dtype=np.int64)
        whole = labels.astype(np.int64)
        return Problem(graph, features, whole, np.flatnonzero(labels >= 0), nobody, n_classes)

    def of(system: Any) -> Callable[[Integers, int], Prediction]:
        return lambda labels, seed: system(problem(labels), seed)

    lines = partial(logistic_regression.run, steps=0)
    return {
        "label propagation": of(label_propagation.run),
        "LR on X": of(lines),
        "LR on Â²X": of(partial(logistic_regression.run, steps=2)),
        "logistic regression": of(lines),
        "kNN": of(_nearest),
        "boosting": of(partial(gradient_boosting.run, steps=(0,))),
    }


def _nearest(problem: Problem, seed: int) -> Prediction:
    """Ask the five nearest labels, with one vote more that is divided among the classes."""
    rows, labels = as_dense(scaled(problem.features)), problem.labels[problem.train]
    n_votes = min(VOTES, len(labels))
    model = KNeighborsClassifier(n_votes).fit(rows[problem.train], labels)
    votes = np.zeros((len(rows), problem.n_classes))
    votes[:, model.classes_] = model.predict_proba(rows)
    return Prediction((n_votes * votes + 1 / votes.shape[1]) / (n_votes + 1), 0.0, 0.0)


def value_rivals(opened: OpenedSet) -> dict[str, Callable[[Integers, int], Array]]:
    r"""Return for each rival a function of the nodes given and a seed; answers are means (N,).

    They see X, and on a graph :math:`[X, \hat A^2 X]`, wide features by their leading directions.
    """
    rows = _rows(opened)

    def of(make: Callable[[int, int], Any]) -> Callable[[Integers, int], Array]:
        def run(given: Integers, seed: int) -> Array:
            model = make(len(given), seed).fit(rows[given], opened.targets[given])
            return np.asarray(model.predict(rows))

        return run

    return {
        "ridge": of(lambda n_given, seed: RidgeCV(ALPHAS)),
        "kernel ridge": of(lambda n_given, seed: _kernel_ridge(rows.shape[1])),
        "boosting": of(
            lambda n_given, seed: HistGradientBoostingRegressor(
                min_samples_leaf=gradient_boosting.leaf_size(n_given), random_state=seed
            )
        ),
    }


def _kernel_ridge(n_columns: int) -> Any:
    """Return kernel ridge regression on centred values, penalty and length chosen by folds."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler

    grid = {
        "alpha": GRID["alpha"],
        "gamma": [times / n_columns for times in GRID["gamma_times"]],
    }
    search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5)
    return TransformedTargetRegressor(search, transformer=StandardScaler())


def _rows(opened: OpenedSet) -> Array:
    features = opened.features
    assert features is not None
    if features.shape[1] > COLUMNS:
        features = TruncatedSVD(COLUMNS, random_state=0).fit_transform(features)
    graph = opened.adjacency
    if graph is None:
        return as_dense(scaled(features))
    nobody = np.array([], dtype=np.int64)
    problem = Problem(graph, features, np.full(len(opened.targets), -1), nobody, nobody, 0)
    return np.hstack([as_dense(propagated_features(problem, steps)) for steps in (0, 2)])


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """Return an answer and its processor seconds."""
    start = process_time()
    answer = run()
    return answer, process_time() - start
