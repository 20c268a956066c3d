from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from gpgc.errors import DataError, InputError
from gpgc_lab.datasets import load_npz_graph

N = 6


def parts(prefix: str, matrix: Any) -> dict[str, Any]:
    return {
        f"{prefix}_data": matrix.data,
        f"{prefix}_indices": matrix.indices,
        f"{prefix}_indptr": matrix.indptr,
        f"{prefix}_shape": np.array(matrix.shape),
    }


@pytest.fixture
def directed() -> csr_array:
    graph = random_array((N, N), density=0.4, rng=1).tolil()
    graph.setdiag(1.0)
    return csr_array(graph)


@pytest.fixture
def arrays(directed: csr_array) -> dict[str, Any]:
    features = csr_array(random_array((N, 4), density=0.5, rng=2))
    labels = {"labels": np.array([0, 2, 1, -1, 0, -7])}
    return parts("adj", directed) | parts("attr", features) | labels


def save(path: Path, arrays: dict[str, Any]) -> Path:
    np.savez(path, **arrays)
    return path


def test_round_trip(tmp_path: Path, arrays: dict[str, Any], directed: csr_array) -> None:
    names = {"class_names": np.array(["a", "b", "c"]), "node_names": np.array(["x"] * N)}
    dataset = load_npz_graph(save(tmp_path / "graph.npz", arrays | names))
    dense = directed.toarray()
    expected = np.maximum(dense, dense.T)
    np.fill_diagonal(expected, 0)
    assert dataset.adjacency is not None
    np.testing.assert_array_equal(dataset.adjacency.toarray(), expected)
    assert (dataset.adjacency.data > 0).all()
    np.testing.assert_array_equal(dataset.features.data, arrays["attr_data"])
    assert dataset.labels.tolist() == [0, 2, 1, -1, 0, -1]
    assert dataset.classes == ("a", "b", "c")
    assert dataset.name == "graph"
    assert len(dataset.train) == len(dataset.validation) == len(dataset.test) == 0


def test_dense_features(tmp_path: Path, arrays: dict[str, Any]) -> None:
    dense = np.arange(12, dtype=np.float32).reshape(N, 2)
    kept = {key: value for key, value in arrays.items() if not key.startswith("attr")}
    dataset = load_npz_graph(save(tmp_path / "graph.npz", kept | {"attr_matrix": dense}))
    np.testing.assert_array_equal(dataset.features, dense)
    assert dataset.features.dtype == np.float64


def test_names_that_need_pickle_are_replaced_by_numbers(
    tmp_path: Path, arrays: dict[str, Any]
) -> None:
    names = {"class_names": np.array(["a", "b", "c"], dtype=object)}
    assert load_npz_graph(save(tmp_path / "g.npz", arrays | names)).classes == ("0", "1", "2")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("labels", np.array([0, 1, None, 0, 1, 0], dtype=object), "labels cannot be read"),
        ("labels", np.arange(N - 1), "6 integers"),
        ("labels", np.zeros(N), "6 integers"),
        ("labels", np.full(N, 2**40), "class"),
        ("labels", np.full(N, 2**64 - 1, dtype=np.uint64), "class"),
        ("adj_shape", np.array([N, N + 1]), "square"),
        ("adj_shape", np.array([N]), "shape"),
        ("adj_shape", np.array([N, N], dtype=object), "adj_shape"),
        ("adj_indices", np.array([99]), "adj"),
        ("adj_data", np.array([np.nan]), "adj"),
        ("attr_shape", np.array([N + 1, 4]), "attr"),
        ("attr_matrix", np.full((N, 2), np.inf), "attr_matrix"),
        ("attr_matrix", np.zeros((N + 1, 2)), "7 rows"),
        ("class_names", np.array(["a"]), "class_names"),
    ],
)
def test_what_does_not_fit_is_refused(
    tmp_path: Path, arrays: dict[str, Any], key: str, value: Any, message: str
) -> None:
    path = save(tmp_path / "graph.npz", arrays | {key: value})
    with pytest.raises(DataError, match=rf"graph\.npz.*{message}"):
        load_npz_graph(path)


def test_negative_weights_are_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = save(tmp_path / "graph.npz", arrays | {"adj_data": -arrays["adj_data"]})
    with pytest.raises(DataError, match="negative weights"):
        load_npz_graph(path)


@pytest.mark.parametrize("key", ["labels", "adj_data", "attr_indptr"])
def test_a_missing_array_is_named(tmp_path: Path, arrays: dict[str, Any], key: str) -> None:
    del arrays[key]
    with pytest.raises(DataError, match=f"no array {key}"):
        load_npz_graph(save(tmp_path / "graph.npz", arrays))


def test_a_damaged_archive_is_refused(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = save(tmp_path / "graph.npz", arrays)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"graph\.npz"):
        load_npz_graph(path)
    path.write_bytes(
        content.replace(arrays["adj_data"].tobytes(), arrays["adj_data"].size * b"8" * 8)
    )
    with pytest.raises(DataError, match="adj_data cannot be read"):
        load_npz_graph(path)
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"graph\.npz"):
        load_npz_graph(path)
    np.save(tmp_path / "single.npy", np.arange(3))
    with pytest.raises(DataError, match="single array"):
        load_npz_graph(tmp_path / "single.npy")
    with pytest.raises(InputError, match="path"):
        load_npz_graph(tmp_path / "nowhere.npz")


def masks(n_splits: int = 2) -> dict[str, Any]:
    part = np.array([np.roll([0, 0, 1, 1, 2, 3], turn) for turn in range(n_splits)])
    names = ("train_masks", "val_masks", "test_masks")
    return {name: part == number for number, name in enumerate(names)}


def test_a_split_is_read_from_its_masks(tmp_path: Path, arrays: dict[str, Any]) -> None:
    path = save(tmp_path / "graph.npz", arrays | masks())
    first, second = load_npz_graph(path), load_npz_graph(path, split=1)
    assert (first.train.tolist(), first.validation.tolist()) == ([0, 1], [2, 3])
    assert first.test.tolist() == [4]
    assert (second.train.tolist(), second.test.tolist()) == ([1, 2], [5])
    assert first.train.dtype == np.int64


@pytest.mark.parametrize("split", [2, -1, 0.5, None])
def test_a_split_that_is_not_there_is_refused(
    tmp_path: Path, arrays: dict[str, Any], split: Any
) -> None:
    with pytest.raises(InputError, match="split must be a whole number from 0 to 1"):
        load_npz_graph(save(tmp_path / "graph.npz", arrays | masks()), split=split)
    with pytest.raises(InputError, match="split must be a whole number from 0 to 0"):
        load_npz_graph(save(tmp_path / "plain.npz", arrays), split=split)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"val_masks": np.zeros((2, N - 1), dtype=bool)}, "val_masks"),
        ({"val_masks": np.zeros((3, N), dtype=bool)}, "val_masks"),
        ({"test_masks": np.zeros((2, N))}, "test_masks"),
        ({"train_masks": np.zeros((), dtype=bool)}, "train_masks"),
        ({"val_masks": np.ones((2, N), dtype=bool)}, "more than one"),
    ],
)
def test_masks_that_do_not_fit_are_refused(
    tmp_path: Path, arrays: dict[str, Any], changes: dict[str, Any], message: str
) -> None:
    path = save(tmp_path / "graph.npz", arrays | masks() | changes)
    with pytest.raises(DataError, match=message):
        load_npz_graph(path)


def test_a_missing_mask_is_named(tmp_path: Path, arrays: dict[str, Any]) -> None:
    kept = masks()
    del kept["val_masks"]
    with pytest.raises(DataError, match="no array val_masks"):
        load_npz_graph(save(tmp_path / "graph.npz", arrays | kept))
