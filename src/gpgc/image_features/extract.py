"""Features of all images of a folder, a batch at a time, in one file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.image_features.images import ImageList, read_square
from gpgc.image_features.network import FrozenNetwork
from gpgc.problem.image_file import (
    ImageFeatures,
    load_image_features,
    save_image_features,
)


def extract_features(
    images: ImageList,
    network: FrozenNetwork,
    out: str | os.PathLike[str],
    *,
    batch_size: int = 32,
    progress: Callable[[int, int], None] | None = None,
    save_seconds: float = 60.0,
) -> ImageFeatures:
    """Compute and write the features of images; go on where an earlier call was interrupted."""
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    out = Path(out)
    if not out.parent.is_dir():
        raise InputError(f"out must be in a folder that exists, got {out}")
    unfinished = out.with_name(out.name + ".unfinished")
    provenance = {"network": network.name, "digest": network.digest, "side": network.side}
    rows = _rows_of(unfinished, provenance)
    skipped: dict[str, str] = {}
    left = [one for one in images.ids if one not in rows]
    saved = time.monotonic()
    for start in range(0, len(left), batch_size):
        squares = {}
        for one in left[start : start + batch_size]:
            try:
                squares[one] = read_square(images.root / one, network.side, network.channels)
            except DataError as error:
                skipped[one] = str(error)
        if squares:
            made = network.features(np.stack(list(squares.values())))
            rows.update(zip(squares, made, strict=True))
        if progress is not None:
            now = min(start + batch_size, len(left))
            progress(len(images.ids) - len(left) + now, len(images.ids))
        if time.monotonic() - saved >= save_seconds:
            save_image_features(unfinished, _gathered(images, rows, provenance, skipped))
            saved = time.monotonic()
    if not any(one in rows for one in images.ids):
        first = next(iter(skipped.values()))
        raise DataError(f"{images.root} must hold an image that can be read, got none: {first}")
    finished = _gathered(images, rows, provenance, skipped)
    save_image_features(out, finished)
    unfinished.unlink(missing_ok=True)
    return finished


def _rows_of(unfinished: Path, provenance: dict[str, Any]) -> dict[str, NDArray[np.float32]]:
    """Return what an interrupted call with the same network has done."""
    if not unfinished.is_file():
        return {}
    done = load_image_features(unfinished)
    if done.provenance != provenance:
        return {}
    return dict(zip(done.ids, done.features, strict=True))


def _gathered(
    images: ImageList,
    rows: dict[str, NDArray[np.float32]],
    provenance: dict[str, Any],
    skipped: dict[str, str],
) -> ImageFeatures:
    ids = tuple(one for one in images.ids if one in rows)
    features = np.stack([rows[one] for one in ids]) if ids else np.empty((0, 0), np.float32)
    return ImageFeatures(ids, features, provenance, skipped)
