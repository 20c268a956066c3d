"""Image data sets as graphs that are still to be built from features."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gpgc.datasets import Dataset, load_images
from gpgc.errors import DataError, InputError
from gpgc.features import FeatureSet, load_features, pca_features, pixel_features

IMAGES = ("mnist", "svhn", "cifar10")

FEATURES = Path("results") / "features"
"""Where ``gpgc features`` leaves what it learnt, in the folder that it is started from."""


def load_image_graph(
    name: str, features: str = "pca", data_dir: Path | None = None, seed: int = 0
) -> Dataset:
    """Load images as feature vectors with their split; the neighbour graph is left to ``fit``.

    Parameters
    ----------
    name : {"mnist", "svhn", "cifar10"}
        Which images.
    features : str
        ``"pca"``, ``"pixels"``, or the path of an .npz that ``gpgc features`` wrote, which brings
        its own split.
    data_dir : Path, optional
        Where to look for the images first.
    seed : int
        Of the split.
    """
    if features in ("pca", "pixels"):
        images = load_images(name, data_dir=data_dir, seed=seed)
        vectors = (pca_features if features == "pca" else pixel_features)(images.images)
        made = FeatureSet(vectors, images.labels, images.train, images.validation, images.test, {})
    elif Path(features).suffix == ".npz":
        made = load_features(features)
    else:
        raise InputError(f"features must be pca, pixels or the path of an .npz, got {features!r}")
    return as_dataset(name, made)


def load_network_features(name: str, folder: Path = FEATURES) -> FeatureSet:
    """Load the features that a network learnt of a data set, with the network's own answers."""
    path = folder / f"{name}.npz"
    if not path.is_file():
        raise DataError(
            f"{path} must hold the features of {name}, but there is no such file: make it by "
            f"`gpgc features {name} --out {path}`, or start where {FEATURES} has it"
        )
    made = load_features(path)
    if made.probabilities is None:
        raise DataError(f"{path} must hold the network's own probabilities, but has none")
    return made


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
