"""The widespread ``.npz`` layout of graph benchmarks."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpgc.datasets.dataset import Dataset
from gpgc.errors import DataError, InputError
from gpgc.files import read_npz, unpack_sparse
from gpgc.files.sparse import PARTS


def load_npz_graph(path: str | os.PathLike[str]) -> Dataset:
    """Load a graph from one ``.npz`` file, without pickle.

    Parameters
    ----------
    path : path-like
        Archive with the arrays ``adj_data``, ``adj_indices``, ``adj_indptr`` and ``adj_shape`` of
        a sparse adjacency, the same with ``attr_`` for sparse features or a dense ``attr_matrix``,
        the integer ``labels`` (negative: unknown) and, optionally, ``class_names``. Names that
        could only be read with pickle are replaced by numbers; every other array is ignored.

    Returns
    -------
    Dataset
        A directed graph becomes max(A, Aᵀ); self-loops are removed; train, validation and test
        are empty (see `random_split`).

    Raises
    ------
    DataError
        If an array is missing, damaged, of objects, or does not fit the others.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"path: expected an existing .npz file, got {str(path)!r}")
    adjacency = _undirected(_sparse(file, "adj"), file)
    n_nodes = adjacency.shape[0]
    features = _features(file)
    arrays = read_npz(file, ["labels"], ["class_names"])
    labels = arrays["labels"]
    if labels.shape != (n_nodes,) or labels.dtype.kind not in "iu":
        raise DataError(
            f"{file}: expected labels of {n_nodes} integers, one for each node, "
            f"got shape {labels.shape} of {labels.dtype}"
        )
    if features.shape[0] != n_nodes:
        raise DataError(f"{file}: {features.shape[0]} rows of features for {n_nodes} nodes")
    n_classes = max(int(labels.max()) + 1, 0) if n_nodes else 0
    if n_classes > n_nodes:
        raise DataError(f"{file}: class {n_classes - 1} in labels of {n_nodes} nodes")
    names = arrays.get("class_names", np.arange(n_classes))
    if names.ndim != 1 or names.size < n_classes:
        raise DataError(f"{file}: {names.size} class_names for {n_classes} classes")
    nowhere = np.empty(0, dtype=np.int64)
    return Dataset(
        name=file.stem,
        adjacency=adjacency,
        features=features,
        labels=np.maximum(labels.astype(np.int64), -1),
        classes=tuple(str(name) for name in names),
        train=nowhere,
        validation=nowhere,
        test=nowhere,
    )


def _sparse(file: Path, prefix: str) -> csr_array:
    arrays = read_npz(file, [f"{prefix}_{part}" for part in PARTS])
    return unpack_sparse(arrays, f"{prefix}_", str(file), np.float64)


def _features(file: Path) -> csr_array | NDArray[np.float64]:
    dense = read_npz(file, [], ["attr_matrix"]).get("attr_matrix")
    if dense is None:
        return _sparse(file, "attr")
    if dense.ndim != 2 or dense.dtype.kind not in "biuf" or not np.isfinite(dense).all():
        raise DataError(
            f"{file}: expected attr_matrix to hold finite numbers in rows and columns, "
            f"got shape {dense.shape} of {dense.dtype}"
        )
    return dense.astype(np.float64)


def _undirected(graph: csr_array, file: Path) -> csr_array:
    if graph.shape[0] != graph.shape[1]:
        raise DataError(f"{file}: expected a square adjacency, got the shape {graph.shape}")
    if (graph.data < 0).any():
        raise DataError(f"{file}: expected no negative weights in the adjacency")
    graph = graph.maximum(graph.T).tocoo()
    kept = (graph.row != graph.col) & (graph.data > 0)
    return csr_array((graph.data[kept], (graph.row[kept], graph.col[kept])), shape=graph.shape)
