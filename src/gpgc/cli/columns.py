"""Answers as columns, and columns as the rows of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gpgc.estimators.predictions import prediction_columns
from gpgc.estimators.regressor import GPGCRegressor


def table_of(
    ids: Sequence[str], columns: Mapping[str, Iterable[Any]]
) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Return the header and the rows of a table: the column ``id``, then the others."""
    named = {"id": ids} | {name: column for name, column in columns.items() if name != "id"}
    return list(named), (tuple(map(_cell, row)) for row in zip(*named.values(), strict=True))


def interval_columns(
    estimator: GPGCRegressor, level: float, X: Any = None, adjacency: Any = None
) -> dict[str, Any]:
    """Return values with std and the intervals that hold a new value so often."""
    columns = prediction_columns(estimator, X, adjacency)
    given = columns.pop("given")
    low, high = estimator.predict_interval(level, X=X, adjacency=adjacency)
    return columns | {"low": low, "high": high, "given": given}


def class_columns(classes: Iterable[Any], probabilities: Any) -> dict[str, Any]:
    """Return the probabilities (N, k) of all classes by name."""
    columns = probabilities.T
    return {f"probability of {name}": one for name, one in zip(classes, columns, strict=True)}


def _cell(value: Any) -> Any:
    """Return what a table shows: six digits, nothing for NaN, several labels as JSON."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.6g}"
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return int(value) if isinstance(value, bool | np.bool_) else value
