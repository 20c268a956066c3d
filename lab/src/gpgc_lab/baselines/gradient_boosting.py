"""Gradient boosting of trees on features as they are and, on a graph, on their propagated sums."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier

from gpgc_lab.baselines.propagated_features import as_dense, propagated_features
from gpgc_lab.problem import Prediction, Problem

COLUMNS = 64
"""Leading directions that stand for wider features."""


def leaf_size(n_labels: int) -> int:
    """Return the least labels of a leaf: a tenth of all, 20 at most as scikit-learn has it.

    Examples
    --------
    >>> leaf_size(6), leaf_size(140), leaf_size(5000)
    (1, 14, 20)
    """
    return int(np.clip(n_labels // 10, 1, 20))


def run(problem: Problem, seed: int, *, steps: Sequence[int] = (0, 2)) -> Prediction:
    r"""Learn from :math:`[\hat A^s X]_s`; without steps of the graph from X alone."""
    start = process_time()
    parts = [propagated_features(problem, one) for one in steps]
    rows = np.hstack(
        [
            TruncatedSVD(COLUMNS, random_state=seed).fit_transform(part)
            if part.shape[1] > COLUMNS
            else as_dense(part)
            for part in parts
        ]
    )
    labels = problem.labels[problem.train]
    model = HistGradientBoostingClassifier(
        min_samples_leaf=leaf_size(len(labels)), random_state=seed
    )
    model.fit(rows[problem.train], labels)
    fitted = process_time()
    shares = np.zeros((len(rows), problem.n_classes))
    shares[:, model.classes_] = model.predict_proba(rows)
    return Prediction(shares, fitted - start, process_time() - fitted)
