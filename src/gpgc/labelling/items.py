"""What a person looks at: an image, a text, a row of a table, or a node with its name."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.problem import NodeTable
from gpgc.problem.frames import is_missing

MAX_TEXT = 20_000
MAX_IMAGE_BYTES = 20 * 2**20
MAX_PIXELS = 50_000_000
THUMBNAIL = 112
"""Pixels of the longer side of a small image: twice the size at which it is shown."""

MAX_CELLS = 40
"""Features of a row that are shown, the largest first."""

SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}
CONVERTED = (b"II*\0", b"MM\0*", b"P5", b"P6")
"""First bytes of images that a browser is shown as PNG: TIFF, PGM and PPM."""


class Picture(NamedTuple):
    """The bytes of an image and their type, or the sentence that says why there are none."""

    content: bytes
    kind: str
    problem: str = ""


class Items(Protocol):
    """What there is to see of each node."""

    kind: str

    def show(self, node: int) -> dict[str, Any]:
        """Return what the page shows of a node, as plain text and numbers."""

    def line(self, node: int) -> str:
        """Return a node in one short line."""

    def picture(self, node: int) -> Picture | None:
        """Return the image of a node, None where nodes have none."""


class NodeItems:
    """Nodes that have nothing but a name and links."""

    kind = "node"

    def __init__(self, ids: Sequence[str]) -> None:
        self._ids = ids

    def show(self, node: int) -> dict[str, Any]:
        """Return the name."""
        return {"title": self._ids[node]}

    def line(self, node: int) -> str:
        """Return the name."""
        return self._ids[node][:120]

    def picture(self, node: int) -> Picture | None:
        """Return None."""
        return None


class TextItems(NodeItems):
    """Texts."""

    kind = "text"

    def __init__(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        super().__init__(ids)
        self._texts = texts

    def show(self, node: int) -> dict[str, Any]:
        """Return the text, cut where it is very long."""
        text = str(self._texts[node])
        return {"text": text[:MAX_TEXT], "is_cut": len(text) > MAX_TEXT}

    def line(self, node: int) -> str:
        """Return the beginning of the text."""
        return " ".join(str(self._texts[node])[:400].split())[:140]


class TableItems(NodeItems):
    """Rows of numbers."""

    kind = "table"

    def __init__(
        self,
        ids: Sequence[str],
        X: Any,
        columns: Sequence[str] | None = None,
        shown: Sequence[str] = (),
    ) -> None:
        super().__init__(ids)
        rows: Any = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
        names = list(columns or [f"feature {place}" for place in range(rows.shape[1])])
        _check_shown(shown, names)
        self._rows = rows[:, [names.index(name) for name in shown]] if shown else rows
        self._names = list(shown) or names

    def show(self, node: int) -> dict[str, Any]:
        """Return the cells that are largest in magnitude."""
        row = self._rows[[node]]
        values = np.asarray(row.toarray() if sp.issparse(row) else row)[0]
        if len(values) <= MAX_CELLS:
            largest = np.arange(len(values))
        else:
            largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:MAX_CELLS])
            largest = largest[values[largest] != 0]
        names = self._names
        cells = [[str(names[place]), f"{values[place]:.6g}"] for place in largest.tolist()]
        return {"cells": cells, "n_cells": len(values)}


class CellItems(NodeItems):
    """Rows of a table with numbers, categories and texts, as they came."""

    kind = "table"

    def __init__(
        self, ids: Sequence[str], columns: Mapping[str, Any], shown: Sequence[str] = ()
    ) -> None:
        super().__init__(ids)
        _check_shown(shown, columns)
        self._columns = {name: columns[name] for name in shown or columns}

    def show(self, node: int) -> dict[str, Any]:
        """Return the cells that are not missing."""
        row = {name: values[node] for name, values in self._columns.items()}
        cells = [
            [name, value[:MAX_TEXT] if isinstance(value, str) else f"{value:.12g}"]
            for name, value in row.items()
            if not is_missing(value)
        ]
        return {"cells": cells, "n_cells": len(row)}


class ImageItems(NodeItems):
    """Arrays of pixels: grey or colour, whole numbers to 255, yes and no, or fractions to 1."""

    kind = "image"

    def __init__(self, ids: Sequence[str], images: Any) -> None:
        super().__init__(ids)
        self._images = np.asarray(images)
        kind = self._images.dtype.kind
        is_whole = kind in "iu" or (kind == "f" and self._images.max(initial=0.0) > 1)
        self._scale = 1.0 if is_whole else 255.0

    def picture(self, node: int) -> Picture | None:
        """Return the pixels as PNG."""
        from PIL import Image

        pixels = np.asarray(self._images[node], dtype=np.float64)
        buffer = io.BytesIO()
        levels = np.clip(np.rint(pixels * self._scale), 0, 255).astype(np.uint8)
        Image.fromarray(levels).save(buffer, format="PNG")
        return Picture(buffer.getvalue(), "image/png")


class ImageFileItems(NodeItems):
    """Image files in a folder; which they are is settled once, when the session begins."""

    kind = "image"

    def __init__(self, ids: Sequence[str], paths: Sequence[Path]) -> None:
        super().__init__(ids)
        self._paths = paths

    def picture(self, node: int) -> Picture | None:
        """Return the file if it is an image of a known kind and size."""
        return read_picture(self._paths[node])


def is_text(name: str) -> bool:
    """Return whether a name can be written as UTF-8, which names of files need not be."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_picture(path: Path) -> Picture:
    """Return the bytes of an image file, or say what is wrong with it."""
    try:
        size = path.stat().st_size
        if size > MAX_IMAGE_BYTES:
            return Picture(b"", "", f"The file has {size / 2**20:,.0f} MB; 20 MB are shown.")
        content = path.read_bytes()
    except OSError as error:
        return Picture(b"", "", f"The file cannot be read: {error.strerror}.")
    kind = next((kind for mark, kind in SIGNATURES.items() if content.startswith(mark)), "")
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "image/webp"
    if not kind and content.startswith(CONVERTED):
        return _as_png(content)
    if not kind:
        return Picture(b"", "", "The file is no PNG, JPEG, GIF, WebP, BMP, TIFF or PPM image.")
    return Picture(content, kind)


def _as_png(content: bytes) -> Picture:
    from PIL import Image

    buffer = io.BytesIO()
    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > MAX_PIXELS:
                return Picture(b"", "", "The image has more than 50 million pixels.")
            image.convert("RGB").save(buffer, format="PNG")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return Picture(b"", "", "The image is broken.")
    return Picture(buffer.getvalue(), "image/png")


def shrink(picture: Picture, side: int = THUMBNAIL) -> Picture:
    """Return an image as one of at most so many pixels a side; as it is where it is small."""
    from PIL import Image

    if picture.problem:
        return picture
    try:
        with Image.open(io.BytesIO(picture.content)) as image:
            if max(image.size) <= side or image.width * image.height > MAX_PIXELS:
                return picture
            image.draft("RGB", (side, side))
            small = image.convert("RGBA" if image.mode in ("P", "LA", "RGBA") else "RGB")
            small.thumbnail((side, side))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return picture  # the browser says what is wrong with it
    buffer = io.BytesIO()
    small.save(buffer, format="PNG")
    return Picture(buffer.getvalue(), "image/png")


def _check_shown(shown: Sequence[str], columns: Iterable[str]) -> None:
    known = [str(name) for name in columns]
    if unknown := [name for name in shown if name not in known]:
        few = ", ".join(known[:8])
        raise InputError(f"columns to show must be of the table ({few}), got {unknown[0]!r:.60}")


def as_items(items: Any, ids: Sequence[str], X: Any = None, shown: Sequence[str] = ()) -> Items:
    """Return what was given as items: texts, arrays of pixels, paths of images, or None."""
    if items is None and isinstance(X, NodeTable):
        if X.cells is not None:
            return CellItems(ids, X.cells, shown)
        if X.features is not None:
            return TableItems(ids, X.features, X.columns, shown)
        return NodeItems(ids)
    if items is None:
        return NodeItems(ids) if X is None else TableItems(ids, X, None, shown)
    if len(items) != len(ids):
        raise InputError(f"items must be one for each of the {len(ids)} nodes, got {len(items)}")
    if isinstance(items, np.ndarray) and items.ndim >= 3:
        return ImageItems(ids, items)
    if all(isinstance(item, Path) for item in items):
        return ImageFileItems(ids, [path.resolve() for path in items])
    return TextItems(ids, [str(item) for item in items])
