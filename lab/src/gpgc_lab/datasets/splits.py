"""Random divisions of the nodes of a data set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpgc.errors import InputError


def random_split(
    labels: ArrayLike, per_class: int, n_validation: int, n_test: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Draw training nodes class by class, then validation and test nodes from the rest."""
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
