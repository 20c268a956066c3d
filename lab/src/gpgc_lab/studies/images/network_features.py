"""The features that networks learnt of the image data sets, as they come with the laboratory."""

from __future__ import annotations

from pathlib import Path

from gpgc.datasets.feature_files import FeatureSet, load_features
from gpgc.errors import DataError
from gpgc_lab.locations import stored_features


def load_network_features(name: str, folder: Path | None = None) -> FeatureSet:
    """Load the features that a network learnt of a data set, with the network's own answers."""
    path = (folder or stored_features()) / f"{name}.npz"
    if not path.is_file():
        raise DataError(
            f"{path} must hold the features of {name}, but there is no such file: make it by "
            f"`gpgc train {name} --out {path} --minutes 60`, or install the laboratory from a clone"
        )
    made = load_features(path)
    if made.probabilities is None:
        raise DataError(f"{path} must hold the network's own probabilities, but has none")
    return made
