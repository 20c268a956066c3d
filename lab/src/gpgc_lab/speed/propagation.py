"""The propagation matrix, by SciPy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp


def propagation(adjacency: Any, dtype: Any) -> Any:
    """Return Â, the adjacency with loops, divided by the roots of both degrees."""
    with_loops = sp.csr_array(adjacency + sp.eye_array(adjacency.shape[0], format="csr"))
    scale = sp.diags_array(np.asarray(with_loops.sum(axis=1)) ** -0.5)
    return sp.csr_array(scale @ with_loops @ scale).astype(dtype)
