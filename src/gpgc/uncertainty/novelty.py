"""Nodes that do not belong to any class that was labelled."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.inputs import check_choice
from gpgc.gp import condition
from gpgc.kernels import Center

View = Literal["graph", "features"]


def novelty(estimator: GPGCClassifier, view: View = "graph") -> Array:
    """Return 1 − max_c (Γ_·D (Γ_DD + γ̄I)⁻¹ Y)_c, Γ centered: see the method of the classifier."""
    check_is_fitted(estimator)
    check_choice("view", view, get_args(View))
    if view == "features" and estimator.prior_.nodes.features is None:
        raise InputError("view must be 'graph' for an estimator without features, got 'features'")
    seen = estimator.covariance_ if view == "graph" else estimator.prior_.view("features")
    covariance, labelled = Center(seen), estimator.labelled_nodes_
    noise = np.array([np.mean(covariance.diag(), dtype=np.float64)])
    targets = estimator.posterior_.targets
    claims = condition(covariance, labelled, targets, noise).mean().max(axis=1)
    return np.asarray(1 - claims)
