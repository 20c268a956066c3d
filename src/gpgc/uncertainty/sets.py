"""Sets of classes that hold the true one with a chosen probability.

A class is in the set of a node where 1 − p is at most a threshold, which gives the smallest sets
on average (Sadinle, Lei and Wasserman, 2019). Adaptive sets (Romano, Sesia and Candès, 2020) were
three times as large on Cora.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier


def conformal_quantile(scores: Any, level: float) -> float:
    """Return the ⌈(n + 1) · level⌉-th smallest score; infinity where n is too small for that."""
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}")
    ranked = np.sort(np.asarray(scores, dtype=np.float64))
    rank = int(np.ceil(np.round((len(ranked) + 1) * level, 9)))
    return float(ranked[rank - 1]) if rank <= len(ranked) else float("inf")


def split_conformal_sets(
    estimator: GPGCClassifier, nodes: Any, y: Any, level: float = 0.9
) -> NDArray[np.bool_]:
    """Return where 1 − p ≤ q, (N, k), q the quantile of 1 − p_y of labels that fit did not see."""
    held_out, codes = estimator.held_out(nodes, y)
    scores = 1 - estimator.predict_proba()
    return np.asarray(scores <= conformal_quantile(scores[held_out, codes], level))


def leave_one_out_sets(estimator: GPGCClassifier, level: float = 0.9) -> NDArray[np.bool_]:
    """Return where 1 − p ≤ q, (N, k), q the quantile of 1 − p_y of labels left out in turn."""
    left_out, codes = 1 - estimator.leave_one_out_proba(), estimator.codes_
    threshold = conformal_quantile(left_out[np.arange(len(codes)), codes], level)
    return np.asarray(1 - estimator.predict_proba() <= threshold)
