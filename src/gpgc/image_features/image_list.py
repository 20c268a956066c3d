"""Which images are meant: all in a folder, or those that a table names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from gpgc.errors import DataError
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
