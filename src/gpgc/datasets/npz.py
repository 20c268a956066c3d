"""Archives of arrays from outside, read without pickle."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray

from gpgc.errors import DataError

# zipfile raises RuntimeError for what it does not support
_DAMAGE = (OSError, EOFError, ValueError, MemoryError, RuntimeError, zipfile.BadZipFile, zlib.error)


def read_npz(
    path: Path, required: Iterable[str], optional: Iterable[str] = ()
) -> dict[str, NDArray[Any]]:
    """Read arrays by name; those that would need pickle are refused, or left out if optional."""
    with path.open("rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
        except _DAMAGE as error:
            raise DataError(f"{path}: not an .npz archive that can be read ({error})") from error
        if not isinstance(archive, NpzFile):
            raise DataError(f"{path}: expected an .npz archive of arrays, got a single array")
        return _arrays(archive, str(path), list(required), list(optional))


def _arrays(
    archive: NpzFile, source: str, required: list[str], optional: list[str]
) -> dict[str, NDArray[Any]]:
    if absent := [name for name in required if name not in archive]:
        raise DataError(
            f"{source}: has no array {absent[0]}, only {', '.join(archive.files) or 'nothing'}"
        )
    arrays = {}
    for name in [*required, *(name for name in optional if name in archive)]:
        try:
            arrays[name] = archive[name]
        except _DAMAGE as error:
            if name in optional and isinstance(error, ValueError):
                continue
            raise DataError(f"{source}: the array {name} cannot be read ({error})") from error
    return arrays
