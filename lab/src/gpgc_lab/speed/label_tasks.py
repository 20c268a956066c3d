"""The graphs of the tables of many labels, with labels drawn at random."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from gpgc.errors import InputError
from gpgc_lab.datasets import load_dataset, load_npz_graph, random_split
from gpgc_lab.problem import Problem
from gpgc_lab.speed.growth import block_model
from gpgc_lab.task import Task

SEED = 0
"""Of the draws; settings were chosen on others."""

CENTRES, DIRECTIONS, N_CLASSES = 50, 8, 5
"""Of vectors: centres, directions in which they differ, and classes."""

FEW_LABELS = 100
"""Labels up to which as many of each class are drawn."""


def vectors(n_nodes: int, n_features: int) -> tuple[Any, Any]:
    """Draw vectors as embeddings are: many columns, few directions in which they differ.

    Each is tanh(z B) with noise, z being drawn around one of some centres of its class.

    Returns
    -------
    features : float32 array of shape (N, F)
    labels : int array of shape (N,)
    """
    rng = np.random.default_rng(SEED)
    centres = rng.standard_normal((CENTRES, DIRECTIONS), dtype=np.float32)
    near = rng.integers(CENTRES, size=n_nodes)
    mapping = rng.standard_normal((DIRECTIONS, n_features), dtype=np.float32)
    features = np.empty((n_nodes, n_features), dtype=np.float32)
    for start in range(0, n_nodes, 2**16):
        rows = slice(start, min(start + 2**16, n_nodes))
        z = rng.standard_normal((rows.stop - start, DIRECTIONS), dtype=np.float32) / 2
        noise = rng.standard_normal((rows.stop - start, n_features), dtype=np.float32) / 20
        features[rows] = np.tanh((z + centres[near[rows]]) @ mapping / DIRECTIONS**0.5) + noise
    return features, near % N_CLASSES


def label_task(
    graph: str,
    n_labels: int,
    n_nodes: int | None = None,
    n_features: int | None = None,
    data_dir: str | None = None,
) -> Task:
    """Draw labels of a graph, all others to be found.

    Parameters
    ----------
    graph : {"pubmed", "wordnet", "block model", "vectors"}
        Which graph; the second is a file ``graphs/wordnet.npz`` of the data's folder, the last
        one none at all, but vectors (:func:`vectors`).
    n_labels : int
        How many labels.
    n_nodes, n_features : int, optional
        Of a block model.
    data_dir : str, optional
        Folder with the data; else ``$GPGC_DATA``.
    """
    if graph in ("block model", "vectors"):
        if n_nodes is None or n_features is None:
            raise InputError(f"a {graph} needs n_nodes and n_features, got None")
        if graph == "vectors":
            adjacency = csr_array((n_nodes, n_nodes))
            features, labels = vectors(n_nodes, n_features)
        else:
            adjacency, features, labels = block_model(n_nodes, SEED, n_features)
    elif graph == "wordnet":
        folder = Path(data_dir or os.environ.get("GPGC_DATA", "."))
        data = load_npz_graph(folder / "graphs" / "wordnet.npz")
        adjacency, features, labels = data.adjacency, data.features, data.labels
    else:
        data = load_dataset(graph, None if data_dir is None else Path(data_dir))
        adjacency, features, labels = data.adjacency, data.features, data.labels
    known = np.flatnonzero(labels >= 0)
    n_classes = int(labels.max()) + 1
    if n_labels <= FEW_LABELS:
        train, _, _ = random_split(labels, n_labels // n_classes, 0, 0, seed=SEED)
    else:
        train = np.sort(np.random.default_rng(SEED).choice(known, n_labels, replace=False))
    test = np.setdiff1d(known, train)
    seen = np.full(len(labels), -1, dtype=np.int64)
    seen[train] = labels[train]
    nobody = np.array([], dtype=np.int64)
    problem = Problem(adjacency, features, seen, train, nobody, n_classes)
    return Task(graph, problem, test, labels[test])
