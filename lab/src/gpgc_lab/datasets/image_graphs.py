"""Image data sets as graphs that are still to be built from features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpgc.datasets import Dataset
from gpgc.errors import InputError
from gpgc_lab.datasets.feature_files import FeatureSet, load_features
from gpgc_lab.datasets.images import load_images
from gpgc_lab.datasets.pixel_features import pca_features, pixel_features
from gpgc_lab.locations import stored_features

IMAGES = ("mnist", "svhn", "cifar10")

SUFFIXES = {"conv-large": "", "compact": "-compact", "pretrained": "-pretrained"}
"""Networks by name, and what the file names of their features have after that of the data set."""


def load_image_graph(
    name: str, features: str = "pca", data_dir: str | Path | None = None, seed: int = 0
) -> Dataset:
    """Load images as feature vectors with their split; the neighbour graph is left to ``fit``.

    Parameters
    ----------
    name : {"mnist", "svhn", "cifar10"}
        Which images.
    features : str
        ``"pca"``, ``"pixels"``; ``"conv-large"``, ``"compact"`` or ``"pretrained"`` for those that
        come with the laboratory; or the path of an .npz that ``gpgc train`` wrote. The last two
        kinds bring their own split.
    data_dir : str or Path, optional
        Where to look for the images first.
    seed : int
        Of the split.
    """
    if features in ("pca", "pixels"):
        images = load_images(name, data_dir=data_dir, seed=seed)
        vectors = (pca_features if features == "pca" else pixel_features)(images.images)
        made = FeatureSet(vectors, images.labels, images.train, images.validation, images.test, {})
    elif features in SUFFIXES:
        made = load_features(stored_features() / f"{name}{SUFFIXES[features]}.npz")
    elif Path(features).suffix == ".npz":
        made = load_features(features)
    else:
        raise InputError(
            f"features must be pca, pixels, {', '.join(SUFFIXES)} or the path of an .npz, "
            f"got {features!r}"
        )
    return as_dataset(name, made)


def as_dataset(name: str, made: FeatureSet) -> Dataset:
    """Return features as a data set whose graph is still to be built."""
    return Dataset(
        name=name,
        adjacency=None,
        features=made.features.astype(np.float64),
        labels=made.labels.astype(np.int64),
        classes=tuple(str(label) for label in np.unique(made.labels)),
        train=made.train.astype(np.int64),
        validation=made.validation.astype(np.int64),
        test=made.test.astype(np.int64),
    )
