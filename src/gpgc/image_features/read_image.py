"""One image of any size and kind as the square that a network takes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError
from gpgc.image_features.network import import_extra


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
