"""A graph convolutional network that is trained, as Kipf and Welling set it up."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc_lab.baselines import Problem
from gpgc_lab.baselines.graph_convolution import run as train
from gpgc_lab.speed.task import Task


def run(task: str, epochs: int, seeds: int, hidden: int = 16) -> dict[str, Any]:
    """Train once for each seed, for all epochs: the least seconds, the mean accuracy."""
    given = Task.load(task)
    labels = np.full(len(given.labels), -1)
    labels[given.train] = given.labels[given.train]
    nobody = np.array([], dtype=np.int64)
    n_classes = given.targets().shape[1]
    problem = Problem(given.adjacency, given.features, labels, given.train, nobody, n_classes)
    predictions = [train(problem, seed, hidden, epochs) for seed in range(seeds)]
    accuracy = [
        given.accuracy(prediction.probabilities.argmax(axis=1)) for prediction in predictions
    ]
    seconds = min(
        prediction.train_seconds + prediction.predict_seconds for prediction in predictions
    )
    return {"seconds": seconds, "accuracy": float(np.mean(accuracy))}
