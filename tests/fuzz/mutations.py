"""Small damages to files: of bytes, of the arrays in an archive, of the fields of a model file."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from gpgc.estimators.model_file import digest

ODD_BYTES = (b"\0", b"\xff\xff\xff\xff", b"\x7f\xff", b"[/b]", b'"', b"\n", b",", b"\t", b"\xef")
ODD_TEXT = (b"1e999", b"-1", b"nan", b"9" * 400, b"x" * 200_000, b"'", b"\xc3\x28", b"\r\r")
ODD_NUMBERS = (0, -1, 1, 2**31 - 1, 2**31, 2**40, 2**63 - 1, -(2**63), 10**6)
ODD_FLOATS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-320, -1.0, 0.0)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, "", "x", "9", [], {}, [1, 2], -1, 0, 2**70, 10**9, 1e308, 1e-308, float("nan")),
)


def damage_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip, cut, double, insert or overwrite, one to four times."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        start = int(rng.integers(0, len(data) + 1))
        length = int(min(rng.geometric(0.1), 60))
        odd = (ODD_BYTES + ODD_TEXT)[rng.integers(len(ODD_BYTES + ODD_TEXT))]
        match rng.integers(6):
            case 0 if start < len(data):
                data[start] ^= 1 << int(rng.integers(8))
            case 1:
                del data[start : start + length]
            case 2:
                data[start:start] = data[start : start + length] * 3
            case 3:
                data[start:start] = odd
            case 4:
                data[start : start + len(odd)] = odd
            case _:
                del data[start:]
    return bytes(data)


def damage_array(array: Any, rng: np.random.Generator) -> Any:
    """Change entries, length, shape or type of an array."""
    array = np.array(array)
    match rng.integers(7):
        case 0 | 1 | 2 if array.size and array.dtype.kind in "iuf":
            odd = ODD_NUMBERS if array.dtype.kind in "iu" else ODD_FLOATS
            with np.errstate(all="ignore"):
                value = np.array(odd[rng.integers(len(odd))]).astype(array.dtype)
            array.flat[rng.integers(array.size)] = value
        case 3:
            array = array.ravel()[: rng.integers(array.size + 1)]
        case 4:
            array = np.concatenate([array.ravel()] * 2)
        case 5:
            kind = ("i1", "u8", "f2", "f8", "c8", "U3", "?", ">i4")[rng.integers(8)]
            try:
                array = array.astype(kind)
            except (ValueError, TypeError):
                array = np.zeros(array.shape, kind)
        case _:
            array = array[None] if rng.integers(2) else array.reshape(-1)
    return array


def damage_archive(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage the bytes of an archive, or one of its arrays so that the archive itself is whole."""
    if rng.integers(3) == 0:
        return damage_bytes(content, rng)
    arrays = _arrays(content)
    name = sorted(arrays)[rng.integers(len(arrays))]
    arrays[name] = damage_array(arrays[name], rng)
    return _archive(arrays)


def damage_model(content: bytes, rng: np.random.Generator) -> bytes:
    """Damage an array or a field of the header of a model file, with a checksum that fits."""
    if rng.integers(6) == 0:
        return damage_bytes(content, rng)
    arrays = _arrays(content)
    header = json.loads(arrays.pop("header").tobytes())
    header.pop("sha256")
    if rng.integers(2):
        name = sorted(arrays)[rng.integers(len(arrays))]
        arrays[name] = damage_array(arrays[name], rng)
    else:
        fields = header["parameters"] if rng.integers(2) else header
        name = sorted(fields)[rng.integers(len(fields))]
        fields[name] = ODD_VALUES[rng.integers(len(ODD_VALUES))]
        if rng.integers(10) == 0:
            del fields[name]
    header["sha256"] = digest(header, arrays)
    return _archive({"header": np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays})


def _arrays(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content)) as file:
        return {name: file[name] for name in file.files}


def _archive(arrays: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


Damage = Callable[[bytes, np.random.Generator], bytes]
