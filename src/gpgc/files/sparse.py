"""Sparse matrices in and out of files, and in from users: checked in full, without duplicates.

A matrix is stored as the arrays ``data``, ``indices``, ``indptr`` and ``shape`` of its CSR form,
each with a prefix before its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.files.arrays import read_npz
from gpgc.files.memory import physical_memory

PARTS = ("data", "indices", "indptr", "shape")


def checked_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: object,
    source: str,
    dtype: Any = np.float64,
) -> sp.csr_array:
    """Join the arrays of a CSR matrix from outside, if they fit each other in every entry.

    Parameters
    ----------
    data, indices, indptr : arrays of shape (nnz,), (nnz,) and (rows + 1,)
        Finite real numbers; columns from 0 on; where each row begins, never falling.
    shape : pair of int
        Rows and columns, each below 2³¹.
    source : str
        Where the arrays come from, for the error message.
    dtype : dtype, default float64
        Of the result; None keeps the one of ``data``.

    Returns
    -------
    csr_array
        Indices sorted, duplicates summed; the arrays that were given are not changed.

    Raises
    ------
    DataError
        If anything does not fit.

    Examples
    --------
    >>> ones = np.ones(2)
    >>> checked_csr(ones, np.array([1, 1]), np.array([0, 2]), (1, 2), "example").toarray()
    array([[0., 2.]])
    """
    rows, columns = _checked_shape(shape, source)
    if wrong := _wrong_csr(data, indices, indptr, rows, columns):
        raise DataError(
            f"{source}: the arrays of sizes {data.size}, {indices.size} and {indptr.size} do not "
            f"make a sparse matrix of shape ({rows}, {columns}) with finite values: {wrong}"
        )
    values = data.astype(data.dtype if dtype is None else dtype)
    index = np.int32 if max(data.size, columns) < 2**31 else np.int64
    parts = (values, indices.astype(index), indptr.astype(index))
    matrix = sp.csr_array(parts, shape=(rows, columns))
    matrix.sum_duplicates()
    return matrix


def canonical_csr(matrix: Any, name: str, dtype: Any = None) -> sp.csr_array:
    """Return a sparse matrix of a user as CSR with sorted indices and without duplicate entries.

    The arrays are checked before SciPy's compiled code reads them, whose behaviour on wrong indices
    is undefined. Duplicates are summed in ``dtype``. The user's object is not changed.

    Parameters
    ----------
    matrix : sparse matrix
        Of any format.
    name : str
        How to call the argument in error messages.
    dtype : dtype, optional
        Of the result; that of the matrix when not given.

    Raises
    ------
    InputError
        If the arrays of the matrix do not fit each other.

    Examples
    --------
    >>> twice = sp.csr_array((np.ones(2), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    >>> canonical_csr(twice, "X").data, twice.nnz
    (array([2.]), 2)
    """
    if matrix.ndim != 2:
        raise InputError(f"{name} must be a matrix of rows and columns, got shape {matrix.shape}")
    wrong = ""
    if matrix.format in ("csr", "csc"):
        outer, inner = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
        wrong = _wrong_csr(matrix.data, matrix.indices, matrix.indptr, outer, inner, values=False)
    elif matrix.format == "coo":
        wrong = _wrong_coo(matrix.data, matrix.row, matrix.col, *matrix.shape)
    if wrong:
        raise InputError(f"{name} must be a valid sparse matrix, got {wrong}")
    result = matrix
    if dtype is not None and matrix.dtype != dtype:
        result = matrix.astype(dtype)
    result = sp.csr_array(result)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    return result


def pack_sparse(matrix: Any, prefix: str) -> dict[str, NDArray[Any]]:
    """Return the arrays that a file holds of a sparse matrix, by name.

    Examples
    --------
    >>> sorted(pack_sparse(sp.eye_array(2), "adjacency/"))
    ['adjacency/data', 'adjacency/indices', 'adjacency/indptr', 'adjacency/shape']
    """
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
    kind = kind.decode("latin1") if isinstance(kind, bytes) else kind
    rows, columns = _checked_shape(arrays["shape"].tolist(), str(path))
    if 8 * (rows + columns) > physical_memory():
        raise DataError(
            f"{path}: one number for each of {rows:,} rows and {columns:,} columns needs "
            f"{8 * (rows + columns) / 2**30:,.0f} GiB, more memory than there is"
        )
    data = arrays["data"]
    if kind in ("csr", "csc") and {"indices", "indptr"} <= set(arrays):
        shape = (rows, columns) if kind == "csr" else (columns, rows)
        matrix = checked_csr(data, arrays["indices"], arrays["indptr"], shape, str(path), None)
        return matrix if kind == "csr" else sp.csr_array(matrix.T)
    if kind == "coo" and {"row", "col"} <= set(arrays):
        ends = arrays["row"], arrays["col"]
        if wrong := _wrong_coo(data, *ends, rows, columns) or _wrong_values(data):
            raise DataError(f"{path}: expected a sparse matrix, got {wrong}")
        return canonical_csr(sp.coo_array((data, ends), shape=(rows, columns)), str(path))
    raise DataError(f"{path}: expected a sparse matrix of format csr, csc or coo, got {kind!r}")


def _checked_shape(shape: object, source: str) -> tuple[int, int]:
    match shape:
        case [int(rows), int(columns)] if 0 <= rows < 2**31 and 0 <= columns < 2**31:
            return rows, columns
    raise DataError(
        f"{source}: expected a matrix shape of two whole numbers below 2^31, got {shape!r}"
    )


def _wrong_csr(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    rows: int,
    columns: int,
    values: bool = True,
) -> str:
    """Return what is wrong with the arrays of a CSR matrix, or nothing."""
    if any(part.ndim != 1 for part in (data, indices, indptr)):
        return "arrays that are not 1-D"
    if any(part.dtype.kind not in "iu" for part in (indices, indptr)):
        return "indices that are not whole numbers"
    if indptr.size != rows + 1 or indptr[0] != 0:
        return f"an indptr of {indptr.size} entries that does not describe {rows} rows"
    if (indptr[1:] < indptr[:-1]).any():
        return "an indptr that falls"
    if not indptr[-1] == indices.size == data.size:
        return f"{indices.size} indices and {data.size} values where indptr ends at {indptr[-1]}"
    if indices.size and (indices.min() < 0 or indices.max() >= columns):
        return f"indices from {indices.min()} to {indices.max()} in {columns} columns"
    return _wrong_values(data) if values else ""


def _wrong_coo(
    data: NDArray[Any], row: NDArray[Any], col: NDArray[Any], rows: int, columns: int
) -> str:
    if not (data.ndim == 1 and data.shape == row.shape == col.shape):
        return "arrays that are not 1-D and of one length"
    for index, size in ((row, rows), (col, columns)):
        if index.dtype.kind not in "iu":
            return "indices that are not whole numbers"
        if index.size and (index.min() < 0 or index.max() >= size):
            return f"indices from {index.min()} to {index.max()} where {size} are possible"
    return ""


def _wrong_values(data: NDArray[Any]) -> str:
    if data.dtype.kind not in "biuf":
        return f"values of type {data.dtype}"
    return "" if np.isfinite(data).all() else "values that are NaN or infinite"
