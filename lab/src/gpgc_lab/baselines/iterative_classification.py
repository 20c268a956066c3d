"""ICA: logistic regression on features and on the neighbours' predicted labels, iterated.

A local classifier labels all nodes from their features; a relational one, learnt on the features
and on how many neighbours have each label, then relabels the nodes one after the other in a random
order, ten times, each time from the labels that its neighbours have by then.

References
----------
Lu and Getoor, *Link-based classification* (2003), with the settings of Kipf and Welling (2017).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from time import process_time

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from gpgc_lab.array_types import Integers
from gpgc_lab.baselines.classical import (
    LinearClassifier,
    accuracy,
    learn_and_judge,
    one_against_rest,
    one_hot,
)
from gpgc_lab.problem import Prediction, Problem

PENALTIES = (1.0, 10.0, 0.1)
"""Penalties of the classifiers' weights that are tried, the usual one first."""


def run(problem: Problem, seed: int, *, sweeps: int = 10) -> Prediction:
    """Classify with the penalty and the way of counting that do best on validation labels.

    Parameters
    ----------
    problem : Problem
        The graph and its labels; without validation labels a fold of the training labels judges.
    seed : int
        Of the order in which nodes are relabelled.
    sweeps : int
        How often each node is relabelled.

    Returns
    -------
    Prediction
        Probabilities of the relational classifier, given the labels at the end.
    """
    start = process_time()
    learn, judge = learn_and_judge(problem, seed)
    judged = {
        setting: _classify(problem, learn, *setting, sweeps, seed)
        for setting in product(PENALTIES, (False, True))
    }
    best = max(judged, key=lambda setting: accuracy(problem, judged[setting].probabilities, judge))
    prediction = judged[best]
    if learn.size < problem.train.size:
        prediction = _classify(problem, problem.train, *best, sweeps, seed)
    return replace(prediction, train_seconds=process_time() - start - prediction.predict_seconds)


def _classify(
    problem: Problem, train: Integers, penalty: float, proportions: bool, sweeps: int, seed: int
) -> Prediction:
    """Learn both classifiers from the labels of given nodes, then relabel all other nodes.

    Labels of neighbours are counted, edges by their weights, or their proportions taken.
    """
    start = process_time()
    features, known = csr_array(problem.features), problem.labels[train]
    degrees = np.asarray(problem.adjacency.sum(axis=1))
    scale = 1 / np.where(degrees > 0, degrees, 1.0) if proportions else np.ones(len(degrees))
    local = LinearClassifier.fit(features[train], known, problem.n_classes, penalty)
    labels = local.logits(features).argmax(axis=1)
    labels[train] = known
    counts = problem.adjacency @ one_hot(labels, problem.n_classes)
    relations = csr_array(scale[train, None] * counts[train])
    both = csr_array(hstack([features[train], relations]))
    relational = LinearClassifier.fit(both, known, problem.n_classes, penalty)
    trained = process_time()

    from_features = features @ relational.weights[: -problem.n_classes] + relational.bias
    from_relations = relational.weights[-problem.n_classes :]
    order = np.setdiff1d(np.arange(len(labels)), train)
    np.random.default_rng(seed).shuffle(order)
    for node in np.tile(order, sweeps):
        label = (from_features[node] + scale[node] * counts[node] @ from_relations).argmax()
        if label != labels[node]:
            _change(problem.adjacency, counts, node, labels[node], label)
            labels[node] = label
    probabilities = one_against_rest(from_features + scale[:, None] * counts @ from_relations)
    return Prediction(probabilities, trained - start, process_time() - trained)


def _change(
    adjacency: csr_array, counts: NDArray[np.float64], node: int, before: int, after: int
) -> None:
    """Tell the neighbours of a node, in place, that its label is another."""
    edges = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
    neighbours, weights = adjacency.indices[edges], adjacency.data[edges]
    counts[neighbours, before] -= weights
    counts[neighbours, after] += weights
