"""The innermost loops as machine code, for large graphs in float32; importing this needs numba.

Only :func:`gpgc.compute.primitives.loops_for` imports it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit
from numpy.polynomial import Chebyshev, Polynomial

from gpgc._typing import Array, Integers

DEGREE = 5
"""Of the polynomial below: its error, 4e-8, is smaller than float32 shows."""

_KEEPS_NAN = {"contract", "reassoc", "nsz", "arcp"}


def _compile(function: Any) -> Any:
    try:
        return njit(nogil=True, cache=True, fastmath=_KEEPS_NAN)(function)
    except RuntimeError:  # no folder that the machine code could be kept in
        return njit(nogil=True, fastmath=_KEEPS_NAN)(function)


def _residue(u: Any) -> Any:
    r"""Return q(u) with :math:`\hat\kappa(c) = \max(c, 0) + u^{3/2} q(u)`, u = 1 − |c|."""
    t = 1 - u
    return (np.sqrt(1 - t**2) - t * np.arccos(t)) / (np.pi * u**1.5)


_Q = tuple(
    np.float32(coefficient)
    for coefficient in Chebyshev.interpolate(_residue, DEGREE, domain=[0, 1])
    .convert(kind=Polynomial)
    .coef
)
_ONE, _ZERO = np.float32(1), np.float32(0)


@_compile
def relu_correlation(flat: Array) -> None:  # pragma: no cover (machine code)
    """Map c to max(c, 0) + u^1.5 q(u) in place, u = 1 − |c|: the ReLU's κ̂ without arc cosine."""
    for i in range(flat.size):
        c = flat[i]
        u = abs(_ONE - abs(c))
        q = _Q[0] + u * (_Q[1] + u * (_Q[2] + u * (_Q[3] + u * (_Q[4] + u * _Q[5]))))
        flat[i] = max(c, _ZERO) + u * math.sqrt(u) * q


@_compile
def scale_rows(block: Array, lengths: Array) -> None:  # pragma: no cover (machine code)
    """Scale rows to length 1 in place, but rows of zeros, and write their lengths."""
    for i in range(len(block)):
        row = block[i]
        square = _ZERO
        for k in range(row.size):
            square += row[k] * row[k]
        lengths[i] = math.sqrt(square)
        if square > 0:
            inverse = _ONE / lengths[i]
            for k in range(row.size):
                row[k] *= inverse


@_compile
def times_dense(
    indptr: Any, indices: Any, data: Any, rows: Integers, right: Array, out: Array
) -> None:  # pragma: no cover (machine code)
    """Write S[rows] @ right for S in compressed rows and a dense right-hand side."""
    for i in range(rows.size):
        row = out[i]
        row[:] = _ZERO
        entry, end = indptr[rows[i]], indptr[rows[i] + 1]
        while entry + 4 <= end:
            a, b, c, d = data[entry], data[entry + 1], data[entry + 2], data[entry + 3]
            p, q = right[indices[entry]], right[indices[entry + 1]]
            r, s = right[indices[entry + 2]], right[indices[entry + 3]]
            for k in range(row.size):
                row[k] += a * p[k] + b * q[k] + c * r[k] + d * s[k]
            entry += 4
        for last in range(entry, end):
            a, p = data[last], right[indices[last]]
            for k in range(row.size):
                row[k] += a * p[k]


@_compile
def times_sparse(
    indptr: Any, indices: Any, data: Any, rows: Integers, ptr: Any, at: Any, values: Any, out: Array
) -> None:  # pragma: no cover (machine code)
    """Write S[rows] @ right as a dense array, for S and a right-hand side in compressed rows."""
    for i in range(rows.size):
        row = out[i]
        row[:] = _ZERO
        for entry in range(indptr[rows[i]], indptr[rows[i] + 1]):
            weight, added = data[entry], indices[entry]
            for k in range(ptr[added], ptr[added + 1]):
                row[np.uintp(at[k])] += weight * values[k]
