"""Labels as users write them, with marks for the unlabelled, and back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gpgc.errors import GPGCWarning, InputError
from gpgc.tables.frames import is_missing

UNLABELLED = -1


def encode_labels(y: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return class codes, −1 where unlabelled, and the sorted classes.

    Unlabelled are −1, None, NaN, NaT, pandas' NA and the masked entries of a masked array.

    Examples
    --------
    >>> encode_labels(["b", None, "a", float("nan")])
    (array([ 1, -1,  0, -1]), array(['a', 'b'], dtype=object))
    >>> encode_labels([3, -1, 5])
    (array([ 0, -1,  1]), array([3, 5]))
    >>> encode_labels(np.ma.masked_equal([7, 0, 8], 0))
    (array([ 0, -1,  1]), array([7, 8]))
    """
    values = _as_array(y)
    known, labels = known_labels(y)
    if not len(known):
        raise InputError(
            f"y must have at least one label, got {len(values)} unlabelled nodes "
            "(-1, None, NaN, NaT, NA or a mask marks a node as unlabelled)"
        )
    given = _of_one_type(labels)
    if given.dtype.kind == "f" and (given == given.astype(np.int64)).all():
        given = given.astype(np.int64)
    check_classification_targets(given)
    classes, codes_of_given = np.unique(given, return_inverse=True)
    codes = np.full(len(values), UNLABELLED, dtype=np.int64)
    codes[known] = codes_of_given
    return codes, classes


def known_labels(y: Any) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the places of the labels that are known, and the labels.

    Examples
    --------
    >>> known_labels([3, -1, 5])
    (array([0, 2]), array([3, 5]))
    """
    values = _as_array(y)
    known = np.flatnonzero(~(_is_missing(values) | _mask(y, len(values))))
    return known, values[known]


def warn_of_few_classes(y: Any, classes: NDArray[Any]) -> None:
    """Warn where −1 looks like a class, or where there is one class only.

    Parameters
    ----------
    y : array of shape (N,)
        Labels as given.
    classes : array of shape (k,)
        What :func:`encode_labels` found in them.
    """
    if len(classes) != 1:
        return
    values = _as_array(y)
    if classes.dtype.kind in "iu" and classes[0] == 1 and (values == UNLABELLED).any():
        message = (
            "y holds only -1 and 1, and -1 means unlabelled: if it is a class of its own, name the "
            "classes otherwise, such as 0 and 1, and mark unlabelled nodes with -1 or None"
        )
    else:
        message = f"y names one class only, {classes.tolist()[0]!r}: every node will get it"
    warnings.warn(message, GPGCWarning, stacklevel=3)


def numbers_or_nan(y: Any) -> NDArray[Any]:
    """Return values for regression as an array, NaN where an entry is masked, None or NA.

    Examples
    --------
    >>> numbers_or_nan([1.5, None])
    array([1.5, nan])
    >>> numbers_or_nan(np.ma.masked_equal([7, 0, 8], 0))
    array([ 7., nan,  8.])
    """
    if np.ma.isMaskedArray(y):
        return np.asarray(np.ma.filled(y.astype(np.float64), np.nan))
    values = np.asarray(y)
    if values.dtype.kind != "O":
        return values
    flat = [np.nan if is_missing(value) else value for value in values.ravel()]
    try:
        return np.array(flat, dtype=np.float64).reshape(values.shape)
    except (TypeError, ValueError) as error:
        raise InputError(f"y must hold real numbers, got other objects: {error}") from error


def is_unlabelled(value: Any) -> bool:
    """Return whether an entry of y marks a node without a label.

    Examples
    --------
    >>> [is_unlabelled(value) for value in (-1, None, float("nan"), "a", 0)]
    [True, True, True, False, False]
    """
    return is_missing(value) or (not isinstance(value, str) and bool(value == UNLABELLED))


def _as_array(y: Any) -> NDArray[Any]:
    if y is None:
        raise InputError("y must be given: requires y to be passed, but the target y is None")
    values = np.ma.getdata(y) if np.ma.isMaskedArray(y) else np.asarray(y)
    if values.dtype.kind in "US" and not isinstance(y, np.ndarray):
        values = np.asarray(y, dtype=object)
    if values.dtype.kind in "mM":
        raise InputError("y must hold labels, got times: make them text first")
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
        return np.array([is_unlabelled(value) for value in values], dtype=bool)
    return np.zeros(len(values), dtype=bool)


def _mask(y: Any, size: int) -> NDArray[np.bool_]:
    if not np.ma.isMaskedArray(y):
        return np.zeros(size, dtype=bool)
    return np.asarray(np.ma.getmaskarray(y)).reshape(size)
