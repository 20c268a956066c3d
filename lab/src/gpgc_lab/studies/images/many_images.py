"""A training set as large as MNIST's, end to end with the search for neighbours."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gpgc.estimators import GPGCClassifier
from gpgc.graph import neighbor_graph
from gpgc_lab.speed.measure import forget_peak, in_own_process
from gpgc_lab.tables import Table

N_VECTORS, N_FEATURES, N_LABELS, N_CLASSES = 60_000, 128, 1_000, 10
MODELS = ("big", "broad")
SEED = 7


def many_images_table(n_vectors: int = N_VECTORS) -> Table:
    """Return seconds and memory of graph, fit and labels for so many made-up vectors."""
    table = Table(
        "images_many",
        f"{n_vectors:,} made-up vectors with {N_LABELS:,} labels, end to end",
        [
            "model",
            "search for neighbours, s",
            "fit, s",
            "labels, s",
            "all, s",
            "peak, MB",
            "accuracy on the rest, per cent",
        ],
        notes=[
            f"Ten clouds of different spread in {N_FEATURES} dimensions; one vector in twenty "
            "lies nearer to the centre of another cloud; no file is read. Neighbours are searched "
            "as everywhere: by faiss beyond 50,000 vectors, to at least 95 % recall. Each row "
            "was measured in a process of its own, the vectors included in its memory."
        ],
    )
    for model in MODELS:
        arguments = {"model": model, "n_vectors": n_vectors}
        found = in_own_process(f"{__name__}:measure", arguments)
        seconds = [found[step] for step in ("search", "fit", "predict")]
        times = [f"{each:.1f}" for each in (*seconds, sum(seconds))]
        memory, right = round(found["peak"] / 1e6), f"{100 * found['accuracy']:.1f}"
        table.rows.append([model, *times, memory, right])
    return table


def measure(model: str, n_vectors: int) -> dict[str, Any]:
    """Search, fit and label once, and return the seconds of each step and the accuracy."""
    features, labels = made_up_vectors(n_vectors)
    y = np.full(n_vectors, -1)
    y[:N_LABELS] = labels[:N_LABELS]
    forget_peak()
    times = [time.perf_counter()]
    graph = neighbor_graph(features, 10)
    times.append(time.perf_counter())
    estimator = GPGCClassifier(model).fit(features, y, adjacency=graph)
    times.append(time.perf_counter())
    predicted = estimator.predict()
    times.append(time.perf_counter())
    rest = y < 0
    steps = dict(zip(("search", "fit", "predict"), np.diff(times).tolist(), strict=True))
    return {**steps, "accuracy": float(np.mean(predicted[rest] == labels[rest]))}


def made_up_vectors(n_vectors: int) -> tuple[Any, Any]:
    """Return vectors (n, 128) in float32 and their classes, in random order.

    Examples
    --------
    >>> features, labels = made_up_vectors(50)
    >>> features.shape, int(labels.max())
    ((50, 128), 9)
    """
    rng = np.random.default_rng(SEED)
    labels = rng.integers(N_CLASSES, size=n_vectors)
    centres = rng.normal(size=(N_CLASSES, N_FEATURES)).astype(np.float32)
    spread = np.linspace(1.5, 4.5, N_CLASSES, dtype=np.float32)[labels]
    noise = rng.normal(size=(n_vectors, N_FEATURES)).astype(np.float32)
    return centres[labels] + spread[:, None] * noise, labels
