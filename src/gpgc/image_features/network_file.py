"""A network in a file of numbers and names: read without running code from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from gpgc.errors import DataError, InputError
from gpgc.image_features.extras import import_extra

FORMAT = "gpgc image network 1"

_POOL = ("kernel_size", "stride", "padding")
LAYERS: dict[str, tuple[str, ...]] = {
    "AdaptiveAvgPool2d": ("output_size",),
    "AdaptiveMaxPool2d": ("output_size",),
    "AvgPool2d": _POOL,
    "BatchNorm2d": ("num_features", "eps"),
    "Conv2d": (
        "in_channels",
        "out_channels",
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "groups",
        "bias",
    ),
    "Dropout": ("p",),
    "Dropout2d": ("p",),
    "Flatten": ("start_dim",),
    "GELU": ("approximate",),
    "Hardswish": (),
    "LeakyReLU": ("negative_slope",),
    "Linear": ("in_features", "out_features", "bias"),
    "MaxPool2d": _POOL,
    "ReLU": (),
    "ReLU6": (),
    "SiLU": (),
}
"""Layers of ``torch.nn`` that a network file may have, with the settings that are kept."""


def save_network(
    path: str | Path,
    layers: Any,
    *,
    side: int,
    mean: Sequence[float],
    std: Sequence[float],
) -> None:
    """Write a plain sequence of layers as a file that :func:`load_network` takes.

    Parameters
    ----------
    path : path-like
    layers : torch.nn.Sequential
        Of :data:`LAYERS` alone. What it makes of (batch, channels, side, side) are the features,
        of shape (batch, d), or (batch, d, height, width), which are averaged over the pixels.
    side : int
        Height and width of the images that it takes.
    mean, std : sequence of 1 or 3 floats
        Of the channels' pixels, from 0 to 1: images are standardised by them.
    """
    torch = import_extra("torch", "gpgc[images]")
    described = []
    for layer in layers:
        kind = type(layer).__name__
        if LAYERS.get(kind) is None or type(layer) is not getattr(torch.nn, kind):
            raise InputError(f"layers must be among {', '.join(LAYERS)}, got {kind}")
        settings = {name: getattr(layer, name) for name in LAYERS[kind]}
        if "bias" in settings:
            settings["bias"] = layer.bias is not None
        described.append((kind, settings))
    content = {
        "format": FORMAT,
        "layers": described,
        "weights": layers.state_dict(),
        "side": int(side),
        "mean": [float(value) for value in mean],
        "std": [float(value) for value in std],
    }
    with Path(path).open("wb") as file:
        torch.save(content, file)


def read_torch_file(path: Path) -> dict[str, Any]:
    """Read a file of tensors; one that holds code or anything but numbers is refused."""
    torch = import_extra("torch", "gpgc[images]")
    wrong = f"{path} must be a torch file of weights"
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, ValueError, EOFError, KeyError, OSError) as error:
        if "GLOBAL" in str(error):
            raise DataError(
                f"{wrong}, got one that holds code or objects, which is never run: "
                "save a state_dict"
            ) from error
        raise DataError(f"{wrong}, got a file that is cut short or of another kind") from error
    if not isinstance(content, dict):
        raise DataError(f"{wrong}, got a {type(content).__name__}")
    return content


def build_sequence(content: dict[str, Any], path: Path) -> Any:
    """Build the ``torch.nn.Sequential`` that :func:`save_network` wrote."""
    torch = import_extra("torch", "gpgc[images]")
    try:
        layers = []
        for kind, settings in content["layers"]:
            if set(settings) != set(LAYERS[kind]):
                raise ValueError(f"{kind} has the settings {sorted(settings)}")
            layers.append(getattr(torch.nn, kind)(**settings))
        network = torch.nn.Sequential(*layers)
        network.load_state_dict(content["weights"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"{path} must hold layers and their weights as save_network writes them, got {error}"
        ) from error
    return network
