"""The official files of MNIST, CIFAR-10 and SVHN, as arrays; no code of theirs runs."""

from __future__ import annotations

import gzip
import math
import struct
import tarfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError
from gpgc_lab.datasets.fetch import has_content

Images = tuple[NDArray[np.uint8], NDArray[np.int64]]

SVHN_SHA256 = "435e94d69a87fde4fd4d7f3dd208dfc32cb6ae8af2240d066de1df7508d083b8"

_MOST_IMAGES = 1_000_000
_LARGEST_BATCH = 64 * 2**20
_CIFAR_PIXELS = 3 * 32 * 32
_CIFAR_BATCH = 10_000


def read_mnist(paths: Sequence[Path]) -> Images:
    """Read images and labels from two idx files, compressed or not."""
    images = _read_idx(paths[0], (28, 28))
    labels = _read_idx(paths[1], ())
    return images, _checked_labels(labels, len(images), str(paths[1]))


def read_cifar(paths: Sequence[Path]) -> Images:
    """Read CIFAR-10 batches of the binary form, from files or from one archive."""
    packed = paths[0].suffix == ".gz"
    contents = _members(paths[0]) if packed else [(path.read_bytes(), str(path)) for path in paths]
    batches = [_batch(content, source) for content, source in contents]
    images = np.concatenate([images for images, _ in batches])
    return images, np.concatenate([labels for _, labels in batches])


def read_svhn(paths: Sequence[Path]) -> Images:
    """Read the published file of cropped digits; its label 10 stands for the digit 0."""
    from scipy.io import loadmat

    # no other file reaches SciPy's reader: damage can crash the interpreter in it
    if not has_content(paths[0], SVHN_SHA256):
        raise DataError(f"{paths[0]}: damaged, or not the published file of SHA-256 {SVHN_SHA256}")
    arrays = loadmat(paths[0], variable_names=["X", "y"])
    images = np.ascontiguousarray(arrays["X"].transpose(3, 0, 1, 2))
    return images, arrays["y"].ravel().astype(np.int64) % 10


def _read_idx(path: Path, trailing: tuple[int, ...]) -> NDArray[np.uint8]:
    """Read unsigned bytes of shape (n, *trailing) from an idx file."""
    axes = 1 + len(trailing)
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            magic, n, *found = struct.unpack(f">{axes + 1}I", file.read(4 * (axes + 1)))
            if magic != 0x0800 + axes or tuple(found) != trailing or n > _MOST_IMAGES:
                raise DataError(
                    f"{path}: expected an idx file of unsigned bytes in items of shape {trailing}, "
                    f"got the type {magic:#06x} and {n} items of shape {tuple(found)}"
                )
            size = n * math.prod(trailing)
            content = file.read(size + 1)
    except (OSError, EOFError, struct.error, zlib.error) as error:
        raise DataError(f"{path}: truncated or damaged idx file ({error})") from error
    if len(content) != size:
        raise DataError(f"{path}: {n} items need {size} bytes, and not {len(content)}")
    return np.frombuffer(content, np.uint8).reshape(n, *trailing)


def _members(archive: Path) -> list[tuple[bytes, str]]:
    """Read the five training batches of an archive, without unpacking it."""
    names = [f"cifar-10-batches-bin/data_batch_{batch}.bin" for batch in range(1, 6)]
    contents = {}
    try:
        with gzip.open(archive) as stream:
            with tarfile.open(fileobj=stream, mode="r:") as tar:
                for member in tar:
                    if member.name in names and 0 < member.size < _LARGEST_BATCH:
                        file = tar.extractfile(member)
                        contents[member.name] = file.read() if file else b""
            # the checksum is at the end
            while stream.read(_LARGEST_BATCH):
                pass
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise DataError(f"{archive}: truncated or damaged archive ({error})") from error
    if absent := [name for name in names if name not in contents]:
        raise DataError(f"{archive}: does not hold the file {absent[0]}")
    return [(contents[name], f"{archive}/{name}") for name in names]


def _batch(content: bytes, source: str) -> Images:
    size = _CIFAR_BATCH * (1 + _CIFAR_PIXELS)
    if len(content) != size:
        raise DataError(f"{source}: expected {size} bytes, got {len(content)}")
    records = np.frombuffer(content, np.uint8).reshape(_CIFAR_BATCH, -1)
    return _by_pixel(records[:, 1:]), _checked_labels(records[:, 0], _CIFAR_BATCH, source)


def _by_pixel(flat: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn rows of three colour planes into images with the colour last."""
    return np.ascontiguousarray(flat.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))


def _checked_labels(labels: NDArray[np.uint8], n_images: int, source: str) -> NDArray[np.int64]:
    if labels.shape != (n_images,) or (labels > 9).any():
        raise DataError(
            f"{source}: expected {n_images} labels from 0 to 9, one for each image, "
            f"got {labels.size} up to {labels.max(initial=0)}"
        )
    return labels.astype(np.int64)
