r"""Features as the linear systems take them, on one scale, propagated along the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.preprocessing import StandardScaler, normalize

from gpgc import graph
from gpgc_lab.array_types import Array
from gpgc_lab.problem import Problem


def as_dense(matrix: Any) -> NDArray[np.float64]:
    """Return a sparse or dense matrix as an array."""
    return np.asarray(matrix.toarray() if issparse(matrix) else matrix, dtype=np.float64)


def scaled(features: csr_array | Array) -> csr_array | Array:
    """Return sparse rows scaled to length one, columns of dense features standardised.

    Examples
    --------
    >>> scaled(np.array([[1.0, 0.0], [3.0, 0.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    >>> scaled(csr_array([[3.0, 4.0]])).toarray()
    array([[0.6, 0.8]])
    """
    if issparse(features):
        return csr_array(normalize(features))
    return np.asarray(StandardScaler().fit_transform(features))


def propagated_features(problem: Problem, steps: int) -> csr_array | Array:
    r"""Return :math:`\hat A^s X` of scaled X, scaled again in the same way.

    Without the second scaling nodes of large degree decide: with one label a class on Cora,
    logistic regression is right 42 times in a hundred instead of 52.
    """
    rows = scaled(problem.features)
    if not steps:
        return rows
    propagation = graph.normalize(problem.adjacency)
    for _ in range(steps):
        rows = propagation @ rows
    return scaled(rows)
