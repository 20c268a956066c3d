"""What a comparison is about: a problem, and the test labels that no system sees."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, issparse

from gpgc.datasets import Dataset, load_dataset
from gpgc.datasets.catalogue import NAMES
from gpgc.datasets.image_graphs import IMAGES, load_image_graph
from gpgc.errors import InputError
from gpgc.estimators.labels import UNLABELLED, encode_labels
from gpgc.graph import as_adjacency, neighbor_graph
from gpgc_lab.baselines import Problem


@dataclass(frozen=True, eq=False)
class Task:
    """A problem with the nodes and labels that its systems are scored on.

    Parameters
    ----------
    name : str
        Of the data set, or of the user's file.
    problem : Problem
        What a system is given.
    test, truth : ndarray of int64, shape (n,)
        Test nodes and their classes.
    """

    name: str
    problem: Problem
    test: NDArray[np.int64]
    truth: NDArray[np.int64]

    @classmethod
    def of(cls, data: Dataset, n_neighbors: int = 10) -> Task:
        """Hide the test labels of a data set, and build its graph where it brings none."""
        graph = data.adjacency
        if graph is None:
            graph = neighbor_graph(data.features, n_neighbors, n_jobs=1)
        return cls(data.name, Problem.of(data, graph), data.test, data.labels[data.test])

    def save(self, path: Path) -> None:
        """Write the task as an uncompressed .npz."""
        problem = self.problem
        arrays: dict[str, Any] = {
            **_parts("adjacency", problem.adjacency),
            **_parts("features", problem.features),
            "name": self.name,
            "labels": problem.labels,
            "train": problem.train,
            "validation": problem.validation,
            "n_classes": problem.n_classes,
            "test": self.test,
            "truth": self.truth,
        }
        np.savez(path, **arrays)

    @classmethod
    def load(cls, path: Path) -> Task:
        """Read a task that `save` wrote."""
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        problem = Problem(
            _whole("adjacency", arrays),
            _whole("features", arrays),
            arrays["labels"],
            arrays["train"],
            arrays["validation"],
            int(arrays["n_classes"]),
        )
        return cls(str(arrays["name"]), problem, arrays["test"], arrays["truth"])

    def digest(self) -> str:
        """Return what tells this task from every other graph, split or features."""
        problem = self.problem
        whole = hashlib.sha256(self.name.encode())
        parts = {**_parts("adjacency", problem.adjacency), **_parts("features", problem.features)}
        lists = (problem.labels, problem.train, problem.validation, self.test, self.truth)
        for array in (*parts.values(), *lists):
            kind = np.int64 if array.dtype.kind in "iu" else np.float64
            whole.update(repr(array.shape).encode())
            whole.update(np.ascontiguousarray(array, dtype=kind).tobytes())
        return whole.hexdigest()[:16]


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
    if name in IMAGES:
        return Task.of(load_image_graph(name, features, data_dir, split_seed))
    if name not in NAMES:
        raise InputError(f"dataset must be one of {', '.join((*NAMES, *IMAGES))}, got {name!r}")
    return Task.of(load_dataset(name, data_dir, split_seed))


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


def _parts(name: str, matrix: Any) -> dict[str, NDArray[Any]]:
    if not issparse(matrix):
        return {name: matrix}
    rows = csr_array(matrix)
    if not rows.has_sorted_indices:
        rows = rows.sorted_indices()
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    return {f"{name}_{key}": part for key, part in parts.items()} | {
        f"{name}_shape": np.array(rows.shape)
    }


def _whole(name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    if name in arrays:
        return arrays[name]
    data, indices, indptr, shape = (
        arrays[f"{name}_{key}"] for key in ("data", "indices", "indptr", "shape")
    )
    return csr_array((data, indices, indptr), shape=tuple(shape))
