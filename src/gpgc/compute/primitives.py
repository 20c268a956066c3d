"""The innermost loops: by NumPy, or by machine code where that is worth it and numba is there."""

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

CHUNK = 2**16
"""Entries that pass all steps of a formula at once: few enough to stay in a core's cache, many
enough that threads seldom wait for each other between two steps."""


class Primitives:
    """The innermost loops by NumPy and SciPy: the reference."""

    multiplies_sparse = False
    """Whether a product with a sparse right-hand side comes out dense at no extra cost."""

    def scale_rows(self, rows: Array) -> tuple[Array, Array]:
        """Scale the rows of an array to length 1 in place; return it and their lengths."""
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        rows *= inverse[:, None]
        return rows, lengths

    def rows_times(self, matrix: sp.csr_array, index: slice | Integers, right: Any) -> Array:
        """Return matrix[index] @ right as an array."""
        is_whole = isinstance(index, slice) and index == slice(None)
        rows = matrix if is_whole else matrix[index]
        return np.asarray(rows @ right)

    def relu_correlation(self, correlation: Array) -> Array:
        """Return κ̂(c) = (√(1 − c²) + (π − arccos c) c) / π (equation 9), in place where it can."""
        correlation = np.ascontiguousarray(correlation)
        flat = correlation.reshape(-1)
        angles = np.empty(min(CHUNK, flat.size), dtype=flat.dtype)
        sines = np.empty_like(angles)
        for start in range(0, flat.size, CHUNK):
            c = flat[start : start + CHUNK]
            angle, sine = angles[: c.size], sines[: c.size]
            np.clip(c, -1, 1, out=c)
            np.arccos(c, out=angle)
            np.subtract(np.pi, angle, out=angle)
            np.multiply(c, c, out=sine)
            np.subtract(1, sine, out=sine)
            np.sqrt(sine, out=sine)
            c *= angle
            c += sine
            c *= 1 / np.pi
        return correlation


class CompiledPrimitives(Primitives):
    """The innermost loops as machine code, for float32."""

    multiplies_sparse = True

    def __init__(self, loops: ModuleType) -> None:
        self._loops = loops

    def scale_rows(self, rows: Array) -> tuple[Array, Array]:
        """Scale the rows of an array to length 1 in place; return it and their lengths."""
        lengths = np.empty(len(rows), dtype=rows.dtype)
        self._loops.scale_rows(rows, lengths)
        return rows, lengths

    def rows_times(self, matrix: sp.csr_array, index: slice | Integers, right: Any) -> Array:
        """Return matrix[index] @ right as an array, for a dense or a sparse right-hand side."""
        rows = np.arange(*index.indices(matrix.shape[0])) if isinstance(index, slice) else index
        out = np.empty((len(rows), right.shape[1]), dtype=matrix.dtype)
        left = matrix.indptr, matrix.indices, matrix.data
        if sp.issparse(right):
            self._loops.times_sparse(*left, rows, right.indptr, right.indices, right.data, out)
        else:
            self._loops.times_dense(*left, rows, right, out)
        return out

    def relu_correlation(self, correlation: Array) -> Array:
        """Return κ̂ of correlations before a ReLU, in place where it can."""
        correlation = np.ascontiguousarray(correlation)
        self._loops.relu_correlation(correlation.reshape(-1))
        return correlation


NUMPY = Primitives()


def primitives_for(n_nodes: int, dtype: np.dtype[Any]) -> Primitives:
    """Return compiled loops for a large graph in float32 where numba is installed, else NumPy's."""
    large = n_nodes >= LARGE and dtype == np.float32
    return (_compiled() or NUMPY) if large else NUMPY


@cache
def _compiled() -> Primitives | None:
    if find_spec("numba") is None:
        return None
    try:
        from gpgc.compute import loops
    except ImportError as error:
        warnings.warn(
            f"numba is installed but cannot be used, so loops are not compiled: {error}",
            GPGCWarning,
            stacklevel=2,
        )
        return None
    return CompiledPrimitives(loops)
