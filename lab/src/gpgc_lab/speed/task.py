"""A job that is handed to other processes and environments as one file."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class Task:
    """Label all nodes of a graph from those of ``train``.

    Attributes
    ----------
    adjacency, features : csr_array
        A of shape (N, N) and X of shape (N, F).
    labels : int array of shape (N,)
        All true labels, from 0.
    train, validation, test : int arrays
        The nodes whose labels are known, choose the noise, and are looked at in the end.
    """

    adjacency: Any
    features: Any
    labels: Any
    train: Any
    validation: Any
    test: Any

    def save(self, path: Path) -> None:
        """Write the task to a file."""
        parts: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if not sp.issparse(value):
                parts[field.name] = value
                continue
            for part in ("data", "indices", "indptr", "shape"):
                parts[f"{field.name}.{part}"] = getattr(value, part)
        np.savez(path, **parts)

    @classmethod
    def load(cls, path: str | Path) -> Task:
        """Read a task from a file."""
        with np.load(path) as parts:
            matrices = [
                sp.csr_array(
                    tuple(parts[f"{name}.{part}"] for part in ("data", "indices", "indptr")),
                    shape=tuple(parts[f"{name}.shape"]),
                )
                for name in ("adjacency", "features")
            ]
            return cls(*matrices, *(parts[field.name] for field in fields(cls)[2:]))

    def targets(self) -> Any:
        """Return the one-hot labels of the training nodes."""
        return np.eye(int(self.labels.max()) + 1)[self.labels[self.train]]

    def accuracy(self, labels: Any) -> float:
        """Return the share of test nodes that are labelled right."""
        return float(np.mean(labels[self.test] == self.labels[self.test]))


def propagation(adjacency: Any, dtype: Any) -> Any:
    """Return Â, the adjacency with loops, divided by the roots of both degrees."""
    with_loops = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"))
    scale = sp.diags_array(np.asarray(with_loops.sum(axis=1)) ** -0.5)
    return sp.csr_array(scale @ with_loops @ scale).astype(dtype)
