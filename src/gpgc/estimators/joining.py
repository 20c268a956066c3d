"""Features and links of nodes that join a fitted graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from gpgc.errors import InputError
from gpgc.estimators.inputs import with_norm
from gpgc.files import canonical_csr
from gpgc.graph import nearest_links
from gpgc.graph.nodes import JoinedNodes

if TYPE_CHECKING:
    from gpgc.estimators.base import GraphProcess


def join(estimator: GraphProcess, X: Any, links: Any) -> JoinedNodes:
    """Return the fitted nodes of an estimator with those that join.

    Parameters
    ----------
    estimator : GPGCClassifier or GPGCRegressor
        Fitted.
    X : array or sparse matrix of shape (M, F), or None
        Features of the new nodes, None where the fitted ones have none.
    links : array or sparse matrix of shape (M, N) or (M, N + M), or None
        Their links; None for the nearest fitted rows, where the graph was built so.
    """
    nodes = estimator.prior_.nodes
    if nodes.features is None:
        if X is not None or links is None:
            raise InputError(
                "new nodes of a graph without features need X=None and their adjacency"
            )
        n_new = links.shape[0] if sp.issparse(links) else len(np.atleast_2d(links))
        return nodes.joined(links, None, n_new)
    if X is None:
        raise InputError("X must hold the features of the new nodes, got None")
    X = canonical_csr(X, "X") if sp.issparse(X) else X
    number_types = [np.float64, np.float32]
    new = validate_data(estimator, X, accept_sparse="csr", dtype=number_types, reset=False)
    new = with_norm(new, estimator.feature_norm)
    if links is None:
        if not nodes.from_features:
            raise InputError(
                "adjacency of new nodes must be given, of shape (M, N) or (M, N + M): "
                "the fitted graph was not built from features"
            )
        n_neighbors, n_jobs = estimator.n_neighbors, estimator.n_jobs
        links = nearest_links(nodes.features, new, n_neighbors, n_jobs=n_jobs)
    return nodes.joined(links, new, new.shape[0])
