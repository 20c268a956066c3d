"""What an estimator learns from: labels, rows of probabilities or values, each with its weight."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gpgc._typing import Array, Integers
from gpgc.errors import GPGCWarning, InputError
from gpgc.files.cells import LARGEST
from gpgc.problem.frames import is_frame, is_missing
from gpgc.problem.names import NamedColumns, named_columns

UNLABELLED = -1

SUM_TOLERANCE = 1e-3
"""|Σ_c p_c − 1| of a soft label below which rounding explains it."""

WEIGHTS = (1e-10, 1e10)
"""Weights u > 0 between which σ²/u is a noise that float64 can tell from none and from all."""


@dataclass(frozen=True, eq=False)
class Given:
    """What is known of D of N nodes: targets (D, k), and what each of the nodes counts (D,)."""

    n_nodes: int
    nodes: Integers
    targets: Array
    weights: Array

    @property
    def relative_noise(self) -> Array | None:
        """1 / w (D,), None where all count alike."""
        return None if (self.weights == 1).all() else 1 / self.weights

    @property
    def n_levels(self) -> int:
        """How many levels of noise there may be."""
        return int(self.targets.shape[1])

    def at(self, nodes: Integers, n_nodes: int) -> Self:
        """Return the same where the nodes are others, of so many."""
        return replace(self, nodes=nodes, n_nodes=n_nodes)


@dataclass(frozen=True, eq=False)
class GivenLabels(Given):
    """Labels as rows of probabilities, with the code (D,) of the most likely of classes (k,)."""

    codes: Integers
    classes: NDArray[Any]

    @property
    def n_levels(self) -> int:
        """One for all classes."""
        return 1

    @classmethod
    def certain(cls, codes: Integers, classes: NDArray[Any]) -> GivenLabels:
        """Return labels, codes (N,) with −1 where unlabelled, that are one class each."""
        nodes = np.flatnonzero(np.asarray(codes) != UNLABELLED)
        own = np.asarray(codes)[nodes]
        targets = np.eye(len(classes))[own]
        return cls(len(codes), nodes, targets, np.ones(len(nodes)), own, classes)


@dataclass(frozen=True, eq=False)
class GivenValues(Given):
    """Values, NaN where one is not known; whether y was a vector, and the names of its columns."""

    is_vector: bool = False
    names: NDArray[Any] | None = None


def encode_given(y: Any, sample_weight: Any = None) -> GivenLabels:
    """Return labels (N,), or rows of probabilities (N, k), with what each counts.

    >>> given = encode_given([[0.7, 0.3], [np.nan, np.nan], [0.0, 1.0]], [2.0, 1.0, 1.0])
    >>> given.nodes, given.codes, given.classes, given.weights
    (array([0, 2]), array([0, 1]), array([0, 1]), array([2., 1.]))
    """
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    is_table = len(shape) == 2 and shape[1] > 1
    if is_table:
        codes, classes, rows = _encode_rows(y)
    else:
        codes, classes = encode_labels(y)
        rows = np.eye(len(classes))[codes]
    n_nodes = len(codes)
    weights = check_sample_weight(sample_weight, n_nodes)
    nodes = np.flatnonzero((codes != UNLABELLED) & (weights > 0))
    codes, rows = codes[nodes], rows[nodes]
    if not len(nodes):
        raise InputError(
            "sample_weight must be above zero for at least one labelled node, got none"
        )
    used = rows.any(axis=0)
    if is_table and not used.all():
        unused = [str(name) for name in np.asarray(classes)[~used]]
        raise InputError(f"y must give each class some probability, got none for {unused[0]!r}")
    if not used.all():
        codes, classes, rows = np.cumsum(used)[codes] - 1, classes[used], rows[:, used]
    if not is_table and len(classes) == 1:
        _warn_of_one_class(y, classes)
    return GivenLabels(n_nodes, nodes, rows, weights[nodes], codes, classes)


def encode_values(y: Any, sample_weight: Any = None) -> GivenValues:
    """Return values (N,) or (N, k), NaN where unknown, with what each counts.

    >>> encode_values([[1.0, None], [None, None], [3.0, 4.0]]).targets
    array([[ 1., nan],
           [ 3.,  4.]])
    """
    if y is None:
        raise InputError("y must be given: requires y to be passed, but the target y is None")
    given = numbers_or_nan(y)
    if given.dtype.kind == "c":
        raise InputError("y must hold real numbers, got complex ones: Complex data not supported")
    if given.dtype.kind not in "biuf":
        raise InputError(f"y must hold numbers, got {given.dtype}: classes are for GPGCClassifier")
    values = given.astype(np.float64)
    is_vector = values.ndim != 2 or values.shape[1] == 1
    if is_vector:
        values = column_or_1d(values, warn=True)[:, None]
    if np.isinf(values).any():
        raise InputError("Input y contains infinity; expected numbers, or NaN where unknown")
    if (size := float(np.abs(values[~np.isnan(values)]).max(initial=0.0))) > LARGEST:
        raise InputError(f"y must hold numbers of size {LARGEST:g} at most, got one of {size:.3g}")
    weights = check_sample_weight(sample_weight, len(values))
    known = ~np.isnan(values) & (weights > 0)[:, None]
    nodes = np.flatnonzero(known.any(axis=1))
    if not len(nodes):
        raise InputError(f"y must have at least one value, got {len(values)} times NaN")
    if not known.any(axis=0).all():
        empty = int(np.flatnonzero(~known.any(axis=0))[0])
        raise InputError(f"y must have at least one value in each column, got none in {empty}")
    has_names = not is_vector and (is_frame(y) or isinstance(y, NamedColumns))
    names = named_columns(y).columns.astype(str) if has_names else None
    return GivenValues(len(values), nodes, values[nodes], weights[nodes], is_vector, names)


def encode_labels(y: Any) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return codes (N,), −1 where unlabelled (−1, None, NaN, NaT, NA, masked), and the classes.

    >>> encode_labels(["b", None, "a", float("nan")])
    (array([ 1, -1,  0, -1]), array(['a', 'b'], dtype=object))
    """
    values, is_known = _labels(y)
    given = values[is_known]
    if not len(given):
        raise InputError(
            f"y must have at least one label, got {len(values)} unlabelled nodes "
            "(-1, None, NaN, NaT, NA or a mask marks a node as unlabelled)"
        )
    if given.dtype.kind == "O" and not all(isinstance(value, str) for value in given):
        if any(isinstance(value, str) for value in given):
            kinds = sorted({type(value).__name__ for value in given})
            raise InputError(f"y must hold labels of one type, got {', '.join(kinds)}")
        given = np.array(given.tolist())
    if given.dtype.kind == "f" and (given == given.astype(np.int64)).all():
        given = given.astype(np.int64)
    if given.dtype.kind in "fc":  # of whole numbers and names, scikit-learn warns if few repeat
        check_classification_targets(given)
    classes, codes_of_given = np.unique(given, return_inverse=True)
    codes = np.full(len(values), UNLABELLED, dtype=np.int64)
    codes[is_known] = codes_of_given
    return codes, classes


def is_unlabelled(value: Any) -> bool:
    """Return whether an entry of y marks a node without a label."""
    return is_missing(value) or (not isinstance(value, str) and bool(value == UNLABELLED))


def _labels(y: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return labels as a vector, and where they are known."""
    if y is None:
        raise InputError("y must be given: requires y to be passed, but the target y is None")
    is_masked = np.ma.isMaskedArray(y)
    values = np.ma.getdata(y) if is_masked else np.asarray(y)
    if values.dtype.kind in "US" and not isinstance(y, np.ndarray):
        values = np.asarray(y, dtype=object)
    if values.dtype.kind in "mM":
        raise InputError("y must hold labels, got times: make them text first")
    values = np.asarray(column_or_1d(values, warn=True))
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise InputError("Input y contains infinity; expected labels, or NaN where unlabelled")
    is_known = np.ones(len(values), dtype=bool)
    if values.dtype.kind in "iuf":
        is_known = ~(np.isnan(values) | (values == UNLABELLED))
    elif values.dtype.kind == "O":
        is_known = np.array([not is_unlabelled(value) for value in values], dtype=bool)
    if is_masked:
        is_known &= ~np.ma.getmaskarray(y).reshape(len(values))
    return values, is_known


def _warn_of_one_class(y: Any, classes: NDArray[Any]) -> None:
    """Warn that there is one class only, and where −1 looks like the other."""
    if classes.dtype.kind in "iu" and classes[0] == 1 and (_labels(y)[0] == UNLABELLED).any():
        message = (
            "y holds only -1 and 1, and -1 means unlabelled: if it is a class of its own, name the "
            "classes otherwise, such as 0 and 1, and mark unlabelled nodes with -1 or None"
        )
    else:
        message = f"y names one class only, {classes.tolist()[0]!r}: every node will get it"
    warnings.warn(message, GPGCWarning, stacklevel=3)


def numbers_or_nan(y: Any) -> NDArray[Any]:
    """Return values as an array, NaN where an entry is masked, None or NA.

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


def left_out_weights(targets: Array, weights: Array, alone: NDArray[np.bool_]) -> Array:
    """Return w_i (1 − 1/n) for n labels of the class of label i; 0 where no other reaches it.

    >>> left_out_weights(np.eye(2)[[0, 0, 1]], np.ones(3), np.array([False, False, False]))
    array([0.5, 0.5, 0. ])
    """
    effective = effective_weights(weights)
    of_class = np.maximum(0.0, 1 - 1 / np.maximum(effective @ targets, np.finfo(np.float64).tiny))
    return np.asarray((targets @ of_class) * ~alone * effective)


def effective_weights(weights: Array) -> Array:
    """Return weights whose sum is the effective number of labels, (Σ w)² / Σ w²."""
    return np.asarray(weights * weights.sum() / (weights @ weights))


def check_sample_weight(sample_weight: Any, n_nodes: int) -> Array:
    """Return a weight for each node, 1 where none are given."""
    if sample_weight is None:
        return np.ones(n_nodes)
    weights = np.asarray(sample_weight)
    if weights.shape != (n_nodes,) or weights.dtype.kind not in "biuf":
        raise InputError(
            f"sample_weight must hold a number for each of the {n_nodes} nodes, "
            f"got shape {weights.shape} of {weights.dtype}"
        )
    weights = weights.astype(np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(
            "sample_weight must hold finite numbers of at least 0, "
            f"got {weights[~(np.isfinite(weights) & (weights >= 0))][0]:g}"
        )
    if not weights.any():
        raise InputError("sample_weight must hold a number above zero, got zeros only")
    low, high = WEIGHTS
    beyond = (weights > high) | ((weights > 0) & (weights < low))
    if beyond.any():
        raise InputError(
            f"sample_weight must hold 0 or numbers from {low:g} to {high:g}, "
            f"got {weights[beyond][0]:g}"
        )
    return weights


def _encode_rows(y: Any) -> tuple[Integers, NDArray[Any], Array]:
    """Return most likely codes (N,), classes (k,) and probabilities (N, k), 0 where unlabelled."""
    whole = named_columns(np.asarray(y) if isinstance(y, list | tuple) else y)
    table, classes = numbers_or_nan(whole.rows), whole.columns
    if table.dtype.kind not in "biuf":
        raise InputError(f"y must hold labels, or rows of probabilities, got {table.dtype}")
    rows = table.astype(np.float64)
    rows = np.where(np.isnan(rows).all(axis=1, keepdims=True), 0.0, rows)
    known = (rows != 0).any(axis=1)
    sums = rows.sum(axis=1)
    fits = (rows >= 0).all(axis=1) & (np.abs(sums - 1) < SUM_TOLERANCE)
    if not (fits | ~known).all():
        first = int(np.flatnonzero(known & ~fits)[0])
        raise InputError(
            "y must hold rows of probabilities that sum to 1, or are NaN or 0 where unlabelled, "
            f"got {rows[first].tolist()} in row {first}"
        )
    if not known.any():
        raise InputError(f"y must have at least one label, got {len(rows)} unlabelled nodes")
    if len(set(classes.tolist())) < len(classes):
        raise InputError(f"y must name each class once, got the columns {classes.tolist()}")
    try:
        order = np.argsort(classes)
    except TypeError as error:
        raise InputError(f"y must name classes of one type, got {classes.tolist()}") from error
    rows = rows[:, order] / np.where(known, sums, 1.0)[:, None]
    return np.where(known, rows.argmax(axis=1), UNLABELLED), classes[order], rows
