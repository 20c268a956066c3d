"""What models make of the features of one image data set."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from gpgc.datasets import Dataset
from gpgc.estimators import GPGCClassifier
from gpgc.graph import neighbor_graph
from gpgc_lab.array_types import Integers
from gpgc_lab.datasets.feature_files import FeatureSet
from gpgc_lab.datasets.image_graphs import as_dataset
from gpgc_lab.studies.images.candidates import Choice, candidates, choose, learn_from_validation

N_NEIGHBORS = 10

NETWORK = "the network's own classifier"
BROAD = "GPGC broad, default"
BEST = "GPGC, network chosen on validation"
FROZEN = "GPGC-X, frozen"


@dataclass
class ImageScores:
    """What was found of one data set.

    Attributes
    ----------
    accuracy : dict
        Test accuracies of each row: one of ours, one for each seed of another system.
    choices : dict
        What was chosen for a row, and how that did on the validation images.
    edges : tuple of int
        Edges without and with the node itself among its neighbours.
    seconds : dict
        Of the steps.
    """

    accuracy: dict[str, list[float]] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)
    edges: tuple[int, int] = (0, 0)
    seconds: dict[str, float] = field(default_factory=dict)


def evaluate(
    name: str, made: FeatureSet, progress: Callable[[str], None]
) -> tuple[Dataset, ImageScores]:
    """Build the graph, choose on training and validation labels, look at test labels once."""
    score = ImageScores()
    if made.probabilities is not None:
        score.accuracy[NETWORK] = [made.network_accuracy("test")]
    progress(f"{name}: graph")
    start = time.perf_counter()
    graph = neighbor_graph(made.features, N_NEIGHBORS)
    score.seconds["graph"] = time.perf_counter() - start
    with_itself = neighbor_graph(made.features, N_NEIGHBORS, include_self=True)
    score.edges = graph.nnz // 2, with_itself.nnz // 2
    data = replace(as_dataset(name, made), adjacency=graph)
    _chosen_rows(data, score, progress)
    _default_rows(data, score, progress)
    return data, score


def _chosen_rows(data: Dataset, score: ImageScores, progress: Callable[[str], None]) -> None:
    every = np.concatenate([data.train, data.validation])
    models = ("small", "big")
    split = data.labels, data.train, data.validation
    progress(f"{data.name}: covariances")
    start = time.perf_counter()
    tried = list(candidates(np.asarray(data.features), data.adjacency, every, models))
    progress(f"{data.name}: choosing among {len(tried)} models")
    small, big = (choose([one for one in tried if one.model == model], *split) for model in models)
    chosen = choose(tried, *split)
    big_again = learn_from_validation(big, *split)
    chosen_again = learn_from_validation(chosen, *split)
    score.seconds["choice"] = time.perf_counter() - start
    rows = {
        "GPGC-small": (small, data.train),
        "GPGC-big": (big, data.train),
        BEST: (chosen, data.train),
        FROZEN: (big, every),
        "GPGC-X, noise again": (big_again, every),
        f"{BEST}, X": (chosen_again, every),
    }
    for row, (choice, learnt) in rows.items():
        predicted = choice.predict(data.labels, learnt, data.test)
        score.accuracy[row] = [_share_right(predicted, data)]
        if row != FROZEN:
            score.choices[row] = choice


def _default_rows(data: Dataset, score: ImageScores, progress: Callable[[str], None]) -> None:
    progress(f"{data.name}: default model")
    y = np.full(len(data.labels), -1)
    y[data.train] = data.labels[data.train]
    estimator = GPGCClassifier()
    start = time.perf_counter()
    estimator.fit(data.features, y, adjacency=data.adjacency)
    score.seconds["default"] = time.perf_counter() - start
    score.accuracy[BROAD] = [_share_right(estimator.predict()[data.test], data)]
    y[data.validation] = data.labels[data.validation]
    estimator.relabel(y)
    score.accuracy[f"{BROAD}, X"] = [_share_right(estimator.predict()[data.test], data)]


def _share_right(predicted: Integers, data: Dataset) -> float:
    return float(np.mean(predicted == data.labels[data.test]))
