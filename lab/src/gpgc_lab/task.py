"""The one task that is saved for other processes: a problem, and test labels that no system sees.

To be read in a rival's environment too, it needs NumPy, SciPy and the files of gpgc alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gpgc.files import pack_npz, pack_sparse, read_npz, unpack_sparse, write_file
from gpgc_lab.problem import Problem

if TYPE_CHECKING:
    from gpgc.datasets import Dataset


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
        from gpgc.graph import neighbor_graph

        graph = data.adjacency
        if graph is None:
            graph = neighbor_graph(data.features, n_neighbors, n_jobs=1)
        return cls(data.name, Problem.of(data, graph), data.test, data.labels[data.test])

    def save(self, path: Path) -> None:
        """Write the task as an .npz."""
        problem = self.problem
        arrays = {
            **_parts("adjacency", problem.adjacency),
            **_parts("features", problem.features),
            "name": np.array(self.name),
            "labels": problem.labels,
            "train": problem.train,
            "validation": problem.validation,
            "n_classes": np.array(problem.n_classes),
            "test": self.test,
            "truth": self.truth,
        }
        write_file(path, pack_npz(arrays))

    @classmethod
    def load(cls, path: str | Path) -> Task:
        """Read a task that `save` wrote."""
        arrays = read_npz(Path(path))
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

    def targets(self) -> NDArray[np.float64]:
        """Return the one-hot labels of the training nodes, of shape (n, C)."""
        problem = self.problem
        return np.asarray(np.eye(problem.n_classes)[problem.labels[problem.train]])

    def accuracy(self, labels: NDArray[Any]) -> float:
        """Return the fraction of test nodes whose label, of all N, is right."""
        return float(np.mean(labels[self.test] == self.truth))


def _parts(name: str, matrix: Any) -> dict[str, NDArray[Any]]:
    return pack_sparse(matrix, f"{name}_") if issparse(matrix) else {name: matrix}


def _whole(name: str, arrays: dict[str, NDArray[Any]]) -> Any:
    return arrays[name] if name in arrays else unpack_sparse(arrays, f"{name}_", "task")
