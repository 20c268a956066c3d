"""Labels of unequal trust: weights, rows of probabilities, several votes for a node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.labels import UNLABELLED, encode_labels, numbers_or_nan, warn_of_few_classes
from gpgc.tables.named_columns import named_columns

SUM_TOLERANCE = 1e-3
"""How far the probabilities of a soft label may be from a sum of 1, which rounding explains."""


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """What a classifier is given to learn from.

    Attributes
    ----------
    codes : int array of shape (N,)
        The most likely class of each node as an index of the classes, −1 where unlabelled.
    classes : array of shape (k,)
        The labels, sorted.
    targets : array of shape (D, k)
        A row of probabilities for each labelled node, one-hot where its label is certain.
    weights : array of shape (D,)
        How much each label counts: its noise is σ_τ² over this.
    """

    codes: Integers
    classes: NDArray[Any]
    targets: Array
    weights: Array

    @property
    def nodes(self) -> Integers:
        """The labelled nodes (D,)."""
        return np.flatnonzero(self.codes != UNLABELLED)

    @classmethod
    def certain(cls, codes: Integers, classes: NDArray[Any]) -> GivenLabels:
        """Return labels that are one class each and count alike."""
        given = np.asarray(codes)[np.asarray(codes) != UNLABELLED]
        return cls(np.asarray(codes), classes, np.eye(len(classes))[given], np.ones(len(given)))


def encode_given(y: Any, sample_weight: Any = None) -> GivenLabels:
    """Return labels, or rows of probabilities, with what each counts.

    Parameters
    ----------
    y : array of shape (N,), or (N, k) with k ≥ 2
        Labels as :func:`gpgc.estimators.labels.encode_labels` takes them; or probabilities of k
        classes, whose rows sum to 1, or are NaN or 0 where unlabelled. The classes are then the
        names of a frame's columns, else 0 … k − 1.
    sample_weight : array of shape (N,), optional
        At least 0; a label of weight 0 is taken as none. 1 when not given.

    Examples
    --------
    >>> given = encode_given([[0.7, 0.3], [np.nan, np.nan], [0.0, 1.0]], [2.0, 1.0, 1.0])
    >>> given.codes, given.classes, given.weights
    (array([ 0, -1,  1]), array([0, 1]), array([2., 1.]))
    """
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    is_table = len(shape) == 2 and shape[1] > 1
    if is_table:
        codes, classes, rows = _encode_rows(y)
    else:
        codes, classes = encode_labels(y)
        rows = np.eye(len(classes))[codes]
    weights = check_sample_weight(sample_weight, len(codes))
    codes = np.where(weights > 0, codes, UNLABELLED)
    known = codes != UNLABELLED
    if not known.any():
        raise InputError(
            "sample_weight must be above zero for at least one labelled node, got none"
        )
    used = rows[known].any(axis=0)
    if is_table and not used.all():
        unused = [str(name) for name in np.asarray(classes)[~used]]
        raise InputError(f"y must give each class some probability, got none for {unused[0]!r}")
    if not used.all():
        codes = np.where(known, np.cumsum(used)[codes] - 1, UNLABELLED)
        classes, rows = classes[used], rows[:, used]
    if not is_table:
        warn_of_few_classes(y, classes)
    return GivenLabels(codes, classes, rows[known], weights[known])


def left_out_weights(targets: Array, weights: Array, alone: NDArray[np.bool_]) -> Array:
    """Return what leaving each label out counts: 1 − 1/n for n labels of its class, by its weight.

    The class of the node that is left out has one label less than the others. A label that no
    other one reaches cannot be predicted from them, and counts nothing.

    Parameters
    ----------
    targets : array of shape (D, k)
        Labels, one-hot or rows of probabilities.
    weights : array of shape (D,)
        How much each label counts; what matters here is that over their mean.
    alone : bool array of shape (D,)
        Which labels no other one reaches.

    Examples
    --------
    >>> left_out_weights(np.eye(2)[[0, 0, 1]], np.ones(3), np.array([False, False, False]))
    array([0.5, 0.5, 0. ])
    """
    of_class = np.maximum(0.0, 1 - 1 / targets.sum(axis=0))
    return np.asarray((targets @ of_class) * ~alone * weights / weights.mean())


def check_sample_weight(sample_weight: Any, n_nodes: int) -> Array:
    """Return a weight for each node, 1 where none are given.

    Examples
    --------
    >>> check_sample_weight(None, 2), check_sample_weight([1, 3], 2)
    (array([1., 1.]), array([1., 3.]))
    """
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
