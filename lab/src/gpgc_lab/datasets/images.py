"""MNIST, SVHN and CIFAR-10: 1,000 images of each class, divided by a seed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpgc.errors import DataError, InputError
from gpgc.files import read_npz
from gpgc_lab.datasets import fetch
from gpgc_lab.datasets.image_files import SVHN_SHA256, Images, read_cifar, read_mnist, read_svhn

_FOLDER = "images"
_PER_CLASS = 1_000
_N_TRAIN = _N_VALIDATION = 100
_SAMPLE_SEED = 0
_DIGITS = tuple("0123456789")


@dataclass(frozen=True, eq=False)
class ImageDataset:
    """Images with labels and a division; the graph is to be built from features of them.

    Attributes
    ----------
    name : str
        Name of the data set.
    images : ndarray of shape (N, 28, 28) or (N, 32, 32, 3), uint8
        Grey or red, green, blue.
    labels : ndarray of shape (N,), int64
        Class of each image.
    classes : tuple of str
        Name of class 0, 1, ...
    train, validation, test : ndarray, int64
        Indices of the images of each part, sorted.
    """

    name: str
    images: NDArray[np.uint8]
    labels: NDArray[np.int64]
    classes: tuple[str, ...]
    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True)
class _Source:
    """What is known of one data set: its shape, its official files, where they are published."""

    shape: tuple[int, ...]
    classes: tuple[str, ...]
    read: Callable[[Sequence[Path]], Images]
    layouts: tuple[tuple[str, ...], ...]
    published: dict[str, fetch.Remote]


def _batches(pattern: str) -> tuple[str, ...]:
    return tuple(pattern.format(batch) for batch in range(1, 6))


_SOURCES = {
    "mnist": _Source(
        shape=(28, 28),
        classes=_DIGITS,
        read=read_mnist,
        layouts=(
            ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
            ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
        ),
        published={
            "train-images-idx3-ubyte.gz": fetch.Remote(
                "https://ossci-datasets.s3.amazonaws.com/mnist/train-images-idx3-ubyte.gz",
                "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            "train-labels-idx1-ubyte.gz": fetch.Remote(
                "https://ossci-datasets.s3.amazonaws.com/mnist/train-labels-idx1-ubyte.gz",
                "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
        },
    ),
    "svhn": _Source(
        shape=(32, 32, 3),
        classes=_DIGITS,
        read=read_svhn,
        layouts=(("train_32x32.mat",),),
        published={
            "train_32x32.mat": fetch.Remote(
                "http://ufldl.stanford.edu/housenumbers/train_32x32.mat",
                SVHN_SHA256,
            )
        },
    ),
    "cifar10": _Source(
        shape=(32, 32, 3),
        classes=(
            "airplane",
            "automobile",
            "bird",
            "cat",
            "deer",
            "dog",
            "frog",
            "horse",
            "ship",
            "truck",
        ),
        read=read_cifar,
        layouts=(
            _batches("cifar-10-batches-bin/data_batch_{}.bin"),
            _batches("data_batch_{}.bin"),
            ("cifar-10-binary.tar.gz",),
        ),
        published={
            "cifar-10-binary.tar.gz": fetch.Remote(
                "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
                "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
            )
        },
    ),
}


def load_images(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool = True,
    seed: int = 0,
) -> ImageDataset:
    """Load 10,000 images, 1,000 of each class, with 100 / 100 / 800 of each class in the parts.

    Parameters
    ----------
    name : {"mnist", "svhn", "cifar10"}
        The data set.
    data_dir : path-like, optional
        Directory with the files, or with a folder ``images`` that has them: either the sample
        ``<name>-10k.npz`` (arrays ``images`` and ``labels``) or the official training files
        (MNIST: the two idx files, compressed or not; CIFAR-10: the binary or the Python batches,
        unpacked or as the archive; SVHN: ``train_32x32.mat``), of which 1,000 images of each class
        are sampled, always the same ones. Then the environment variable ``GPGC_DATA`` and the
        user's cache are searched.
    download : bool, default True
        Whether to download the official files into the user's cache if no file was found.
    seed : int, default 0
        Chooses the division, not the images.

    Returns
    -------
    ImageDataset

    Raises
    ------
    DataError
        If the files are missing and cannot be downloaded, or are damaged.
    """
    if name not in _SOURCES:
        raise InputError(f"name: expected one of {', '.join(_SOURCES)}, got {name!r}")
    source = _SOURCES[name]
    sample = f"{name}-10k.npz"
    folder = fetch.find_folder(_FOLDER, [sample], data_dir)
    if folder is not None:
        images, labels = _read_sample(folder / sample, source.shape)
    else:
        images, labels = source.read(_official_files(name, source, data_dir, download))
        chosen = sample_per_class(labels, _PER_CLASS, name)
        images, labels = images[chosen], labels[chosen]
    train, validation, test = divide_per_class(labels, _N_TRAIN, _N_VALIDATION, seed)
    return ImageDataset(name, images, labels, source.classes, train, validation, test)


def sample_per_class(labels: NDArray[np.int64], per_class: int, name: str) -> NDArray[np.int64]:
    """Choose `per_class` indices of each of the ten classes, always the same, in random order."""
    rng = np.random.default_rng(_SAMPLE_SEED)
    chosen = []
    for label in range(10):
        members = np.flatnonzero(labels == label)
        if members.size < per_class:
            raise DataError(
                f"{name}: expected at least {per_class} images of class {label}, got {members.size}"
            )
        chosen.append(rng.choice(members, size=per_class, replace=False))
    return rng.permutation(np.concatenate(chosen))


def divide_per_class(
    labels: NDArray[np.int64], n_train: int, n_validation: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Divide each class at random into training, validation and test indices, each sorted."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)]
    ends = [n_train, n_train + n_validation]
    parts = zip(*(np.split(order, ends) for order in orders), strict=True)
    train, validation, test = (np.sort(np.concatenate(part)) for part in parts)
    return train, validation, test


def _read_sample(path: Path, shape: tuple[int, ...]) -> Images:
    arrays = read_npz(path, ["images", "labels"])
    images, labels = arrays["images"], arrays["labels"]
    if images.dtype != np.uint8 or images.shape != (10 * _PER_CLASS, *shape):
        raise DataError(
            f"{path}: expected images of shape {(10 * _PER_CLASS, *shape)} and uint8, "
            f"got {images.shape} of {images.dtype}"
        )
    whole = labels.shape == (len(images),) and labels.dtype.kind in "iu"
    if not whole or [int((labels == label).sum()) for label in range(10)] != [_PER_CLASS] * 10:
        raise DataError(f"{path}: expected labels 0 to 9, {_PER_CLASS} of each")
    return images, labels.astype(np.int64)


def _official_files(
    name: str, source: _Source, data_dir: str | os.PathLike[str] | None, download: bool
) -> list[Path]:
    for layout in source.layouts:
        folder = fetch.find_folder(_FOLDER, layout, data_dir)
        if folder is not None:
            return [folder / file for file in layout]
    cached = fetch.find_cached(_FOLDER, source.published)
    reason = "download=False"
    if cached is None and download:
        try:
            cached = fetch.download(_FOLDER, source.published)
        except fetch.UnreachableError as error:
            reason = str(error)
    if cached is None:
        raise fetch.missing(f"the image data set {name}", _FOLDER, source.published, reason)
    return [cached / file for file in source.published]
