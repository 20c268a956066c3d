"""Checks of what the estimators are given besides labels and graph."""

from __future__ import annotations

import warnings
from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize as scale_to_norm

from gpgc._typing import Array, Integers
from gpgc.errors import GPGCWarning, InputError

FeatureNorm = Literal["none", "l1", "l2"]

SAMPLED_ROWS = 10_000
"""Rows of the features that are looked at for their centre and scale."""

UNCENTRED = 0.9
"""Mean cosine of two rows from which on directions say little of what tells rows apart."""

FEW_COLUMNS = 2.0
"""Effective number of columns that hold the variance, (Σv)² / Σv², below which it is few."""


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


def check_noise(noise: Any, n_targets: int) -> Array | str:
    """Return the noise as one level for each target, ``"loo"`` and ``"evidence"`` as they are."""
    if isinstance(noise, str):
        if noise not in ("loo", "evidence"):
            raise InputError(f"noise_variance must be a number, 'loo' or 'evidence', got {noise!r}")
        return noise
    levels = np.asarray(noise)
    if levels.dtype.kind not in "biuf" or levels.shape not in ((), (n_targets,)):
        wanted = "a number" if n_targets == 1 else f"a number or {n_targets} of them"
        raise InputError(f"noise_variance must be {wanted}, 'loo' or 'evidence', got {noise!r}")
    if not np.isfinite(levels).all() or (levels < 0).any():
        raise InputError(f"noise_variance must be finite and at least 0, got {noise}")
    return np.broadcast_to(levels.astype(np.float64), (n_targets,))


def warn_of_raw_features(features: Any) -> None:
    """Warn where dense features hide what tells nodes apart, since kernels see directions.

    Either all rows point the same way, because the columns are far from 0, or one or two columns
    in a larger unit hold nearly all variance. Sparse features, and those that are mostly 0 and
    never negative, are counts, words or one-hot codes, and fine.
    """
    if sp.issparse(features):
        return
    rows = features[:: max(1, len(features) // SAMPLED_ROWS)]
    if not rows.any() or ((rows >= 0).all() and np.mean(rows == 0) > 0.5):
        return
    rows = np.asarray(rows, dtype=np.float64)
    rows = rows / np.abs(rows).max()
    variance = rows.var(axis=0)
    if variance.sum() <= np.finfo(np.float64).eps:
        return
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    directions = rows[lengths > 0] / lengths[lengths > 0, None]
    cosine = float(np.sum(directions.mean(axis=0) ** 2))
    columns = float(variance.sum() ** 2 / np.sum(variance**2))
    if cosine > UNCENTRED:
        found = f"are not centred: the mean cosine of two rows is {cosine:.3g}"
    elif columns < min(FEW_COLUMNS, len(variance) / 4):
        share = float(variance.max() / variance.sum())
        found = f"are not scaled: column {variance.argmax()} holds {share:.1%} of the variance"
    else:
        return
    warnings.warn(
        f"the features {found}, and kernels see directions alone; standardise X first, for "
        "example by sklearn.preprocessing.StandardScaler().fit_transform(X)",
        GPGCWarning,
        stacklevel=4,
    )
