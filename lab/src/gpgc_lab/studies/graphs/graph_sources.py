"""The graphs of the study: where each comes from, with the divisions that it brings."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpgc.datasets import Dataset, load_digits
from gpgc.errors import DataError
from gpgc.graph import neighbor_graph
from gpgc_lab.array_types import Array
from gpgc_lab.datasets import load_npz_graph, load_planetoid
from gpgc_lab.problem import Problem
from gpgc_lab.studies.core.package_sets import links

CITATION = ("cora", "citeseer", "pubmed")
WITH_MASKS = ("actor", "chameleon", "texas", "minesweeper")
WITH_EDGES = ("power_grid", "yeast_proteins")
"""Of which a file holds pairs of nodes."""

GRAPHS = (*CITATION, *WITH_MASKS, "digits", *WITH_EDGES, "wordnet")

N_NEIGHBORS = 10
"""Of the graph of digits."""

Nodes = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Training and test nodes."""


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """A graph whose classes are known, and the divisions that come with it.

    Attributes
    ----------
    name : str
    adjacency : csr_array of shape (N, N)
    features : csr_array or ndarray of shape (N, F)
    labels : ndarray of int64, shape (N,)
        −1 where unknown.
    n_classes : int
    n_masks : int
        How many divisions it brings; the citation networks have their public one.
    mask : callable
        Number of a division → its training and test nodes.
    """

    name: str
    adjacency: csr_array
    features: csr_array | Array
    labels: NDArray[np.int64]
    n_classes: int
    n_masks: int
    mask: Callable[[int], Nodes]

    def problem(self, train: NDArray[np.int64]) -> Problem:
        """Return what a system may see: all nodes, and the labels of some."""
        seen = np.full(len(self.labels), -1, dtype=np.int64)
        seen[train] = self.labels[train]
        nobody = np.array([], dtype=np.int64)
        return Problem(self.adjacency, self.features, seen, train, nobody, self.n_classes)


def load_graph(name: str, data_dir: Path | None = None) -> LabelledGraph:
    """Load one of `GRAPHS`.

    Raises
    ------
    DataError
        If its files are not at hand.
    """
    if name in CITATION:
        data = load_planetoid(name, data_dir)
        return _graph(data, 1, lambda index: (data.train, data.test))
    if name == "digits":
        data = load_digits()
        return _graph(data, 0, lambda index: (data.train, data.test))
    path = find_graph(name, data_dir)
    if name in WITH_EDGES:
        return read_edges(path)
    data = load_npz_graph(path)
    with np.load(path) as arrays:
        n_masks = len(arrays["train_masks"]) if "train_masks" in arrays else 0
    return _graph(data, n_masks, partial(_read_mask, path))


def read_edges(path: Path, which: str = "labels") -> LabelledGraph:
    """Read a file of ``edges`` (E, 2), features and some array of codes, −1 where unknown."""
    with np.load(path) as arrays:
        labels, ends = np.asarray(arrays[which], dtype=np.int64), np.asarray(arrays["edges"]).T
        if "features" in arrays:
            features = np.asarray(arrays["features"], dtype=np.float64)
        else:
            parts = tuple(arrays[f"features_{part}"] for part in ("data", "indices", "indptr"))
            features = csr_array(parts, shape=tuple(arrays["features_shape"]))
    n_classes = int(labels.max()) + 1
    adjacency = links(len(labels), zip(*ends, strict=True))
    return LabelledGraph(
        path.stem, adjacency, features, labels, n_classes, 0, partial(_read_mask, path)
    )


def find_graph(name: str, data_dir: Path | None = None) -> Path:
    """Return the file ``graphs/NAME.npz`` of the data's folder or of ``$GPGC_DATA``."""
    roots = [data_dir, os.environ.get("GPGC_DATA")]
    for root in roots:
        for folder in [Path(root) / "graphs", Path(root)] if root else []:
            if (folder / f"{name}.npz").is_file():
                return folder / f"{name}.npz"
    raise DataError(
        f"{name}.npz: expected in graphs/ of --data-dir or $GPGC_DATA, got no such file"
    )


def _read_mask(path: Path, index: int) -> Nodes:
    data = load_npz_graph(path, index)
    return data.train, data.test


def _graph(data: Dataset, n_masks: int, mask: Callable[[int], Nodes]) -> LabelledGraph:
    links = data.adjacency
    graph = neighbor_graph(data.features, N_NEIGHBORS, n_jobs=1) if links is None else links
    return LabelledGraph(
        data.name, graph, data.features, data.labels, int(data.labels.max()) + 1, n_masks, mask
    )
