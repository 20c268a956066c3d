"""Features of the image data sets that other distributions bring along."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

from gpgc.errors import DataError

GROUP = "gpgc.features"
"""Entry points of this group name a function each that returns a folder of features."""

SUFFIXES = {"conv-large": "", "compact": "-compact", "pretrained": "-pretrained"}
"""Networks by name, and what the file names of their features have after that of the data set."""


def stored_features(name: str, network: str) -> Path:
    """Return the file of a data set's features by one network, as the laboratory brings it.

    Parameters
    ----------
    name : {"mnist", "svhn", "cifar10"}
        Which images.
    network : {"conv-large", "compact", "pretrained"}
        By which network; the last one learnt from other images.
    """
    file = f"{name}{SUFFIXES[network]}.npz"
    for entry in entry_points(group=GROUP):
        folder: Callable[[], Path] = entry.load()
        if (folder() / file).is_file():
            return folder() / file
    raise DataError(
        f"features must be a network whose features of {name} are installed, got {network!r}: "
        "gpgc-lab brings them, run `pip install ./lab` in a clone of gpgc's repository"
    )
