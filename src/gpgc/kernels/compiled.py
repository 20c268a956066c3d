"""The innermost steps, by machine code where it is worth it and numba is installed."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.errors import GPGCWarning

LARGE = 10_000
"""Nodes from which machine code is worth the quarter of a second that loading it takes."""


def loops_for(n_nodes: int, dtype: np.dtype[Any]) -> ModuleType | None:
    """Return the compiled loops for a graph of this size in float32, else None.

    Examples
    --------
    >>> loops_for(100, np.dtype("float32")), loops_for(10**6, np.dtype("float64"))
    (None, None)
    """
    return _loops() if n_nodes >= LARGE and dtype == np.float32 else None


@cache
def _loops() -> ModuleType | None:
    if find_spec("numba") is None:
        return None
    try:
        from gpgc.kernels import loops
    except ImportError as error:
        warnings.warn(
            f"numba is installed but cannot be used, so loops are not compiled: {error}",
            GPGCWarning,
            stacklevel=2,
        )
        return None
    return loops


def rows_times(
    loops: ModuleType | None,
    matrix: sp.csr_array,
    index: slice | Integers,
    right: Any,
    out: Array | None = None,
) -> Array:
    """Return matrix[index] @ right as an array; a sparse right-hand side needs compiled loops."""
    if loops is None:
        product = np.asarray(matrix[index] @ right)
        if out is None:
            return product
        out[...] = product
        return out
    rows = np.arange(*index.indices(matrix.shape[0])) if isinstance(index, slice) else index
    if out is None:
        out = np.empty((len(rows), right.shape[1]), dtype=matrix.dtype)
    left = matrix.indptr, matrix.indices, matrix.data
    if sp.issparse(right):
        loops.times_sparse(*left, rows, right.indptr, right.indices, right.data, out)
    else:
        loops.times_dense(*left, rows, right, out)
    return out
