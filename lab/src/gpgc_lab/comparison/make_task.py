"""Tasks of known data sets, and of a user's graph with some labels held back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import eye_array, issparse

from gpgc.datasets import Dataset
from gpgc.errors import InputError
from gpgc.estimators.given import UNLABELLED, encode_labels
from gpgc.graph import as_adjacency
from gpgc_lab.datasets import load_dataset
from gpgc_lab.task import Task


def known_task(name: str, features: str, data_dir: Path | None, split_seed: int) -> Task:
    """Return the task of a data set by its name.

    Parameters
    ----------
    name : str
        Of a graph or of images.
    features : str
        Of images: pca, pixels, or the path of an .npz that ``gpgc train`` wrote.
    data_dir : Path, optional
        Where to look for the data first.
    split_seed : int
        Of the split, where it is drawn.
    """
    return Task.of(load_dataset(name, data_dir, split_seed, features))


def own_task(
    name: str,
    features: Any,
    edges: Any,
    labels: Any,
    *,
    held_back: float,
    n_neighbors: int,
    split_seed: int,
) -> Task:
    """Return the task of a user's graph, of whose labels some are held back as test labels.

    Parameters
    ----------
    name : str
        For titles and files.
    features : array or sparse matrix of shape (N, F), or None
        None stands for one-hot features.
    edges : graph, or None
        None stands for the graph of the nearest neighbours by features.
    labels : array of shape (N,)
        Labels, None where there is none.
    held_back : float
        Share of the labels of each class that is held back, rounded down; a class keeps one label.
    n_neighbors : int
        Neighbours of the graph that is built.
    split_seed : int
        Equal seeds hold the same nodes back.

    Examples
    --------
    >>> task = own_task("chain", None, ([0, 1, 2], [1, 2, 3]), ["a", "a", "b", "b"],
    ...                 held_back=0.5, n_neighbors=10, split_seed=0)
    >>> len(task.problem.train), len(task.test), task.truth.tolist()
    (2, 2, [0, 1])
    """
    if not 0 < held_back < 1:
        raise InputError(f"held-back must be between 0 and 1, got {held_back:g}")
    codes, classes = encode_labels(labels)
    rng = np.random.default_rng(split_seed)
    parts = []
    for label in range(len(classes)):
        members = rng.permutation(np.flatnonzero(codes == label))
        parts.append(members[: min(int(held_back * len(members)), len(members) - 1)])
    test = np.sort(np.concatenate(parts)).astype(np.int64)
    if not len(test):
        raise InputError(
            f"labels must leave some to test on when {held_back:.0%} of each class is held back, "
            f"got {np.count_nonzero(codes != UNLABELLED)} labels of {len(classes)} classes"
        )
    graph = None if edges is None else as_adjacency(edges, len(codes))
    matrix = eye_array(len(codes), format="csr") if features is None else features
    if not issparse(matrix):
        matrix = np.asarray(matrix, dtype=np.float64)
    train = np.setdiff1d(np.flatnonzero(codes != UNLABELLED), test)
    none = np.empty(0, dtype=np.int64)
    known = codes.astype(np.int64)
    names = tuple(map(str, classes))
    return Task.of(Dataset(name, graph, matrix, known, names, train, none, test), n_neighbors)
