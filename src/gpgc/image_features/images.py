"""Which images are meant, and each of them, of any size and kind, as the square for a network."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.files import read_table

SUFFIXES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")
"""Endings, in small letters, by which images in a folder are found."""


@dataclass(frozen=True)
class ImageList:
    """Images below a folder: their relative paths with forward slashes, sorted, each once."""

    root: Path
    ids: tuple[str, ...]


def list_images(source: str | os.PathLike[str]) -> ImageList:
    """List the images of a folder by their endings, or of the column ``path`` of a table."""
    path = Path(source)
    if path.is_dir():
        found = {
            Path(folder, name).relative_to(path)
            for folder, _, names in os.walk(path)
            for name in names
            if name.lower().endswith(SUFFIXES)
        }
        ids = {one.as_posix() for one in found if not any(p.startswith(".") for p in one.parts)}
        if not ids:
            raise DataError(f"{path} must hold images ({', '.join(SUFFIXES)}), got none")
        return ImageList(path, tuple(sorted(ids)))
    if not path.is_file():
        raise DataError(f"{path} must be a folder of images or a table of paths, got nothing there")
    return ImageList(path.parent, tuple(sorted(_named_in(path))))


def _named_in(path: Path) -> set[str]:
    rows = read_table(path).select(["path"])
    names = {row["path"].replace(os.sep, "/") for _, row in rows} - {""}
    if not names:
        raise DataError(f"{path} must name at least one image, got none")
    return names


def read_square(path: Path, side: int, channels: int) -> NDArray[np.uint8]:
    """Read an image (side, side, channels), turned as its camera says, its middle cut out."""
    image_module = import_extra("PIL.Image", "gpgc[images]")
    operations = import_extra("PIL.ImageOps", "gpgc[images]")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", image_module.DecompressionBombWarning)
            with image_module.open(path) as opened:
                turned = operations.exif_transpose(opened)
                return square(_eight_bits(turned, image_module), side, channels)
    except FileNotFoundError as error:
        raise DataError(f"{path} must be an image, but there is no such file") from error
    except Exception as error:
        # decoders of damaged files raise almost anything, from struct.error to SyntaxError
        raise DataError(f"{path} must be an image that can be read, got {error}") from error


def square(image: Any, side: int, channels: int) -> NDArray[np.uint8]:
    """Scale an image of Pillow to the shorter side and cut out its middle."""
    image_module = import_extra("PIL.Image", "gpgc[images]")
    operations = import_extra("PIL.ImageOps", "gpgc[images]")
    fitted = operations.fit(
        image.convert("RGB" if channels == 3 else "L"),
        (side, side),
        method=image_module.Resampling.BICUBIC,
    )
    return np.asarray(fitted, dtype=np.uint8).reshape(side, side, channels)


def _eight_bits(image: Any, image_module: Any) -> Any:
    """Bring greys of 16 and 32 bits to 8, which Pillow itself would clip at 255."""
    if not image.mode.startswith(("I", "F")):
        return image
    values = np.asarray(image, dtype=np.float64)
    top = 65535.0 if image.mode.startswith("I") else 1.0
    top = max(top, float(values.max(initial=0.0)))
    return image_module.fromarray((np.clip(values / top, 0, 1) * 255).round().astype(np.uint8))


def import_extra(module: str, package: str) -> Any:
    """Import a module that only images need, or say which package has to be installed for it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise InputError(f'{module} must be installed for this: pip install "{package}"') from error
