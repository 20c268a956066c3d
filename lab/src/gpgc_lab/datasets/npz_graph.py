"""The widespread ``.npz`` layout of graph benchmarks."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpgc.datasets import Dataset
from gpgc.errors import DataError, InputError
from gpgc.files import read_npz, unpack_sparse
from gpgc.files.sparse import PARTS

_MASKS = ("train_masks", "val_masks", "test_masks")


def load_npz_graph(path: str | os.PathLike[str], split: int = 0) -> Dataset:
    """Load a graph from one ``.npz`` file, without pickle.

    Parameters
    ----------
    path : path-like
        Archive with the arrays ``adj_data``, ``adj_indices``, ``adj_indptr`` and ``adj_shape`` of
        a sparse adjacency, the same with ``attr_`` for sparse features or a dense ``attr_matrix``,
        the integer ``labels`` (negative: unknown) and, optionally, ``class_names`` and the
        boolean ``train_masks``, ``val_masks`` and ``test_masks`` of shape (S, N). Names that
        could only be read with pickle are replaced by numbers; every other array is ignored.
    split : int, default 0
        Which of the S divisions into train, validation and test to take.

    Returns
    -------
    Dataset
        A directed graph becomes max(A, Aᵀ); self-loops are removed; train, validation and test
        are empty in a file without masks (see `random_split`).

    Raises
    ------
    InputError
        If there is no such file, or no such split in it.
    DataError
        If an array is missing, damaged, of objects, or does not fit the others.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError(f"path: expected an existing .npz file, got {str(path)!r}")
    adjacency = _undirected(_sparse(file, "adj"), file)
    n_nodes = adjacency.shape[0]
    features = _features(file)
    arrays = read_npz(file, ["labels"], ["class_names", *_MASKS])
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
    train, validation, test = _division(file, arrays, n_nodes, split)
    return Dataset(
        name=file.stem,
        adjacency=adjacency,
        features=features,
        labels=np.maximum(labels.astype(np.int64), -1),
        classes=tuple(str(name) for name in names),
        train=train,
        validation=validation,
        test=test,
    )


def _division(
    file: Path, arrays: dict[str, NDArray[Any]], n_nodes: int, split: int
) -> list[NDArray[np.int64]]:
    """Return the training, validation and test nodes of one split; empty without masks."""
    found = [arrays[name] for name in _MASKS if name in arrays]
    if not found:
        n_splits = 1
        found = [np.zeros((1, n_nodes), dtype=bool)] * len(_MASKS)
    elif len(found) < len(_MASKS):
        missing = [name for name in _MASKS if name not in arrays]
        raise DataError(f"{file}: no array {missing[0]} beside the other masks")
    else:
        n_splits = len(found[0]) if found[0].ndim else 0
    for name, masks in zip(_MASKS, found, strict=True):
        if masks.shape != (n_splits, n_nodes) or masks.dtype.kind != "b":
            raise DataError(
                f"{file}: expected {name} of true and false, of shape (S, {n_nodes}), the same S "
                f"for all masks, got shape {masks.shape} of {masks.dtype}"
            )
    if not isinstance(split, int | np.integer) or not 0 <= split < n_splits:
        raise InputError(
            f"split must be a whole number from 0 to {n_splits - 1} for {file}, got {split!r}"
        )
    chosen = np.array([masks[split] for masks in found])
    if (chosen.sum(axis=0) > 1).any():
        raise DataError(f"{file}: split {split} has nodes in more than one of {', '.join(_MASKS)}")
    return [np.flatnonzero(mask).astype(np.int64) for mask in chosen]


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
