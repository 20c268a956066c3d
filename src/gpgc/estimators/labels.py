"""Labels as users write them, with marks for the unlabelled, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gpgc.errors import InputError

UNLABELLED = -1


def encode_labels(y: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return class codes, −1 where unlabelled, and the sorted classes.

    Unlabelled are −1 for numbers, None or NaN for strings (and NaN for floats).

    Examples
    --------
    >>> encode_labels(["b", None, "a", float("nan")])
    (array([ 1, -1,  0, -1]), array(['a', 'b'], dtype=object))
    >>> encode_labels([3, -1, 5])
    (array([ 0, -1,  1]), array([3, 5]))
    """
    values = _as_array(y)
    known = ~_is_missing(values)
    if not known.any():
        raise InputError(
            f"y must have at least one label, got {len(values)} unlabelled nodes "
            "(-1, or None or NaN, marks a node as unlabelled)"
        )
    given = _of_one_type(values[known])
    if given.dtype.kind == "f" and (given == given.astype(np.int64)).all():
        given = given.astype(np.int64)
    check_classification_targets(given)
    classes, codes_of_given = np.unique(given, return_inverse=True)
    codes = np.full(len(values), UNLABELLED, dtype=np.int64)
    codes[known] = codes_of_given
    return codes, classes


def _as_array(y: Any) -> NDArray[Any]:
    if y is None:
        raise InputError("y must be given: requires y to be passed, but the target y is None")
    values = np.asarray(y)
    if values.dtype.kind in "US" and not isinstance(y, np.ndarray):
        values = np.asarray(y, dtype=object)
    values = column_or_1d(values, warn=True)
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError("Input y contains infinity; expected labels, or NaN where unlabelled")
    return np.asarray(values)


def _of_one_type(given: NDArray[Any]) -> NDArray[Any]:
    """Return labels that came as objects as numbers where they are, or refuse a mixture."""
    if given.dtype.kind != "O":
        return given
    kinds = {type(value).__name__ for value in given}
    if all(isinstance(value, str) for value in given):
        return given
    if any(isinstance(value, str) for value in given):
        raise InputError(f"y must hold labels of one type, got {', '.join(sorted(kinds))}")
    return np.array(given.tolist())


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "iu":
        return np.asarray(values == UNLABELLED)
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values) | (values == UNLABELLED))
    if values.dtype.kind == "O":
        return np.array([_is_missing_object(value) for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _is_missing_object(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return False
    return bool(value != value or value == UNLABELLED)
