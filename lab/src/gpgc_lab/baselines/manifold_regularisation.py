r"""ManiReg: Laplacian regularised least squares, a kernel machine that is smooth on the graph.

In the space of the kernel :math:`k(x, x') = x^\top x' + 1` on features of unit length, the function
:math:`f(x) = w^\top \phi(x)` with :math:`\phi(x) = (x, 1)` minimises

.. math:: \frac1\ell \sum_{i \le \ell} (y_i - f(x_i))^2 + \gamma_A \|w\|^2
   + \gamma_I \, f^\top L f / N,

L being the normalised Laplacian. Its closed form is solved for w, so that no N × N matrix is built:
:math:`(\Phi_\ell^\top \Phi_\ell / \ell + \gamma_A I + \gamma_I \Phi^\top L \Phi / N)\, w =
\Phi_\ell^\top y / \ell`.

References
----------
Belkin, Niyogi and Sindhwani, *Manifold regularization*, section 4.2 (2006).
"""

from __future__ import annotations

from itertools import product
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack
from scipy.sparse.csgraph import laplacian
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.preprocessing import normalize

from gpgc_lab.array_types import Integers
from gpgc_lab.baselines.classical import class_shares, learn_and_judge, one_hot
from gpgc_lab.problem import Prediction, Problem

AMBIENT = (1e-3, 1e-2, 1e-1)
"""Values of γ_A that are tried."""
INTRINSIC = (1e-2, 1e-1, 1.0, 10.0)
"""Values of γ_I that are tried."""


def run(problem: Problem, seed: int) -> Prediction:
    """Choose both penalties on validation labels, or else on a fold of the training labels.

    The targets are the one-hot labels minus the shares of the classes; what is learnt of them is
    added to the shares again, which sums to one for every node, and negative scores are cut.
    """
    start = process_time()
    ones = np.ones((len(problem.labels), 1))
    inputs = csr_array(hstack([normalize(csr_array(problem.features)), ones]))
    smoothness = csr_array(laplacian(problem.adjacency, normed=True))
    learn, judge = learn_and_judge(problem, seed)
    shares = class_shares(problem)

    def fit(nodes: Integers, ambient: float, intrinsic: float) -> NDArray[np.float64]:
        targets = one_hot(problem.labels[nodes], problem.n_classes) - shares
        return _weights(inputs, smoothness, nodes, targets, ambient, intrinsic)

    def accuracy(weights: NDArray[np.float64]) -> float:
        said = (inputs[judge] @ weights + shares).argmax(axis=1)
        return float((said == problem.labels[judge]).mean()) if judge.size else 0.0

    tried = {penalties: fit(learn, *penalties) for penalties in product(AMBIENT, INTRINSIC)}
    best = max(tried, key=lambda penalties: accuracy(tried[penalties]))
    weights = tried[best] if learn.size == problem.train.size else fit(problem.train, *best)
    trained = process_time()
    scores = np.maximum(inputs @ weights + shares, 0.0)
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    return Prediction(probabilities, trained - start, process_time() - trained)


def _weights(
    inputs: csr_array,
    smoothness: csr_array,
    nodes: Integers,
    targets: NDArray[np.float64],
    ambient: float,
    intrinsic: float,
) -> NDArray[np.float64]:
    """Solve for the weights (F + 1, C) of functions with the given targets (n, C) at nodes (n,)."""
    labelled, (n_nodes, n_inputs) = inputs[nodes], inputs.shape

    def apply(w: NDArray[np.float64]) -> NDArray[np.float64]:
        fit = labelled.T @ (labelled @ w) / len(nodes)
        bend = inputs.T @ (smoothness @ (inputs @ w)) / n_nodes
        return np.asarray(fit + ambient * w + intrinsic * bend)

    system = LinearOperator((n_inputs, n_inputs), matvec=apply, dtype=np.float64)
    moments = labelled.T @ targets / len(nodes)
    return np.stack([cg(system, column, rtol=1e-6)[0] for column in moments.T], axis=1)
