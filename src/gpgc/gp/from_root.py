"""Products of a root in float32, added up in float64.

Weights of labels are many times larger than the means that are left of their sum, and Γ_DD in
float32, whose entries are rounded one by one, is no longer that of the root: with 2,000 labels and
a noise of .005, means are wrong by .007 so, and by .000002 where both are sums over the same root.
"""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.kernels import Covariance

MOST_COLUMNS = 6000
"""Columns up to which a root is worth more than blocks: those of *broad* on small graphs."""

TILE_BYTES = 2**27
"""Size of the labelled rows of a root that are held at once."""

COPIES = 16
"""What an entry of these rows takes while it is computed and put into float64, in bytes."""


def has_small_root(covariance: Covariance) -> bool:
    """Tell whether there is a root of few columns."""
    return covariance.rank is not None and covariance.rank <= MOST_COLUMNS


def label_gram(covariance: Covariance, labelled: Integers) -> Array:
    """Return Γ_DD, in float64 from the root where there is one of few columns.

    Nor does the root compute and keep columns of all nodes, as a block may.
    """
    if not has_small_root(covariance):
        return covariance.block(labelled, labelled)
    gram, parts = np.empty((len(labelled), len(labelled))), _tiles(covariance, labelled)
    for number, part in enumerate(parts):
        rows = covariance.root(labelled[part]).astype(np.float64)
        gram[part, part] = rows @ rows.T
        for other in parts[:number]:
            gram[part, other] = rows @ covariance.root(labelled[other]).astype(np.float64).T
            gram[other, part] = gram[part, other].T
    return gram


def label_means(
    covariance: Covariance, labelled: Integers, weights: Array, rows: Index = None
) -> Array:
    """Return Γ[rows, D] @ weights, by the root where there is one of few columns."""
    if not has_small_root(covariance):
        return np.asarray(covariance.matmul(rows, labelled, weights), np.float64)
    of_columns = np.zeros((covariance.rank or 0, weights.shape[1]))
    for part in _tiles(covariance, labelled):
        of_columns += covariance.root(labelled[part]).T.astype(np.float64) @ weights[part]
    return np.asarray(covariance.root_times(rows, of_columns), np.float64)


def _tiles(covariance: Covariance, labelled: Integers) -> list[slice]:
    row_bytes = COPIES * max(1, covariance.rank or 0)
    size = max(16, covariance.context.budget(TILE_BYTES) // row_bytes)
    return [slice(start, start + size) for start in range(0, len(labelled), size)]
