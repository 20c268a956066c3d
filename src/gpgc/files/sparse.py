"""Sparse matrices in and out of files, and in from users: checked in full, without duplicates."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.files.arrays import read_npz

PARTS = ("data", "indices", "indptr", "shape")

WIDEST = 2**24
"""Columns that a matrix from a file may have however few its entries: products need memory for
each column, and the shape in a file is a mere claim."""


def checked_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: object,
    source: str,
    dtype: Any = np.float64,
) -> sp.csr_array:
    """Join the arrays of a CSR matrix from outside, if they fit each other in every entry."""
    return _from_outside("csr", data, (indices, indptr), shape, source, dtype)


def canonical_csr(matrix: Any, name: str, dtype: Any = None) -> sp.csr_array:
    """Return a user's sparse matrix, checked, as CSR with sorted indices and without duplicates."""
    if matrix.ndim != 2:
        raise InputError(f"{name} must be a matrix of rows and columns, got shape {matrix.shape}")
    result = matrix
    try:  # before compiled code reads its indices
        if matrix.format in ("csr", "csc"):
            places = matrix.indices, matrix.indptr
            result = _checked(matrix.format, matrix.data, places, matrix.shape)
        elif matrix.format == "coo":
            result = _checked("coo", matrix.data, (matrix.row, matrix.col), matrix.shape)
    except ValueError as error:
        raise InputError(f"{name} must be a valid sparse matrix, got {error}") from error
    if dtype is not None and matrix.dtype != dtype:
        result = result.astype(dtype)
    result = sp.csr_array(result)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result


def pack_sparse(matrix: Any, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that a file holds of a sparse matrix: a prefix and each of ``PARTS``."""
    rows = canonical_csr(matrix, prefix)
    parts = (rows.data, rows.indices, rows.indptr, np.array(rows.shape))
    return {prefix + part: array for part, array in zip(PARTS, parts, strict=True)}


def unpack_sparse(
    arrays: Mapping[str, NDArray[Any]], prefix: str, source: str, dtype: Any = None
) -> sp.csr_array:
    """Return the matrix whose arrays :func:`pack_sparse` gave, checked by :func:`checked_csr`."""
    if absent := [part for part in PARTS if prefix + part not in arrays]:
        raise DataError(f"{source}: has no array {prefix}{absent[0]}")
    data, indices, indptr, shape = (arrays[prefix + part] for part in PARTS)
    where = f"{source} ({prefix}*)"
    return checked_csr(data, indices, indptr, shape.tolist(), where, dtype)


def read_sparse(path: Path) -> sp.csr_array:
    """Read the ``.npz`` that ``scipy.sparse.save_npz`` writes of a CSR, CSC or COO matrix."""
    arrays = read_npz(path, ["format", "shape", "data"], ["indices", "indptr", "row", "col"])
    kind = arrays["format"].tolist()
    kind = kind.decode("latin1") if isinstance(kind, bytes) else str(kind)
    names = ("row", "col") if kind == "coo" else ("indices", "indptr")
    if kind not in _KINDS or not set(names) <= set(arrays):
        raise DataError(
            f"{path}: expected a sparse matrix of format csr, csc or coo, got {kind!r:.60}"
        )
    places = arrays[names[0]], arrays[names[1]]
    return _from_outside(kind, arrays["data"], places, arrays["shape"].tolist(), str(path), None)


_KINDS = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}
_Places = tuple[NDArray[Any], NDArray[Any]]


def _from_outside(
    kind: str, data: NDArray[Any], places: _Places, shape: object, source: str, dtype: Any
) -> sp.csr_array:
    """Return arrays of a file as CSR, float32 or float64 without a dtype; refuse wrong ones."""
    match shape:
        case [int(rows), int(columns)] if 0 <= rows < 2**31 and 0 <= columns < 2**31:
            size = max(rows, columns)
        case _:
            raise DataError(
                f"{source}: expected a matrix shape of two whole numbers below 2^31, "
                f"got {shape!r:.60}"
            )
    try:
        if data.dtype.kind not in "biuf" or not np.isfinite(data).all():
            raise ValueError(f"values of type {data.dtype} that are not all finite numbers")
        if size > max(WIDEST, 64 * data.size):
            raise ValueError(f"only {data.size:,} entries for {size:,} rows or columns")
        own = np.float32 if data.dtype == np.float32 else np.float64
        matrix = _checked(kind, data.astype(own if dtype is None else dtype), places, shape)
    except ValueError as error:
        raise DataError(
            f"{source}: arrays of {data.size} values and {places[0].size} and {places[1].size} "
            f"indices do not make a sparse matrix of shape ({rows}, {columns}): {error}"
        ) from error
    matrix = sp.csr_array(matrix)
    matrix.sum_duplicates()
    return matrix


def _checked(kind: str, data: NDArray[Any], places: _Places, shape: Any) -> Any:
    """Return the matrix of arrays that SciPy has checked in full; ValueError of wrong ones."""
    if any(part.dtype.kind not in "iu" for part in places):
        raise ValueError("indices that are not whole numbers")
    try:
        if kind == "coo":
            return sp.coo_array((data, places), shape=tuple(shape))
        matrix = _KINDS[kind]((data, *places), shape=tuple(shape))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"indices that do not fit: {error}") from error
    indptr = places[1]
    if matrix.nnz != data.size or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"indices that do not fit: {data.size} values and an indptr that differs")
    return matrix
