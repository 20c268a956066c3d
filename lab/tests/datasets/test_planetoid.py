from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpgc.errors import DataError, InputError
from gpgc_lab.datasets import load_planetoid, planetoid

Files = Callable[[str], dict[str, bytes]]


def write(folder: Path, files: dict[str, bytes], name: str = "cora") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in files.items():
        (folder / f"ind.{name}.{part}").write_bytes(content)


@pytest.mark.data
@pytest.mark.skipif("GPGC_DATA" not in os.environ, reason="GPGC_DATA is not set")
@pytest.mark.parametrize(
    ("name", "nodes", "features", "edges", "class_sizes", "unlabelled"),
    [
        ("cora", 2708, 1433, 5278, [351, 217, 418, 818, 426, 298, 180], 0),
        ("citeseer", 3327, 3703, 4552, [249, 590, 668, 701, 596, 508], 15),
        ("pubmed", 19717, 500, 44324, [4103, 7739, 7875], 0),
    ],
)
def test_the_public_data_sets(
    name: str, nodes: int, features: int, edges: int, class_sizes: list[int], unlabelled: int
) -> None:
    dataset = load_planetoid(name, download=False)
    assert dataset.adjacency is not None
    assert dataset.adjacency.shape == (nodes, nodes)
    assert dataset.adjacency.nnz == 2 * edges
    assert set(dataset.adjacency.data) == {1.0}
    assert abs(dataset.adjacency - dataset.adjacency.T).nnz == 0
    assert not dataset.adjacency.diagonal().any()
    assert dataset.features.shape == (nodes, features)
    assert np.bincount(dataset.labels[dataset.labels >= 0]).tolist() == class_sizes
    assert len(dataset.classes) == len(class_sizes)
    unknown = np.flatnonzero(dataset.labels < 0)
    assert len(unknown) == unlabelled
    assert dataset.features[unknown].nnz == 0
    parts = [dataset.train, dataset.validation, dataset.test]
    assert [len(part) for part in parts] == [20 * len(class_sizes), 500, 1000]
    assert len(np.unique(np.concatenate(parts))) == sum(len(part) for part in parts)
    assert set(np.bincount(dataset.labels[dataset.train])) == {20}
    assert (dataset.labels[np.concatenate(parts)] >= 0).all()


@pytest.mark.parametrize("subfolder", ["", "planetoid"])
@pytest.mark.parametrize("by_variable", [True, False])
def test_files_are_found_in_the_root_and_in_its_folder(
    subfolder: str,
    by_variable: bool,
    tmp_path: Path,
    cache: Path,
    planetoid_files: Files,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(tmp_path / "data" / subfolder, planetoid_files("cora"))
    if by_variable:
        monkeypatch.setenv("GPGC_DATA", str(tmp_path / "data"))
    directory = None if by_variable else tmp_path / "data"
    assert load_planetoid("cora", directory, download=False).labels.shape == (512,)


def test_data_dir_comes_before_the_variable(
    tmp_path: Path, cache: Path, planetoid_files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "given", planetoid_files("cora"))
    write(tmp_path / "variable", dict.fromkeys(planetoid_files("cora"), b"damaged"))
    monkeypatch.setenv("GPGC_DATA", str(tmp_path / "variable"))
    load_planetoid("cora", tmp_path / "given", download=False)
    with pytest.raises(DataError):
        load_planetoid("cora", download=False)


def test_test_rows_go_to_the_nodes_of_the_index(
    tmp_path: Path, cache: Path, planetoid_files: Files
) -> None:
    write(tmp_path, planetoid_files("cora"))
    dataset = load_planetoid("cora", tmp_path, download=False)
    assert dataset.test.tolist() == [507, 508, 509, 511]
    assert dataset.labels[507:].tolist() == [1, 0, 2, -1, 0]
    words = dataset.features[507:].toarray()
    assert words.argmax(axis=1)[[0, 1, 2, 4]].tolist() == [1, 3, 2, 0]
    assert words.sum(axis=1).tolist() == [1, 1, 1, 0, 1]
    assert dataset.adjacency is not None
    assert dataset.adjacency.nnz == 2 * 512
    assert dataset.train.tolist() == list(range(7))
    assert dataset.validation.tolist() == list(range(7, 507))


@pytest.mark.parametrize("part", ["x", "tx", "allx", "y", "ty", "ally", "graph", "test.index"])
@pytest.mark.parametrize("damage", [b"", b"cos\nsystem\n(S'touch never'\ntR."])
def test_other_bytes_than_the_published_ones_are_never_unpickled(
    part: str, damage: bytes, tmp_path: Path, cache: Path, planetoid_files: Files
) -> None:
    write(tmp_path, planetoid_files("cora") | {part: damage})
    with pytest.raises(DataError, match=rf"ind\.cora\.{part}.*SHA-256"):
        load_planetoid("cora", tmp_path, download=False)


def test_other_globals_are_refused_even_in_published_bytes() -> None:
    with pytest.raises(DataError, match=r"names posix\.system; refused"):
        planetoid._unpickled(b"cposix\nsystem\n(S'true'\ntR.")


def test_missing_files_are_named_with_the_place_for_them(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(DataError, match=r"ind\.cora\.test\.index.*planetoid/.*GPGC_DATA"):
        load_planetoid("cora", tmp_path, download=False)


def test_bad_arguments_are_refused(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(InputError, match=r"cora, citeseer, pubmed.*'corra'"):
        load_planetoid("corra")
    with pytest.raises(InputError, match="data_dir"):
        load_planetoid("cora", tmp_path / "nowhere")
