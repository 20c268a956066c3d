"""Checks of what the estimators are given besides labels and graph."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.errors import InputError

FeatureNorm = Literal["none", "l1", "l2"]

NUMBERS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
"""How scikit-learn checks features."""

LARGEST_NOISE = 1e30
"""σ² at most, which float32 holds."""


def with_norm(features: Any, norm: FeatureNorm) -> Any:
    """Return features with rows scaled to the wanted norm; rows of zeros stay."""
    check_choice("feature_norm", norm, get_args(FeatureNorm))
    matrix = sp.csr_array(features) if sp.issparse(features) else features
    if norm == "none":
        return matrix
    from sklearn.preprocessing import normalize

    return normalize(matrix, norm=norm)


def check_nodes(
    nodes: Any, n_nodes: int, names: NDArray[Any] | None = None, what: str = "nodes"
) -> Integers | None:
    """Return nodes as indices, None as it is."""
    if nodes is None:
        return None
    chosen = np.asarray(nodes)
    if chosen.size == 0:
        chosen = chosen.astype(np.intp)
    if chosen.ndim == 1 and all(isinstance(node, str) for node in chosen.tolist()):
        position = {} if names is None else {name: row for row, name in enumerate(names.tolist())}
        if unknown := [node for node in chosen.tolist() if node not in position]:
            known = "nodes of the graph" if position else "indices, as the graph has no names"
            raise InputError(f"{what} must be {known}, got {unknown[0]!r:.60}")
        chosen = np.array([position[node] for node in chosen.tolist()], dtype=np.intp)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InputError(
            f"{what} must be whole numbers, or names of the graph's nodes, in one dimension, "
            f"got shape {chosen.shape} and dtype {chosen.dtype}"
        )
    outside = chosen[(chosen < 0) | (chosen >= n_nodes)]
    if len(outside):
        raise InputError(f"{what} must lie between 0 and {n_nodes - 1}, got {outside[0]}")
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
    if not ((levels >= 0) & (levels <= LARGEST_NOISE)).all():
        raise InputError(f"noise_variance must be from 0 to {LARGEST_NOISE:g}, got {noise}")
    return np.broadcast_to(levels.astype(np.float64), (n_targets,))


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of the values it may have."""
    if value not in allowed:
        raise InputError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
