from __future__ import annotations

import gzip
import hashlib
import io
import os
import struct
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from local_server import Server
from scipy.io import savemat

from gpgc.errors import DataError, InputError
from gpgc_lab.datasets import ImageDataset, fetch, image_files, images, load_images
from gpgc_lab.datasets.images import divide_per_class, sample_per_class

RNG = np.random.default_rng(0)
N = 50
LABELS = RNG.permutation(np.arange(N) % 10).astype(np.uint8)
GREY = RNG.integers(0, 256, (N, 28, 28), dtype=np.uint8)
COLOUR = RNG.integers(0, 256, (N, 32, 32, 3), dtype=np.uint8)

Writer = Callable[[Path], None]


@pytest.fixture
def five_per_class(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take five images of each class, which the small files have: 2 / 1 / 2 in the parts."""
    monkeypatch.setattr(images, "_PER_CLASS", 5)
    monkeypatch.setattr(image_files, "_CIFAR_BATCH", 10)
    monkeypatch.setattr(images, "_N_TRAIN", 2)
    monkeypatch.setattr(images, "_N_VALIDATION", 1)


def idx(array: np.ndarray) -> bytes:
    header = struct.pack(f">{1 + array.ndim}I", 0x0800 + array.ndim, *array.shape)
    return header + array.tobytes()


def binary(batch: int) -> bytes:
    rows = slice(10 * (batch - 1), 10 * batch)
    planes = COLOUR[rows].transpose(0, 3, 1, 2).reshape(10, -1)
    return np.concatenate([LABELS[rows, None], planes], axis=1).tobytes()


def archive(path: Path, members: dict[str, bytes]) -> None:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def mnist(folder: Path) -> None:
    (folder / "train-images-idx3-ubyte").write_bytes(idx(GREY))
    (folder / "train-labels-idx1-ubyte").write_bytes(idx(LABELS))


def mnist_compressed(folder: Path) -> None:
    (folder / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(GREY)))
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx(LABELS)))


def svhn(folder: Path) -> None:
    labels = np.where(LABELS == 0, 10, LABELS)[:, None].astype(np.uint8)
    path = folder / "train_32x32.mat"
    savemat(path, {"X": COLOUR.transpose(1, 2, 3, 0), "y": labels}, do_compression=True)


def cifar_binary(folder: Path) -> None:
    for batch in range(1, 6):
        (folder / f"data_batch_{batch}.bin").write_bytes(binary(batch))


def cifar_binary_archive(folder: Path) -> None:
    members = {f"cifar-10-batches-bin/data_batch_{b}.bin": binary(b) for b in range(1, 6)}
    archive(folder / "cifar-10-binary.tar.gz", {"../evil": b"evil"} | members)


OFFICIAL = [
    ("mnist", mnist, GREY),
    ("mnist", mnist_compressed, GREY),
    ("svhn", svhn, COLOUR),
    ("cifar10", cifar_binary, COLOUR),
    ("cifar10", cifar_binary_archive, COLOUR),
]
FORMATS = pytest.mark.parametrize(
    ("name", "write", "pixels"), OFFICIAL, ids=[write.__name__ for _, write, _ in OFFICIAL]
)


def same_images(dataset: ImageDataset, pixels: np.ndarray) -> bool:
    """Tell whether these are all the images, in any order, each with its label."""
    order = sample_per_class(LABELS.astype(np.int64), 5, "")
    return np.array_equal(dataset.images, pixels[order]) and np.array_equal(
        dataset.labels, LABELS[order]
    )


@FORMATS
@pytest.mark.parametrize("subfolder", ["", "images"])
@pytest.mark.usefixtures("five_per_class")
def test_official_files(
    name: str,
    write: Writer,
    pixels: np.ndarray,
    subfolder: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "data" / subfolder
    folder.mkdir(parents=True)
    write(folder)
    if name == "svhn":
        digest = hashlib.sha256((folder / "train_32x32.mat").read_bytes()).hexdigest()
        monkeypatch.setattr(image_files, "SVHN_SHA256", digest)
    dataset = load_images(name, tmp_path / "data", download=False)
    assert same_images(dataset, pixels)
    assert dataset.images.dtype == np.uint8
    assert len(dataset.classes) == 10
    assert not (tmp_path / "evil").exists()


@FORMATS
@pytest.mark.usefixtures("five_per_class")
def test_truncated_and_damaged_files_are_refused(
    name: str, write: Writer, pixels: np.ndarray, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file())[:2]:
        content = path.read_bytes()
        for damaged in (
            b"",
            content[:7],
            content[: len(content) // 2],
            b"\0" * 4000,
            b"text" * 999,
        ):
            path.write_bytes(damaged)
            with pytest.raises(DataError, match=path.name):
                load_images(name, folder, download=False)
        path.write_bytes(content)


@pytest.mark.usefixtures("five_per_class")
def test_a_changed_byte_anywhere_in_an_archive_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    cifar_binary_archive(folder)
    path = folder / "cifar-10-binary.tar.gz"
    content = path.read_bytes()
    for position in range(100, len(content), len(content) // 20):
        damaged = bytearray(content)
        damaged[position] ^= 1
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=path.name):
            load_images("cifar10", folder, download=False)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("train-images-idx3-ubyte", idx(GREY[:, :, :27])),
        ("train-images-idx3-ubyte", idx(GREY) + b"\0"),
        ("train-images-idx3-ubyte", struct.pack(">4I", 0x803, 2**32 - 1, 28, 28)),
        ("train-images-idx3-ubyte", struct.pack(">4I", 0x803, 50, 2**32 - 1, 2**32 - 1)),
        ("train-labels-idx1-ubyte", idx(LABELS[:-1])),
        ("train-labels-idx1-ubyte", idx(LABELS + 1)),
        ("train-labels-idx1-ubyte", idx(GREY)),
    ],
)
@pytest.mark.usefixtures("five_per_class")
def test_idx_files_that_do_not_fit_are_refused(file: str, content: bytes, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    mnist(folder)
    (folder / file).write_bytes(content)
    with pytest.raises(DataError, match=file.removesuffix("-images-idx3-ubyte")):
        load_images("mnist", folder, download=False)


@pytest.mark.usefixtures("five_per_class")
def test_a_sample_file_comes_before_the_official_ones(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    mnist(folder)
    np.savez(folder / "mnist-10k.npz", images=GREY[::-1], labels=LABELS[::-1])
    dataset = load_images("mnist", folder, download=False)
    np.testing.assert_array_equal(dataset.images, GREY[::-1])
    np.testing.assert_array_equal(dataset.labels, LABELS[::-1])


@pytest.mark.parametrize(
    ("pixels", "labels"),
    [
        (GREY[1:], LABELS[1:]),
        (COLOUR, LABELS),
        (GREY.astype(float), LABELS),
        (GREY, LABELS[1:]),
        (GREY, np.zeros(N, int)),
        (GREY, LABELS.astype(object)),
        (GREY, LABELS.astype(float)),
    ],
)
@pytest.mark.usefixtures("five_per_class")
def test_sample_files_that_do_not_fit_are_refused(
    pixels: np.ndarray, labels: np.ndarray, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    np.savez(folder / "mnist-10k.npz", images=pixels, labels=labels)
    with pytest.raises(DataError, match=r"mnist-10k\.npz"):
        load_images("mnist", folder, download=False)


@pytest.mark.usefixtures("five_per_class")
def test_official_files_are_downloaded_and_verified(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    mnist_compressed(source)
    files = {path.name: path.read_bytes() for path in source.iterdir()}
    server.files = {f"/{name}": content for name, content in files.items()}
    published = images._SOURCES["mnist"].published
    for name in files:
        digest = hashlib.sha256(files[name]).hexdigest()
        monkeypatch.setitem(published, name, fetch.Remote(f"{server.url}/{name}", digest))

    server.files["/train-labels-idx1-ubyte.gz"] = b"other"
    with pytest.raises(DataError, match="SHA-256"):
        load_images("mnist")
    server.files["/train-labels-idx1-ubyte.gz"] = files["train-labels-idx1-ubyte.gz"]
    assert same_images(load_images("mnist"), GREY)
    server.files = {}
    assert same_images(load_images("mnist", download=False), GREY)
    assert sorted(path.name for path in (cache / "images").iterdir()) == sorted(files)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mnist", "train-images-idx3-ubyte.gz"),
        ("svhn", "train_32x32.mat"),
        ("cifar10", "cifar-10-binary.tar.gz"),
    ],
)
def test_missing_files_are_named_with_the_place_for_them(name: str, file: str, cache: Path) -> None:
    with pytest.raises(DataError, match=f"{file}.*images/.*GPGC_DATA"):
        load_images(name, download=False)
    with pytest.raises(InputError, match="mnist, svhn, cifar10"):
        load_images("imagenet")


def test_too_few_images_of_a_class_are_refused() -> None:
    with pytest.raises(DataError, match="at least 6 images of class 0, got 5"):
        sample_per_class(LABELS.astype(np.int64), 6, "mnist")


def test_the_sample_is_even_and_always_the_same() -> None:
    labels = np.random.default_rng(1).integers(0, 10, 1000)
    chosen = sample_per_class(labels, 30, "mnist")
    assert np.bincount(labels[chosen]).tolist() == [30] * 10
    assert len(np.unique(chosen)) == 300
    np.testing.assert_array_equal(chosen, sample_per_class(labels, 30, "mnist"))


def test_the_division_is_the_documented_one() -> None:
    labels = np.random.default_rng(2).permutation(np.arange(400) % 10)
    rng = np.random.default_rng(7)
    orders = [rng.permutation(np.flatnonzero(labels == label)) for label in range(10)]
    train, validation, test = divide_per_class(labels, 5, 7, seed=7)
    np.testing.assert_array_equal(train, np.sort(np.concatenate([o[:5] for o in orders])))
    np.testing.assert_array_equal(validation, np.sort(np.concatenate([o[5:12] for o in orders])))
    np.testing.assert_array_equal(test, np.sort(np.concatenate([o[12:] for o in orders])))


@pytest.mark.data
@pytest.mark.skipif("GPGC_DATA" not in os.environ, reason="GPGC_DATA is not set")
@pytest.mark.parametrize(
    ("name", "shape"), [("mnist", (28, 28)), ("svhn", (32, 32, 3)), ("cifar10", (32, 32, 3))]
)
def test_the_real_samples(name: str, shape: tuple[int, ...]) -> None:
    dataset = load_images(name, download=False, seed=1)
    assert dataset.images.shape == (10_000, *shape)
    for part, per_class in (
        (dataset.train, 100),
        (dataset.validation, 100),
        (dataset.test, 800),
    ):
        assert np.bincount(dataset.labels[part]).tolist() == [per_class] * 10
    together = np.concatenate([dataset.train, dataset.validation, dataset.test])
    np.testing.assert_array_equal(np.sort(together), np.arange(10_000))
    assert (load_images(name, download=False, seed=2).train != dataset.train).any()
