"""Answers as columns of a table: a row for each node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gpgc.estimators.joining import join_by_name
from gpgc.problem.names import as_names

if TYPE_CHECKING:
    from gpgc.estimators.base import GraphProcess
    from gpgc.estimators.classifier import GPGCClassifier
    from gpgc.estimators.regressor import GPGCRegressor

PREDICTION_COLUMNS = ("id", "label", "probability", "std", "given")


def prediction_columns(
    estimator: GraphProcess, X: Any = None, adjacency: Any = None, *, with_std: bool = True
) -> dict[str, NDArray[Any]]:
    """Return what an estimator says of the fitted nodes, or of nodes that join."""
    from gpgc.estimators.classifier import GPGCClassifier

    is_new = X is not None or adjacency is not None
    of = _of_classes if isinstance(estimator, GPGCClassifier) else _of_values
    columns = of(estimator, X, adjacency, is_new, with_std)
    size = len(next(iter(columns.values())))
    given = np.zeros(size, dtype=bool)
    if not is_new:
        given[estimator.labelled_nodes_] = True
    return {"id": _ids(estimator, X, adjacency, is_new, size), **columns, "given": given}


def prediction_rows(
    ids: Sequence[str], estimator: GPGCClassifier, with_std: bool = True
) -> Iterator[tuple[Any, ...]]:
    """Give a row for each node: its label, with probability and std, and whether it was given."""
    columns = prediction_columns(estimator, with_std=with_std) | {"id": ids}
    for name, label, probability, std, is_given in zip(*columns.values(), strict=True):
        shown = f"{std:.6g}" if with_std else ""
        yield name, label, f"{probability:.6g}", shown, int(is_given)


def _ids(estimator: GraphProcess, X: Any, adjacency: Any, is_new: bool, size: int) -> NDArray[Any]:
    nodes = estimator.prior_.nodes
    if not is_new:
        return np.arange(size) if nodes.names is None else nodes.names
    names = join_by_name(nodes, X, adjacency).names
    return as_names(range(len(nodes), len(nodes) + size)) if names is None else names


def _of_classes(
    estimator: GPGCClassifier, X: Any, adjacency: Any, is_new: bool, with_std: bool
) -> dict[str, NDArray[Any]]:
    probabilities = estimator.predict_proba(X, adjacency)
    std = np.full(len(probabilities), np.nan)
    if with_std:
        _, std = estimator.predict_latent(X=X, adjacency=adjacency, return_std=True)
    labels = estimator.predict(X, adjacency) if is_new else estimator.transduction_
    chosen = np.searchsorted(estimator.classes_, labels)
    return {
        "label": labels,
        "probability": probabilities[np.arange(len(chosen)), chosen],
        "std": std,
    }


def _of_values(
    estimator: GPGCRegressor, X: Any, adjacency: Any, is_new: bool, with_std: bool
) -> dict[str, NDArray[Any]]:
    found = estimator.predict_latent(X=X, adjacency=adjacency, return_std=with_std)
    mean, std = found if with_std else (found, np.full(found.shape, np.nan))
    if mean.shape[1] == 1:
        return {"value": mean[:, 0], "std": std.reshape(len(mean))}
    parts, names = {"value": mean, "std": std}, estimator.target_names_
    return {
        f"{name}_{target}": part[:, place]
        for place, target in enumerate(range(mean.shape[1]) if names is None else names)
        for name, part in parts.items()
    }
