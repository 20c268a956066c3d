"""What every graph loader returns, and random divisions of its nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from gpgc.errors import InputError


@dataclass(frozen=True, eq=False)
class Dataset:
    """Nodes with features, labels and a division, on a graph or with the graph still to be built.

    Attributes
    ----------
    name : str
        Name of the data set.
    adjacency : csr_array of shape (N, N), or None
        Symmetric, without self-loops; None where the graph is to be built from the features.
    features : csr_array or ndarray of shape (N, F)
        One row per node, float64.
    labels : ndarray of shape (N,), int64
        Class of each node, −1 where it is unknown.
    classes : tuple of str
        Name of class 0, 1, ...
    train, validation, test : ndarray, int64
        Indices of the nodes of each part, sorted; possibly empty.
    """

    name: str
    adjacency: csr_array | None
    features: csr_array | NDArray[np.float64]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


def random_split(
    labels: ArrayLike, per_class: int, n_validation: int, n_test: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw training nodes class by class, then validation and test nodes from the rest.

    Parameters
    ----------
    labels : array-like of int, shape (N,)
        Class of each node; nodes with a negative label are never drawn.
    per_class : int
        Training nodes of each class that occurs in `labels`.
    n_validation, n_test : int
        Nodes drawn uniformly, without replacement, from the labelled nodes that remain.
    seed : int
        Equal seeds give equal splits.

    Returns
    -------
    train, validation, test : ndarray of int64
        Disjoint, each sorted.

    Examples
    --------
    >>> train, validation, test = random_split([0, 0, 0, 1, 1, 1, -1], 1, 2, 2, seed=0)
    >>> len(train), len(validation), len(test)
    (2, 2, 2)
    """
    classes = np.asarray(labels)
    if classes.ndim != 1 or not np.issubdtype(classes.dtype, np.integer):
        raise InputError(
            f"labels: expected a one-dimensional array of integers, "
            f"got shape {classes.shape} of {classes.dtype}"
        )
    for argument, value, least in (
        ("per_class", per_class, 1),
        ("n_validation", n_validation, 0),
        ("n_test", n_test, 0),
    ):
        if value < least:
            raise InputError(f"{argument}: expected at least {least}, got {value}")

    rng = np.random.default_rng(seed)
    drawn = []
    for label in np.unique(classes[classes >= 0]):
        members = np.flatnonzero(classes == label)
        if members.size < per_class:
            raise InputError(
                f"labels: per_class asks for {per_class} training nodes of each class, "
                f"but class {label} has only {members.size}"
            )
        drawn.append(rng.choice(members, size=per_class, replace=False))
    train = np.sort(np.concatenate(drawn)) if drawn else np.empty(0, dtype=np.int64)

    rest = rng.permutation(np.setdiff1d(np.flatnonzero(classes >= 0), train))
    if rest.size < n_validation + n_test:
        raise InputError(
            f"labels: n_validation + n_test asks for {n_validation + n_test} nodes, "
            f"but only {rest.size} labelled nodes remain after training"
        )
    validation, test, _ = np.split(rest, [n_validation, n_validation + n_test])
    return train, np.sort(validation), np.sort(test)
