"""Features too wide to diffuse: a sparse random projection that keeps their inner products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc.compute import Context


@dataclass(frozen=True)
class WideFeatures:
    """From which size on features are projected, and to what.

    Parameters
    ----------
    n_bytes : int, default 1 GiB
        Size of the diffused features up to which they stay as they are.
    n_columns : int, default 1024
        Columns after the projection; cosines carry an error of about 1 / √n_columns.
    n_entries : int, default 8
        Entries of the projection matrix in each row.
    """

    n_bytes: int = 2**30
    n_columns: int = 1024
    n_entries: int = 8


WIDE = WideFeatures()


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows (n, F) → rows (n, k): X R, or X as it is where there is no R."""

    matrix: sp.csr_array | None
    n_columns: int

    @property
    def approximations(self) -> tuple[str, ...]:
        """What is not exact: that features are projected."""
        if self.matrix is None:
            return ()
        wide, narrow = self.matrix.shape
        return (f"features projected from {wide:,} to {narrow:,} columns",)

    def apply(self, rows: Any) -> Any:
        """Return X R."""
        return rows if self.matrix is None else rows @ self.matrix


def projection_for(
    features: Any, seed: int, context: Context, wide: WideFeatures = WIDE
) -> Projection:
    """Return the projection of features that are too wide once diffused, else none.

    It depends on the data alone, never on a memory limit.
    """
    n_nodes, n_features = features.shape
    size = n_nodes * n_features * context.dtype.itemsize
    if n_features <= wide.n_columns or size <= wide.n_bytes:
        return Projection(None, n_features)
    rng = np.random.default_rng(seed)
    shape = (n_features, wide.n_entries)
    columns = rng.integers(wide.n_columns, size=shape)
    signs = rng.choice([-1.0, 1.0], size=shape) / np.sqrt(wide.n_entries)
    rows = np.repeat(np.arange(n_features), wide.n_entries)
    entries = (signs.ravel(), (rows, columns.ravel()))
    return Projection(sp.csr_array(entries, shape=(n_features, wide.n_columns)), wide.n_columns)
