"""Values that a regressor learns from, with how much each is to be trusted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import column_or_1d

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.given_labels import check_sample_weight
from gpgc.estimators.labels import numbers_or_nan


class GivenValues(NamedTuple):
    """What a regressor is given to learn from.

    Attributes
    ----------
    n_nodes : int
        N.
    nodes : int array of shape (D,)
        Nodes with a value of some target.
    values : array of shape (D, k)
        Their values, NaN where one is not known.
    weights : array of shape (D,)
        How much each counts: its noise is σ_τ² over this.
    is_vector : bool
        Whether y had one dimension.
    """

    n_nodes: int
    nodes: Integers
    values: Array
    weights: Array
    is_vector: bool


def encode_values(y: Any, sample_weight: Any = None) -> GivenValues:
    """Return values, NaN where unknown, with what each counts.

    Parameters
    ----------
    y : array of shape (N,) or (N, k)
        Values, NaN where unknown; of several targets each may be known at nodes of its own.
    sample_weight : array of shape (N,), optional
        At least 0; a value of weight 0 is taken as none. 1 when not given.

    Examples
    --------
    >>> given = encode_values([1.0, None, 3.0], [1, 1, 2])
    >>> given.nodes, given.weights, given.is_vector
    (array([0, 2]), array([1., 2.]), True)
    >>> encode_values([[1.0, None], [None, None], [3.0, 4.0]]).values
    array([[ 1., nan],
           [ 3.,  4.]])
    """
    values, is_vector = as_values(y)
    weights = check_sample_weight(sample_weight, len(values))
    known = ~np.isnan(values) & (weights > 0)[:, None]
    nodes = np.flatnonzero(known.any(axis=1))
    if not len(nodes):
        raise InputError(f"y must have at least one value, got {len(values)} times NaN")
    if not known.any(axis=0).all():
        empty = int(np.flatnonzero(~known.any(axis=0))[0])
        raise InputError(f"y must have at least one value in each column, got none in {empty}")
    return GivenValues(len(values), nodes, values[nodes], weights[nodes], is_vector)


def as_values(y: Any) -> tuple[Array, bool]:
    """Return values as a table (N, k), NaN where unknown, and whether they had one dimension."""
    if y is None:
        raise InputError("y must be given: requires y to be passed, but the target y is None")
    given = numbers_or_nan(y)
    if given.dtype.kind == "c":
        raise InputError("y must hold real numbers, got complex ones: Complex data not supported")
    if given.dtype.kind not in "biuf":
        raise InputError(f"y must hold numbers, got {given.dtype}: classes are for GPGCClassifier")
    values = given.astype(np.float64)
    if values.ndim != 2 or values.shape[1] == 1:
        values = column_or_1d(values, warn=True)[:, None]
        squeeze = True
    else:
        squeeze = False
    if np.isinf(values).any():
        raise InputError("Input y contains infinity; expected numbers, or NaN where unknown")
    return values, squeeze
