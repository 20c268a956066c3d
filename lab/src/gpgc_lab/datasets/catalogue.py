"""Every data set by name."""

from __future__ import annotations

from pathlib import Path

from gpgc.datasets import Dataset, load_digits
from gpgc.errors import InputError
from gpgc_lab.datasets.image_graphs import IMAGES, load_image_graph
from gpgc_lab.datasets.planetoid import CITATION_NETWORKS, load_planetoid

NAMES = ("digits", *CITATION_NETWORKS, *IMAGES)


def load_dataset(
    name: str, data_dir: str | Path | None = None, seed: int = 0, features: str = "pca"
) -> Dataset:
    """Load a data set by its name.

    Parameters
    ----------
    name : {"digits", "cora", "citeseer", "pubmed", "mnist", "svhn", "cifar10"}
        Which one.
    data_dir : str or Path, optional
        Where to look first.
    seed : int, default 0
        Of the split, where it is drawn; the citation networks have their public one.
    features : str, default "pca"
        Of MNIST, SVHN and CIFAR-10, as :func:`~gpgc_lab.datasets.image_graphs.load_image_graph`
        takes them.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_dataset("digits").name
    'digits'
    """
    if name not in NAMES:
        raise InputError(f"dataset must be one of {', '.join(NAMES)}, got {name!r}")
    if name == "digits":
        return load_digits(seed)
    if name in CITATION_NETWORKS:
        return load_planetoid(name, data_dir)
    return load_image_graph(name, features, data_dir, seed)


def load_for_run(name: str, features: str | None, data_dir: Path | None, seed: int) -> Dataset:
    """Load what ``gpgc run NAME`` names, refusing options that say nothing about it."""
    if features is not None and name not in IMAGES:
        *most, last = IMAGES
        raise InputError(f"--features applies to {', '.join(most)} and {last} only, got {name!r}")
    if seed != 0 and name in CITATION_NETWORKS:
        raise InputError(f"--seed is not used by {name}, whose split is the public one")
    return load_dataset(name, data_dir, seed, features or "pca")
