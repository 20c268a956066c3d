"""Nodes that do not belong to any class that was labelled."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.gp import condition
from gpgc.kernels import Center

View = Literal["graph", "features"]


def novelty(estimator: GPGCClassifier, view: View = "graph") -> Array:
    r"""Return how little each node belongs to the labelled classes, larger is stranger.

    .. math:: 1 - \max_c \left(\Gamma_{\cdot D}\, (\Gamma_{DD} + \bar\gamma I)^{-1} Y\right)_c

    for 0/1 labels Y and the centered covariance Γ (:class:`gpgc.kernels.Center`) of mean variance
    :math:`\bar\gamma`, which is also the noise. Centered, a node that is like the average one
    correlates with no label, and so no class claims it; uncentred, every class claims every node
    through what all nodes share.

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted.
    view : {"graph", "features"}
        ``"graph"`` looks by the estimator's covariance, for nodes of a class without labels;
        ``"features"`` by the features alone, for nodes whose features are damaged, which the
        neighbors hide in the other view.

    Returns
    -------
    array of shape (N,)
        About 0 for nodes that surely belong, about 1 for those that do not.

    Examples
    --------
    The triangle in the middle has no label.

    >>> import gpgc
    >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
    >>> y = [0, 0, -1, -1, -1, -1, 1, 1, -1]
    >>> estimator = gpgc.GPGCClassifier().fit(None, y, adjacency=triangles)
    >>> novelty(estimator).round(1)
    array([0.4, 0.4, 0.4, 1.5, 1.5, 1.5, 0.4, 0.4, 0.4])
    """
    check_is_fitted(estimator)
    if view not in get_args(View):
        raise InputError(f"view must be one of {', '.join(get_args(View))}, got {view!r}")
    if view == "features" and estimator.prior_.nodes.features is None:
        raise InputError("view must be 'graph' for an estimator without features, got 'features'")
    seen = estimator.covariance_ if view == "graph" else estimator.prior_.view("features")
    covariance, labelled = Center(seen), estimator.labelled_nodes_
    noise = np.array([np.mean(covariance.diag(), dtype=np.float64)])
    targets = estimator.posterior_.targets
    claims = condition(covariance, labelled, targets, noise).mean().max(axis=1)
    return np.asarray(1 - claims)
