"""Features of the nodes that an estimator is fitted to, and of nodes that join them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array, validate_data

from gpgc.errors import InputError
from gpgc.files import canonical_csr
from gpgc.tables import NodeTable, encode_table
from gpgc.tables.frames import is_frame

_NUMBERS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def fitted_features(estimator: Any, X: Any) -> Any:
    """Return the features of fit as checked numbers, and note their columns in the estimator.

    ``n_features_in_`` and ``feature_names_in_`` are those of the table that was given, before it
    was encoded.

    Parameters
    ----------
    estimator : GraphProcess
        Whose attributes are set.
    X : array, sparse matrix, frame or NodeTable of shape (N, F)
        As :func:`gpgc.estimators.alignment.named_inputs` gives it.
    """
    if not isinstance(X, NodeTable):
        _refuse_gaps(X)
        return validate_data(estimator, X, **_NUMBERS)
    features = validate_data(estimator, X.features, **_NUMBERS)
    if X.columns:
        estimator.n_features_in_ = len(X.columns)
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    return features


def new_features(estimator: Any, X: Any) -> Any:
    """Return the features of nodes that join, encoded as those of fit were.

    Parameters
    ----------
    estimator : GraphProcess
        Fitted.
    X : array, sparse matrix, frame or NodeTable
        With the columns that fit had.
    """
    encoder = estimator.prior_.nodes.encoder
    if encoder is None and is_frame(X) and not hasattr(X, "iloc"):
        X = encode_table(X)
    if isinstance(X, NodeTable) and encoder is not None:
        return X.features if X.encoder is encoder else encoder.transform(_cells(X))
    if isinstance(X, NodeTable):
        return check_array(_in_fitted_order(estimator, X), **_NUMBERS)
    if encoder is None:
        X = canonical_csr(X, "X") if sp.issparse(X) else X
        return validate_data(estimator, X, reset=False, **_NUMBERS)
    if not is_frame(X):
        raise InputError(
            f"X must be a frame with the columns {', '.join(encoder.names):.200}, as the model was "
            f"fitted to a table, got {type(X).__name__}"
        )
    return encoder.transform(X)


def _refuse_gaps(X: Any) -> None:
    """Say how to give features that have gaps; scikit-learn names other estimators for them."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and np.isnan(X.sum()):
        gaps = int(np.isnan(X).sum())
        if gaps:
            raise InputError(
                f"X must hold a number in every cell, got {gaps:,} times NaN (Input X contains "
                "NaN): pass a frame of pandas or polars, whose gaps are filled and flagged"
            )


def _cells(table: NodeTable) -> Any:
    """Return the columns of a table before they were encoded."""
    if table.cells is not None:
        return table.cells
    return {name: table.features[:, index] for index, name in enumerate(table.columns)}


def _in_fitted_order(estimator: Any, table: NodeTable) -> Any:
    """Return numbers with their columns in the order in which fit had them."""
    if table.encoder is not None:
        raise InputError(
            f"X must hold a number in every cell, as the table of fit did, "
            f"got {'; '.join(table.encoder.said):.200}"
        )
    wanted = list(getattr(estimator, "feature_names_in_", table.columns))
    if set(wanted) != set(table.columns):
        raise InputError(
            f"X must have the columns {', '.join(wanted):.200}, "
            f"got {', '.join(table.columns) or 'none with names':.200}"
        )
    if table.features.shape[1] != estimator.n_features_in_:
        raise InputError(
            f"X must have {estimator.n_features_in_} columns, got {table.features.shape[1]}"
        )
    if not wanted:
        return table.features
    return table.features[:, [table.columns.index(name) for name in wanted]]
