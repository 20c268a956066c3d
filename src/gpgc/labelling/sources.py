"""What can be labelled: the digits, a folder of images, a table of texts, files of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpgc._typing import Array
from gpgc.errors import DataError, GPGCWarning, InputError
from gpgc.files import read_table
from gpgc.labelling.items import (
    MAX_PIXELS,
    ImageFileItems,
    ImageItems,
    Items,
    TextItems,
    is_text,
    read_picture,
)
from gpgc.problem import NodeTable
from gpgc.problem.names import as_names

SIDE = 24
"""Pixels to which images are scaled for their instant features."""

COMPONENTS = 64
PIXELS = (
    "Features: the leading components of the pixels, which tell little of what is in a photo. "
    "Those of a network are better: gpgc features --images, then gpgc label --features."
)
WORDS = (
    "Features: the words of the texts, weighted by how rare they are (TF-IDF). Vectors of a "
    "language model are often better: a table or .npy of them by --features."
)
OTHER_KINDS = (".avif", ".heic", ".heif", ".ico", ".jfif", ".jp2", ".jxl", ".psd", ".svg")
"""Endings of images that are left out, and counted."""

Progress = Callable[[float, str], None]
"""Is told how far the work is, from 0 to 1, and what is being done."""


@dataclass(frozen=True, eq=False)
class Source:
    """Nodes with something to see, features and a graph, either of which may be missing."""

    title: str
    ids: list[str]
    items: Items
    features: Any
    adjacency: Any = None
    classes: tuple[str, ...] = ()
    table: NodeTable | None = None
    describe: Callable[[Progress], Any] | None = None
    about: str = "Features: the columns of the table and the links, as they came."

    def described(self, progress: Progress) -> Source:
        """Return the source with its features made."""
        if self.features is not None or self.describe is None:
            return self
        return replace(self, features=self.describe(progress))

    def as_table(self) -> NodeTable:
        """Return the nodes by their ids, as ``fit`` takes them."""
        table = NodeTable(self.features) if self.table is None else self.table
        return replace(table, names=as_names(self.ids))


def digits() -> Source:
    """Return 1,797 handwritten digits, the demonstration that needs no files."""
    from gpgc.datasets import load_digits

    data = load_digits()
    ids = [str(node) for node in range(len(data.labels))]
    images = np.asarray(data.features).reshape(-1, 8, 8)
    return Source("digits", ids, ImageItems(ids, 1 - images), data.features, None, data.classes)


def image_folder(folder: Path, named: Collection[str] | None = None) -> Source:
    """Return the images below a folder that a browser can show."""
    from gpgc.image_features.images import SUFFIXES, list_images

    if not folder.is_dir():
        raise InputError(f"--images must be a folder, got {folder}")
    root = folder.resolve()
    try:
        listed = list_images(root).ids
    except DataError as error:
        raise InputError(f"--images: {error}") from error
    shown = [name for name in listed if _is_in(name, root)]
    _warn_of_left_out(sorted({*_of_other_kinds(root)}), "of kinds that are not read")
    ids = [name for name in shown if is_text(name)]
    _warn_of_left_out([ascii(n) for n in shown if not is_text(n)], "whose names are not UTF-8")
    if named is not None:
        known = set(named)
        _warn_of_left_out([name for name in ids if name not in known], "without features")
        ids = [name for name in ids if name in known]
    if not ids:
        raise InputError(f"--images must hold files of {', '.join(SUFFIXES)}, got none in {folder}")
    paths = [root / name for name in ids]
    describe = None if named is not None else partial(pixel_features, paths)
    return Source(root.name, ids, ImageFileItems(ids, paths), None, describe=describe, about=PIXELS)


def text_table(path: Path, columns: Mapping[str, str] | None = None) -> Source:
    """Return the texts of a table with the columns id,text, with TF-IDF as features."""
    from gpgc.problem.columns import TextColumn

    rows = [row for _, row in read_table(path).select(["id", "text"], names=columns)]
    ids = [row["id"] for row in rows]
    if not ids or len(set(ids)) < len(ids):
        raise InputError(f"{path} must hold each id once, got {len(ids)} rows, some twice or none")
    texts = [row["text"] for row in rows]

    def describe(progress: Progress) -> Any:
        progress(0.0, "counting the words")
        words = TextColumn.fit("text", texts)
        if not words.terms:
            raise InputError(f"{path} must hold words in its column text, got none")
        return words.transform(texts)

    return Source(path.stem, ids, TextItems(ids, texts), None, describe=describe, about=WORDS)


def pixel_features(paths: Sequence[Path], progress: Progress) -> Array:
    """Return the leading principal components of small versions of images; 0 for damaged ones."""
    rows = np.zeros((len(paths), SIDE * SIDE * 3), dtype=np.float32)
    for place, path in enumerate(paths):
        rows[place] = _pixels(path)
        if place % 100 == 0:
            progress(place / len(paths), f"reading image {place:,} of {len(paths):,}")
    rows -= rows.mean(axis=0)
    _, vectors = np.linalg.eigh(rows.T @ rows)
    return np.asarray(rows @ vectors[:, : -COMPONENTS - 1 : -1])


def _pixels(path: Path) -> Array:
    from PIL import Image

    picture = read_picture(path)
    if picture.problem:
        return np.zeros(SIDE * SIDE * 3, dtype=np.float32)
    try:
        with Image.open(path) as image:
            if image.width * image.height > MAX_PIXELS:
                return np.zeros(SIDE * SIDE * 3, dtype=np.float32)
            image.draft("RGB", (4 * SIDE, 4 * SIDE))
            small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
            return np.asarray(small, dtype=np.float32).ravel() / 255
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return np.zeros(SIDE * SIDE * 3, dtype=np.float32)


def _of_other_kinds(root: Path) -> Iterator[str]:
    """Give files that look like images of other kinds."""
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.suffix.lower() in OTHER_KINDS and not any(
            part.startswith(".") for part in name.split("/")
        ):
            yield ascii(name).strip("'")


def _is_in(name: str, root: Path) -> bool:
    path = (root / name).resolve()
    return path.is_file() and path.is_relative_to(root)


def _warn_of_left_out(names: Sequence[str], which: str) -> None:
    if names:
        shown = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        warnings.warn(
            f"images {which} are left out, {len(names):,} of them: {shown}",
            GPGCWarning,
            stacklevel=3,
        )
