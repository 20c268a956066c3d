"""A small Planetoid data set, an empty cache and a local web server that can misbehave."""

from __future__ import annotations

import hashlib
import pickle
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from local_server import Server
from scipy.sparse import csr_matrix

from gpgc_lab.datasets import planetoid

TEST_NODES = [511, 507, 509, 508]  # out of order, and node 510 has neither label nor features


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    running = Server()
    yield running
    running.close()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty user's cache, and no data directory."""
    monkeypatch.delenv("GPGC_DATA", raising=False)
    root = tmp_path / "cache"
    monkeypatch.setattr("gpgc_lab.datasets.fetch.cache_folder", lambda kind: root / kind)
    return root


@pytest.fixture
def planetoid_files(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, bytes]]:
    """Make the eight files of a data set of 512 nodes, by the part's name, as if published."""

    def make(name: str) -> dict[str, bytes]:
        files = _planetoid_files(name)
        digests = {part: hashlib.sha256(content).hexdigest() for part, content in files.items()}
        monkeypatch.setitem(planetoid._SHA256, name, digests)
        return files

    return make


def _planetoid_files(name: str) -> dict[str, bytes]:
    n_classes = {"cora": 7, "citeseer": 6, "pubmed": 3}[name]
    rng = np.random.default_rng(0)
    known = rng.permutation(np.arange(507) % n_classes)
    known[:n_classes] = np.arange(n_classes)
    features = csr_matrix(rng.integers(0, 2, size=(507, 11)).astype(np.float32))
    test_features = csr_matrix(np.eye(4, 11, dtype=np.float32))
    one_hot = np.eye(n_classes, dtype=np.int32)
    graph: defaultdict[int, list[int]] = defaultdict(list)
    for node in range(512):
        graph[node] = [(node + 1) % 512]
    graph[3] += [3, 4]  # a self-loop and a repeated edge
    values: dict[str, object] = {
        "x": features[:n_classes],
        "tx": test_features,
        "allx": features,
        "y": one_hot[:n_classes],
        "ty": one_hot[[0, 1, 2, 0]],
        "ally": one_hot[known],
        "graph": graph,
    }
    files = {part: _as_python_2(value) for part, value in values.items()}
    files["test.index"] = "".join(f"{node}\n" for node in TEST_NODES).encode()
    return files


def _as_python_2(value: object) -> bytes:
    """Pickle a value with the names that its globals had in Python 2 and the SciPy of that time."""
    written = pickle.dumps(value, protocol=3)
    for new, old in (
        (b"numpy._core.multiarray", b"numpy.core.multiarray"),
        (b"scipy.sparse._csr", b"scipy.sparse.csr"),
        (b"cbuiltins\nlist", b"c__builtin__\nlist"),
    ):
        written = written.replace(new, old)
    return written
