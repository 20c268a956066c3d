"""The file that holds features by the names of their images."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError
from gpgc.files import pack_npz, read_npz, write_file


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Features (n, d) of images by their paths; provenance is network, digest and side."""

    ids: tuple[str, ...]
    features: NDArray[np.float32]
    provenance: dict[str, Any]
    skipped: dict[str, str] = field(default_factory=dict)


def is_image_features(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is an ``.npz`` with ``ids`` and ``features``."""
    path = Path(path)
    if path.suffix != ".npz" or not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return {"ids.npy", "features.npy"} <= set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return False


def load_image_features(path: str | os.PathLike[str]) -> ImageFeatures:
    """Read what :func:`extract_features` wrote; nothing in the file is run."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path} must be a file of features, but there is no such file")
    arrays = read_npz(path, ["ids", "features", "provenance"])
    ids, features = arrays["ids"], arrays["features"]
    if ids.ndim != 1 or ids.dtype.kind != "U" or features.shape[:1] != ids.shape:
        raise DataError(
            f"{path} must hold an id for each row of features, got {ids.dtype} of shape "
            f"{ids.shape} and features of shape {features.shape}"
        )
    try:
        provenance = json.loads(str(arrays["provenance"]))
        skipped = dict(provenance.pop("skipped"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} must say how its features were made, got {error}") from error
    return ImageFeatures(tuple(map(str, ids)), features.astype(np.float32), provenance, skipped)


def save_image_features(path: Path, made: ImageFeatures) -> None:
    """Write features with the names of their images, whole or not at all."""
    described = json.dumps({**made.provenance, "skipped": made.skipped}, sort_keys=True)
    content = {
        "ids": np.array(made.ids, dtype=np.str_),
        "features": made.features,
        "provenance": np.array(described),
    }
    write_file(path, pack_npz(content), sync=True)
