"""Checks of what the estimators are given besides labels and graph."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize as scale_to_norm

from gpgc._typing import Integers
from gpgc.errors import InputError

FeatureNorm = Literal["none", "l1", "l2"]


def with_norm(features: Any, norm: FeatureNorm) -> Any:
    """Return features with rows scaled to the wanted norm; rows of zeros stay."""
    if norm not in get_args(FeatureNorm):
        raise InputError(
            f"feature_norm must be one of {', '.join(get_args(FeatureNorm))}, got {norm!r}"
        )
    matrix = sp.csr_array(features) if sp.issparse(features) else features
    return matrix if norm == "none" else scale_to_norm(matrix, norm=norm)


def check_nodes(nodes: Any, n_nodes: int) -> Integers | None:
    """Return node indices as integers, None as it is."""
    if nodes is None:
        return None
    chosen = np.asarray(nodes)
    if chosen.size == 0:
        chosen = chosen.astype(np.intp)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError(
            "nodes must be a 1-D array of whole numbers, "
            f"got shape {chosen.shape} and dtype {chosen.dtype}"
        )
    if chosen.size and (chosen.min() < 0 or chosen.max() >= n_nodes):
        raise InputError(
            f"nodes must lie between 0 and {n_nodes - 1}, got {chosen.min()} to {chosen.max()}"
        )
    return chosen.astype(np.intp)
