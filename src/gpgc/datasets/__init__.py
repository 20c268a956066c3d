"""The handwritten digits of scikit-learn, and what every loader of a data set returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

__all__ = ["Dataset", "load_digits"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Nodes with features, labels (−1: unknown), a division, and the graph if there is one."""

    name: str
    adjacency: csr_array | None
    features: csr_array | NDArray[np.float64]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def load_digits(seed: int = 0) -> Dataset:
    """Load 1,797 digits of 8 x 8 pixels in [0, 1]; ten of each class train, the others test."""
    from sklearn.datasets import load_digits as load_pixels

    pixels, target = load_pixels(return_X_y=True)
    labels = np.asarray(target, dtype=np.int64)
    classes, rng = np.unique(labels), np.random.default_rng(seed)
    drawn = [rng.choice(np.flatnonzero(labels == digit), 10, replace=False) for digit in classes]
    train = np.sort(np.concatenate(drawn))
    none = np.empty(0, dtype=np.int64)
    test = np.setdiff1d(np.arange(len(labels)), train)
    names = tuple(map(str, classes.tolist()))
    return Dataset("digits", None, pixels / 16, labels, names, train, none, test)
