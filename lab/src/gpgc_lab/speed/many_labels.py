"""Seconds and accuracy as the labels of one graph grow in number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gpgc import GPGCClassifier
from gpgc.datasets import Dataset, random_split
from gpgc_lab.speed.measure import fastest
from gpgc_lab.tables import Table

MODELS = ("big", "broad")
COUNTS = (60, 200, 600, 2000, 6000, 10000)


def label_tables(data: Dataset, counts: Sequence[int] = COUNTS) -> list[Table]:
    """Return seconds and accuracy of *big* and *broad* for growing numbers of labels."""
    table = Table(
        "labels",
        f"{data.name}, {len(data.labels):,} nodes: more labels",
        ["labels", "model", "seconds", "accuracy on the rest, per cent"],
        notes=[
            "As many labels of each class, drawn at random; defaults otherwise, so that noise, "
            "trust in the graph and class prior are chosen without validation labels. Seconds "
            "are for fit and predict of all nodes, the least of up to three turns."
        ],
    )
    for count in counts:
        train, _, _ = random_split(data.labels, count // len(data.classes), 0, 0, seed=0)
        labels = np.full(len(data.labels), -1)
        labels[train] = data.labels[train]
        rest = np.setdiff1d(np.flatnonzero(data.labels >= 0), train)
        for model in MODELS:
            estimator = GPGCClassifier(model, dtype="float32")
            job = partial(_fit_and_predict, estimator, data, labels)
            (seconds,) = fastest([job], 3 if count <= 2000 else 1)
            hits = float(np.mean(estimator.predict()[rest] == data.labels[rest]))
            table.rows.append([len(train), model, seconds, 100 * hits])
    return [table]


def _fit_and_predict(estimator: GPGCClassifier, data: Dataset, labels: Any) -> None:
    estimator.fit(data.features, labels, adjacency=data.adjacency).predict()
