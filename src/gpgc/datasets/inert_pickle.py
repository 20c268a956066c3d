"""Pickles of arrays from outside, read so that nothing of the file's choosing ever runs.

Every global that such a file may name is replaced by a record that only keeps what it is given;
the arrays are then rebuilt here, from raw bytes and a checked type. Neither NumPy's nor SciPy's
own unpickling code meets the file, and any other global is refused.
"""

from __future__ import annotations

import io
import math
import pickle
import pickletools
from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from gpgc.errors import DataError
from gpgc.files import checked_csr

_NUMBER_TYPES = frozenset(["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"])
_MOST_TUPLES = 10_000


class _Record:
    """Keeps the arguments and the state that a pickle gives to an object, and does nothing else."""

    def __init__(self, *arguments: object) -> None:
        self.arguments = arguments
        self.state: object = None

    def __setstate__(self, state: object) -> None:
        self.state = state


class _Array(_Record):
    """Stands for ``numpy.ndarray`` and the function that NumPy rebuilds it with."""


class _DType(_Record):
    """Stands for ``numpy.dtype``."""


class _Csr(_Record):
    """Stands for ``scipy.sparse.csr_matrix``."""


class _Latin1(bytes):
    """Stands for ``_codecs.encode``, which Python 3 writes around bytes in old protocols."""

    def __new__(cls, text: str, encoding: str) -> bytes:  # type: ignore[misc]
        if encoding != "latin1":
            raise pickle.UnpicklingError(f"encoding {encoding!r}")
        return text.encode("latin1")

    def __setstate__(self, state: object) -> None:
        raise pickle.UnpicklingError("bytes with a state")


_STAND_INS: dict[tuple[str, str], type] = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _DType,
    ("scipy.sparse.csr", "csr_matrix"): _Csr,
    ("scipy.sparse._csr", "csr_matrix"): _Csr,
    ("collections", "defaultdict"): defaultdict,
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    ("_codecs", "encode"): _Latin1,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, source: str) -> None:
        super().__init__(io.BytesIO(data), encoding="latin1")
        self._source = source

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _STAND_INS[module, name]
        except KeyError:
            raise DataError(
                f"{self._source}: expected a pickle of arrays alone, but it names "
                f"{module}.{name}; refused"
            ) from None


def load_pickle(data: bytes, source: str) -> object:
    """Read a pickle of containers, numbers, text and arrays.

    Parameters
    ----------
    data : bytes
        The pickle, of any protocol up to 4.
    source : str
        The file's name, for error messages.

    Returns
    -------
    object
        Plain Python values; arrays come out as records for `as_array` and `as_csr`.
    """
    try:
        _refuse_bombs(data, source)
        return _Unpickler(data, source).load()
    except (
        pickle.UnpicklingError,
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        MemoryError,
        TypeError,
        ValueError,
    ) as error:
        raise DataError(f"{source}: truncated or damaged pickle ({error})") from error


def _refuse_bombs(data: bytes, source: str) -> None:
    """Refuse what would exhaust memory or stack before any of it can be checked."""
    tuples = 0
    for opcode, argument, _ in pickletools.genops(data):
        # Python keeps the memo as an array as long as its highest index ...
        if opcode.name.endswith("PUT") and int(argument or 0) > len(data):
            raise DataError(f"{source}: memo index {argument} in a pickle of {len(data)} bytes")
        # ... and hashes nested tuples by recursion without a limit
        tuples += opcode.name.startswith("TUPLE")
        if tuples > _MOST_TUPLES:
            raise DataError(f"{source}: more than {_MOST_TUPLES} tuples in a pickle of arrays")


def as_array(value: object, source: str) -> NDArray[Any]:
    """Rebuild the array of numbers that a record from `load_pickle` describes."""
    match value:
        case _Array(
            state=(
                _,
                tuple(shape),
                _DType(arguments=(str(code), *_), state=(_, str(order), *_)),
                bool(by_columns),
                str() | bytes() as content,
            )
        ) if code in _NUMBER_TYPES and order in ("<", ">", "|", "="):
            pass
        case _:
            raise DataError(f"{source}: expected an array of numbers, got {_kind(value)}")
    if not all(type(n) is int and n >= 0 for n in shape):
        raise DataError(f"{source}: array with the impossible shape {shape}")
    dtype = np.dtype(order + code)
    try:
        raw = content.encode("latin1") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        raise DataError(f"{source}: text where the bytes of an array belong") from error
    if len(raw) != math.prod(shape) * dtype.itemsize:
        raise DataError(
            f"{source}: array of shape {shape} and type {dtype} needs "
            f"{math.prod(shape) * dtype.itemsize} bytes, got {len(raw)}"
        )
    values = np.frombuffer(raw, dtype=dtype).reshape(shape, order="F" if by_columns else "C")
    if not np.isfinite(values).all():
        raise DataError(f"{source}: array with values that are not finite")
    return values.astype(dtype.newbyteorder("="))


def as_csr(value: object, source: str) -> csr_array:
    """Rebuild the sparse matrix that a record from `load_pickle` describes, as float64."""
    if not (isinstance(value, _Csr) and isinstance(value.state, dict)):
        raise DataError(f"{source}: expected a sparse matrix, got {_kind(value)}")
    parts = {
        part: as_array(value.state.get(part), f"{source} ({part})")
        for part in ("data", "indices", "indptr")
    }
    return checked_csr(**parts, shape=value.state.get("_shape"), source=source)


def _kind(value: object) -> str:
    names: dict[type, str] = {_Array: "an array of another kind", _Csr: "a sparse matrix"}
    return names.get(type(value), type(value).__name__)
