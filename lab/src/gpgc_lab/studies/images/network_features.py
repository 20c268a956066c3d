"""The features that networks made of the image data sets, as they come with the laboratory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpgc.errors import DataError
from gpgc_lab import published
from gpgc_lab.datasets.feature_files import FeatureSet, load_features
from gpgc_lab.datasets.image_graphs import SUFFIXES
from gpgc_lab.locations import stored_features


@dataclass(frozen=True)
class FeatureKind:
    """Features by one network.

    Attributes
    ----------
    name : str
        In tables.
    suffix : str
        What file names have after that of the data set.
    is_pretrained : bool
        Whether the network learnt from other images and their labels, so that its numbers do not
        compare with the paper's.
    """

    name: str
    suffix: str
    is_pretrained: bool = False


CONV_LARGE = FeatureKind("Conv-Large", SUFFIXES["conv-large"])
COMPACT = FeatureKind("compact", SUFFIXES["compact"])
PRETRAINED = FeatureKind("PRETRAINED", SUFFIXES["pretrained"], is_pretrained=True)
KINDS = (CONV_LARGE, COMPACT, PRETRAINED)

Features = Mapping[FeatureKind, Mapping[str, FeatureSet]]
"""Features of each kind by the name of the data set."""


def load_network_features(
    name: str, folder: Path | None = None, kind: FeatureKind = CONV_LARGE
) -> FeatureSet:
    """Load the features of a data set by one network, with the network's own answers if it learnt.

    Parameters
    ----------
    name : {"mnist", "svhn", "cifar10"}
        Which images.
    folder : Path, optional
        With what ``gpgc train`` wrote; that of the laboratory when not given.
    kind : FeatureKind
        By which network.
    """
    path = _path(name, folder, kind)
    if not path.is_file():
        raise DataError(
            f"{path} must hold the features of {name}, but there is no such file: make it by "
            f"`gpgc train {name} --out {path} --minutes 60`, or install the laboratory from a clone"
        )
    made = load_features(path)
    if made.probabilities is None and not kind.is_pretrained:
        raise DataError(f"{path} must hold the network's own probabilities, but has none")
    return made


def load_all_features(folder: Path | None = None) -> Features:
    """Load the features of all data sets by Conv-Large, and by other networks where they exist."""
    wanted = {
        kind: [
            name
            for name in published.IMAGES
            if kind is CONV_LARGE or _path(name, folder, kind).is_file()
        ]
        for kind in KINDS
    }
    return {
        kind: {name: load_network_features(name, folder, kind) for name in names}
        for kind, names in wanted.items()
        if names
    }


def describe_features(made: FeatureSet) -> str:
    """Return in a few words how features were made, and what labels their making saw."""
    known = made.provenance
    words = [str(known.get("method", "unknown method"))]
    words += [f"{known['steps']:,.0f} steps"] if "steps" in known else []
    words += [f"{time_of(made)} of the processor"] if time_of(made) else []
    words += [str(known["labels_used"])] if "labels_used" in known else []
    return "; ".join(words)


def time_of(made: FeatureSet | None) -> str | None:
    """Return the processor's seconds for training and features, where they are known."""
    seconds: Any = None if made is None else made.provenance.get("processor_seconds")
    return None if seconds is None else f"{seconds:,.0f} s"


def _path(name: str, folder: Path | None, kind: FeatureKind) -> Path:
    return (folder or stored_features()) / f"{name}{kind.suffix}.npz"
