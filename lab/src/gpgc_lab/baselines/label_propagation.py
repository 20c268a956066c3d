r"""LP: labels spread along the edges until every node is the mean of its neighbours.

With the Laplacian :math:`L = D - W` of the graph and the one-hot labels :math:`Y_\ell` of the
training nodes, the harmonic function of the others solves :math:`L_{uu} F_u = W_{u\ell} Y_\ell`;
its rows are the probabilities that a random walk reaches a label of each class first. Each class is
then weighed by its share of the labels over its mass in :math:`F_u`, since with few labels on a
large graph F is nearly constant and one class would take all.

References
----------
Zhu, Ghahramani and Lafferty, *Semi-supervised learning using Gaussian fields and harmonic
functions*, equations 5 and 9 (2003).
"""

from __future__ import annotations

from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg

from gpgc_lab.baselines.classical import class_shares, one_hot
from gpgc_lab.problem import Prediction, Problem


def run(problem: Problem, seed: int) -> Prediction:
    """Spread the training labels; nodes that no label reaches get the shares of the classes.

    Features are not looked at and nothing is drawn at random: all seeds give the same answer.
    """
    start = process_time()
    shares = class_shares(problem)
    probabilities = np.tile(shares, (len(problem.labels), 1))
    probabilities[problem.train] = one_hot(problem.labels[problem.train], problem.n_classes)
    unknown = _reached(problem)
    prepared = process_time()
    if unknown.size:
        rows = csr_array(problem.adjacency[unknown])
        inflow = rows[:, problem.train] @ probabilities[problem.train]
        harmonic = _harmonic(rows, unknown, inflow)
        mass = harmonic.sum(axis=0)  # zero where all labels of a class are at isolated nodes
        weighed = harmonic * np.divide(shares, mass, where=mass > 0, out=np.zeros_like(shares))
        probabilities[unknown] = weighed / weighed.sum(axis=1, keepdims=True)
    end = process_time()
    return Prediction(probabilities, prepared - start, end - prepared)


def _reached(problem: Problem) -> NDArray[np.int64]:
    """Return the nodes without a training label in whose component there is one."""
    _, component = connected_components(problem.adjacency, directed=False)
    reached = np.isin(component, component[problem.train])
    reached[problem.train] = False
    return np.flatnonzero(reached)


def _harmonic(
    rows: csr_array, unknown: NDArray[np.int64], inflow: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve (D − W) F = inflow on the unknown nodes, whose rows of W are given."""
    degrees = np.asarray(rows.sum(axis=1))
    laplacian = csr_array(diags_array(degrees) - rows[:, unknown])
    preconditioner = diags_array(1 / degrees)
    columns = [cg(laplacian, column, rtol=1e-8, M=preconditioner)[0] for column in inflow.T]
    return np.asarray(np.maximum(np.stack(columns, axis=1), 0.0))
