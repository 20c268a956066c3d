"""Arrays in ``.npy`` and ``.npz`` files from outside: no pickle, no claim of size believed."""

from __future__ import annotations

import io
import math
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.files.memory import physical_memory

HIGHEST_COMPRESSION = 1032
"""Bytes that one byte of deflated content can stand for at most."""

_SLACK = 2**20


def seekable(file: IO[bytes]) -> IO[bytes]:
    """Return an open file, or what a FIFO or standard input holds, which is then read whole."""
    if file is sys.stdin.buffer:
        return io.BytesIO(file.read())
    if file.seekable():
        return file
    with file:
        return io.BytesIO(file.read())


def read_npy(path: Path) -> NDArray[Any]:
    """Read one array from an ``.npy`` file whose size fits what its header claims."""
    with seekable(path.open("rb")) as file:
        size = file.seek(0, io.SEEK_END)
        file.seek(0)
        try:
            return _read_array(file, size)
        except Exception as error:  # damaged files raise almost anything
            raise DataError(f"{path}: expected a NumPy array, got {_reason(error)}") from error


def read_npz(
    path: Path,
    required: Iterable[str] | None = None,
    optional: Iterable[str] = (),
    *,
    memory_limit: int | None = None,
) -> dict[str, NDArray[Any]]:
    """Read arrays by name, or all of them, once what they claim to take fits in memory."""
    wanted = None if required is None else list(required)
    with seekable(path.open("rb")) as file:
        if file.read(6) == npy.MAGIC_PREFIX:
            raise DataError(f"{path}: expected an .npz archive of arrays, got a single array")
        try:
            archive = zipfile.ZipFile(file)
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        except Exception as error:
            raise DataError(
                f"{path}: not an .npz archive that can be read ({_reason(error)})"
            ) from error
        with archive:
            most = physical_memory() if memory_limit is None else memory_limit
            return _arrays(archive, members, str(path), wanted, list(optional), most)


def pack_npz(arrays: Mapping[str, NDArray[Any]], *, compressed: bool = True) -> bytes:
    """Return the bytes of an ``.npz`` archive of arrays; equal arrays give equal bytes."""
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InputError(f"{name} must hold numbers or text, got Python objects")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")  # of a fixed date: equal arrays, equal bytes
            info.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            with archive.open(info, "w", force_zip64=True) as member:
                npy.write_array(member, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def _arrays(
    archive: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    source: str,
    required: list[str] | None,
    optional: list[str],
    most_bytes: int,
) -> dict[str, NDArray[Any]]:
    needed = list(members) if required is None else required
    if absent := [name for name in needed if name not in members]:
        raise DataError(
            f"{source}: has no array {absent[0]}, only {', '.join(members)[:200] or 'nothing'}"
        )
    claimed = sum(members[name].file_size for name in {*needed, *optional} if name in members)
    if claimed > physical_memory():
        raise DataError(
            f"{source}: its arrays need {claimed / 2**30:,.0f} GiB, more memory than there is"
        )
    if claimed > most_bytes:
        raise DataError(
            f"{source}: its arrays would take {claimed / 2**20:,.0f} MiB, more than memory_limit, "
            f"{most_bytes / 2**20:,.0f} MiB: give a higher one if you trust the file"
        )
    arrays = {}
    for name in [*needed, *(name for name in optional if name in members)]:
        try:
            info = members[name]
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("a compression that NumPy does not write")
            if info.file_size > HIGHEST_COMPRESSION * info.compress_size + _SLACK:
                raise ValueError("more bytes claimed than it can hold")
            with archive.open(info) as file:
                arrays[name] = _read_array(file, info.file_size)
        except Exception as error:
            if name in optional and isinstance(error, _NeedsPickleError):
                continue
            raise DataError(
                f"{source}: the array {name} cannot be read ({_reason(error)})"
            ) from error
    return arrays


class _NeedsPickleError(ValueError):
    """An array of Python objects."""


def _read_array(file: IO[bytes], size: int) -> NDArray[Any]:
    """Read an array from a stream of ``size`` bytes, if its header claims just what is there."""
    version = npy.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"format version {version}, which holds no plain numbers")
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if dtype.hasobject:
        raise _NeedsPickleError("Python objects, which only pickle can read")
    if dtype.itemsize == 0:
        raise ValueError(f"values of no size ({dtype})")
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes != size - file.tell():
        raise ValueError(
            f"shape {shape} of {dtype}, which takes {n_bytes:,} bytes, and "
            f"{max(size - file.tell(), 0):,} bytes of content"
        )
    file.seek(0)
    array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    if file.read(1):  # at the end of an archive's member its checksum is compared
        raise ValueError("more content than its header claims")
    return array


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else f"{text[:200]}…"
