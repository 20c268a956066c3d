r"""LR: logistic regression on X, or on :math:`\hat A^2 X`, which takes no training of a network.

The penalty is chosen by three-fold cross-validation of the log loss on the training labels where
there are five or more a class on average; else C = 1.
"""

from __future__ import annotations

import warnings
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from gpgc_lab.array_types import Integers
from gpgc_lab.baselines.propagated_features import as_dense, propagated_features
from gpgc_lab.problem import Prediction, Problem

PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
"""C, the inverse of the penalty, from the most regular to the least."""

FOLDS = 3
LEAST_A_CLASS = 5
"""Labels a class, on average, from which on the penalty is chosen."""

MOST_JUDGED = 5000
"""Labels that the penalty is chosen on at most, drawn at random where there are more."""

SPARSE = 0.1
"""Part of non-zeros up to which sparse rows are learnt from as they are."""


def run(problem: Problem, seed: int, steps: int = 0) -> Prediction:
    r"""Learn from the rows of :math:`\hat A^s X`.

    Parameters
    ----------
    problem : Problem
        Graph and labels; those of validation nodes play no part.
    seed : int
        Of the folds.
    steps : int, default 0
        s, how often features are propagated.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    >>> problem = Problem(path, np.eye(4), np.array([0, -1, -1, 1]), np.array([0, 3]),
    ...                   np.array([], dtype=int), 2)
    >>> run(problem, seed=0, steps=2).probabilities.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    start = process_time()
    rows = coordinates(propagated_features(problem, steps), problem.train)
    labels = problem.labels[problem.train]
    given = rows[problem.train]
    with warnings.catch_warnings():  # of classes with one or two labels
        warnings.simplefilter("ignore", UserWarning)
        model = _model(_choose_penalty(given, labels, seed)).fit(given, labels)
    fitted = process_time()
    probabilities = np.zeros((len(problem.labels), problem.n_classes))
    probabilities[:, model.classes_] = model.predict_proba(rows)
    return Prediction(probabilities, fitted - start, process_time() - fitted)


def _model(penalty: float) -> LogisticRegression:
    return LogisticRegression(C=penalty, max_iter=500, warm_start=True)


def _choose_penalty(rows: Any, labels: Integers, seed: int) -> float:
    """Return the C with the least log loss; larger ones are not tried once it rises."""
    if len(labels) < LEAST_A_CLASS * len(np.unique(labels)):
        return 1.0
    if len(labels) > MOST_JUDGED:
        drawn = np.random.default_rng(seed).choice(len(labels), MOST_JUDGED, replace=False)
        rows, labels = rows[drawn], labels[drawn]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    parts = list(folds.split(labels, labels))
    models = [_model(1.0) for _ in parts]
    best, least = 1.0, np.inf
    for penalty in PENALTIES:
        loss = sum(
            _held_out_loss(model.set_params(C=penalty), rows, labels, *part)
            for model, part in zip(models, parts, strict=True)
        )
        if loss >= least:
            break
        best, least = penalty, loss
    return best


def _held_out_loss(
    model: LogisticRegression, rows: Any, labels: Integers, learn: Integers, judge: Integers
) -> float:
    """Return the sum of −log p over held-out labels of classes that were learnt."""
    model.fit(rows[learn], labels[learn])
    judge = judge[np.isin(labels[judge], model.classes_)]
    column = np.searchsorted(model.classes_, labels[judge])
    likely = model.predict_log_proba(rows[judge])[np.arange(len(judge)), column]
    return float(-likely.sum())


def coordinates(rows: Any, train: Integers) -> Any:
    """Return rows (N, F), where training rows are fewer than columns in their space (N, D).

    The weights lie in that space, so that the answers are the same. Rows with few non-zeros, which
    are cheap, stay as they are.
    """
    n_columns = rows.shape[1]
    if issparse(rows) and rows.nnz <= SPARSE * rows.shape[0] * n_columns:
        return rows
    if len(train) >= n_columns:
        return as_dense(rows)
    inner = as_dense(rows @ rows[train].T)
    values, vectors = np.linalg.eigh(inner[train])
    kept = values > values[-1] * len(train) * np.finfo(np.float64).eps
    return np.asarray(inner @ (vectors[:, kept] / np.sqrt(values[kept])))
