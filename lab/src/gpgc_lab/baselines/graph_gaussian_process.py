r"""GGP: the mean over a node and its neighbours of a Gaussian process on the features.

A process g has the covariance :math:`(x^\top x' + c)^3`; a node's latent value is the mean of g
over its closed neighbourhood, :math:`f = P g` with P the row-normalised :math:`A + I`, hence

.. math:: K = P (X X^\top + c)^{\circ 3} P^\top
   = P G^{\circ 3} P^\top + 3 c\, P G^{\circ 2} P^\top + 3 c^2\, P G P^\top + c^3,
   \qquad G = X X^\top,

since the rows of P sum to one. Each class has such an f, and the largest names the label.

References
----------
Ng, Colombo and Silva, *Bayesian semi-supervised learning with graph Gaussian processes* (2018).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from time import process_time

import numpy as np
import torch
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from torch import Tensor

from gpgc.graph import normalize
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.baselines.robust_max import RobustMaxPosterior
from gpgc_lab.problem import Prediction, Problem

BLOCK, SMALL_BLOCK = 500, 100
"""Nodes that are predicted at once, and whose variances are computed at once."""


def run(
    problem: Problem, seed: int, *, learn_from_validation: bool = False, steps: int = 50
) -> Prediction:
    """Learn the offset c and the posterior at the labelled nodes from their labels.

    Parameters
    ----------
    problem : Problem
        The graph and its labels.
    seed : int
        Of the offset from which learning starts.
    learn_from_validation : bool
        Whether validation labels are learnt from too (GGP-X); otherwise they are not looked at.
    steps : int
        Steps of learning, each of which sees all labels.

    Returns
    -------
    Prediction
        Probabilities under the posterior, the variances of the latent values included.
    """
    start = process_time()
    nodes = problem.train
    if learn_from_validation:
        nodes = np.concatenate([nodes, problem.validation])
    kernel = _Kernel(problem)
    posterior = RobustMaxPosterior.learn(
        partial(_polynomial, kernel.covariance(nodes, nodes)),
        abs(5.0 + np.random.default_rng(seed).normal()),
        torch.from_numpy(problem.labels[nodes]),
        problem.n_classes,
        steps,
    )
    trained = process_time()
    everyone = np.arange(len(problem.labels))
    probabilities = [
        posterior.probabilities(
            _polynomial(kernel.covariance(nodes, block), posterior.parameter),
            _polynomial(kernel.variance(block), posterior.parameter),
        )
        for block in np.split(everyone, range(BLOCK, len(everyone), BLOCK))
    ]
    return Prediction(
        np.concatenate(probabilities), trained - start, process_time() - trained, steps
    )


class _Kernel:
    """The three matrices P G^∘k P^T of which K is a polynomial in the offset."""

    def __init__(self, problem: Problem) -> None:
        self.features = _inputs(problem.features)
        self.means = normalize(problem.adjacency, "row")

    def covariance(self, rows: Integers, columns: Integers) -> Tensor:
        """Return P G^∘k P^T (3, R, C), k = 1, 2, 3, between nodes."""
        left, left_nodes = self._neighbourhoods(rows)
        right, right_nodes = self._neighbourhoods(columns)
        powers = self._powers_of_gram(left_nodes, right_nodes)
        return torch.from_numpy(np.stack([left @ (right @ power.T).T for power in powers]))

    def variance(self, nodes: Integers) -> Tensor:
        """Return the diagonals (3, n) of P G^∘k P^T, k = 1, 2, 3, at nodes."""
        diagonals = []
        for block in np.split(nodes, range(SMALL_BLOCK, len(nodes), SMALL_BLOCK)):
            means, neighbours = self._neighbourhoods(block)
            powers = self._powers_of_gram(neighbours, neighbours)
            diagonals.append([means.multiply(means @ power).sum(axis=1) for power in powers])
        return torch.from_numpy(np.concatenate(diagonals, axis=1))

    def _neighbourhoods(self, nodes: Integers) -> tuple[csr_array, Integers]:
        """Return the rows of P without the columns that they leave out, and which they keep."""
        rows = self.means[nodes]
        kept = np.unique(rows.indices)
        return csr_array(rows[:, kept]), kept

    def _powers_of_gram(self, rows: Integers, columns: Integers) -> Iterator[Array]:
        product = self.features[rows] @ self.features[columns].T
        gram = product.toarray() if isinstance(product, csr_array) else product
        power = gram
        yield power
        for _ in range(2):
            power = power * gram
            yield power


def _polynomial(terms: Tensor, c: Tensor | float) -> Tensor:
    """Return the covariances at an offset, given the three terms of each."""
    linear, quadratic, cubic = terms
    covariance: Tensor = cubic + 3 * c * quadratic + 3 * c**2 * linear + c**3
    return covariance


def _inputs(features: csr_array | Array) -> csr_array | Array:
    """Weigh counts by their rarity, then scale all so that rows have unit length on average.

    Since the offset is learnt, the common scale only says where learning starts. Features are kept
    sparse where fewer than one in twenty is not zero; beyond that dense products are faster.
    """
    inputs = csr_array(features)
    if np.all((inputs.data >= 0) & (inputs.data == np.round(inputs.data))):
        inputs = csr_array(TfidfTransformer().fit_transform(inputs))
    square = float((inputs.data**2).sum()) / inputs.shape[0]
    if square > 0:
        inputs = inputs / np.sqrt(square)
    return inputs if inputs.nnz < 0.05 * np.prod(inputs.shape) else inputs.toarray()
