"""Sparse matrices from arrays that came from outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpgc.errors import DataError


def checked_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: object,
    source: str,
) -> csr_array:
    """Join the three arrays of a sparse matrix from outside, if they fit each other.

    Returns
    -------
    csr_array
        float64, indices sorted, duplicates summed.
    """
    match shape:
        case (int(rows), int(columns)) if 0 <= rows < 2**31 and 0 <= columns < 2**31:
            pass
        case _:
            raise DataError(f"{source}: expected a matrix shape of two integers, got {shape!r}")
    fits = (
        all(part.ndim == 1 for part in (data, indices, indptr))
        and all(np.issubdtype(part.dtype, np.integer) for part in (indices, indptr))
        and data.dtype.kind in "biuf"
        and indptr.size == rows + 1
        and indptr[0] == 0
        and indptr[-1] == indices.size == data.size
        and bool((indptr[1:] >= indptr[:-1]).all())
        and bool(((indices >= 0) & (indices < columns)).all())
        and bool(np.isfinite(data).all())
    )
    if not fits:
        raise DataError(
            f"{source}: the arrays of sizes {data.size}, {indices.size} and {indptr.size} do not "
            f"make a sparse matrix of shape ({rows}, {columns}) with finite values"
        )
    matrix = csr_array((data.astype(np.float64), indices, indptr), shape=(rows, columns))
    matrix.sum_duplicates()
    return matrix
