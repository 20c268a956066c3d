"""Cora, Citeseer and Pubmed with the public Planetoid splits.

Reference: Z. Yang, W. Cohen, R. Salakhutdinov, *Revisiting semi-supervised learning with graph
embeddings*, 2016; files of the public repository kimiyoung/planetoid.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, csr_matrix, vstack

from gpgc.datasets import Dataset
from gpgc.errors import DataError, InputError
from gpgc_lab.datasets import fetch

_FOLDER = "planetoid"
_REPOSITORY = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_VALIDATION = 500

# The files do not name the classes; the number of nodes in each tells which is which.
_CLASSES = {
    "cora": (
        "Theory",
        "Reinforcement Learning",
        "Genetic Algorithms",
        "Neural Networks",
        "Probabilistic Methods",
        "Case Based",
        "Rule Learning",
    ),
    "citeseer": (
        "Artificial Intelligence",
        "Machine Learning",
        "Information Retrieval",
        "Databases",
        "Agents",
        "Human-Computer Interaction",
    ),
    "pubmed": (
        "Diabetes Mellitus, Experimental",
        "Diabetes Mellitus Type 2",
        "Diabetes Mellitus Type 1",
    ),
}

_SHA256 = {
    "cora": {
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
    "citeseer": {
        "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    },
    "pubmed": {
        "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    },
}


CITATION_NETWORKS = tuple(_SHA256)
"""Names of the data sets."""


def load_planetoid(
    name: str, data_dir: str | os.PathLike[str] | None = None, download: bool = True
) -> Dataset:
    """Load a citation network with its public Planetoid split.

    The nodes are papers, the features bags of words, the edges citations taken as undirected and
    unweighted. The 15 papers of Citeseer that have neither words nor a class stay in the graph,
    with label −1 and zero features.

    Parameters
    ----------
    name : {"cora", "citeseer", "pubmed"}
        The network.
    data_dir : path-like, optional
        Directory with the files ``ind.<name>.*``, or with a folder ``planetoid`` that has them.
        Without it, or if they are not there, the directory in the environment variable
        ``GPGC_DATA`` is searched in the same way, then the user's cache.
    download : bool, default True
        Whether to download the files from the public repository into the user's cache if they
        are in none of these places.

    Returns
    -------
    Dataset
        Train: the first nodes, 20 of each class; validation: the next 500; test: 1,000 nodes.

    Raises
    ------
    DataError
        If the files are missing and cannot be downloaded, or are not the published ones, byte for
        byte: nothing else is ever unpickled.
    """
    if name not in CITATION_NETWORKS:
        raise InputError(f"name: expected one of {', '.join(CITATION_NETWORKS)}, got {name!r}")
    return _read(name, _folder(name, data_dir, download))


def _folder(name: str, data_dir: str | os.PathLike[str] | None, download: bool) -> Path:
    files = {
        f"ind.{name}.{part}": fetch.Remote(f"{_REPOSITORY}/ind.{name}.{part}", sha256)
        for part, sha256 in _SHA256[name].items()
    }
    what = f"the Planetoid data set {name}"
    folder = fetch.find_folder(_FOLDER, files, data_dir) or fetch.find_cached(_FOLDER, files)
    if folder is not None:
        return folder
    if not download:
        raise fetch.missing(what, _FOLDER, files, "download=False")
    try:
        return fetch.download(_FOLDER, files)
    except fetch.UnreachableError as error:
        raise fetch.missing(what, _FOLDER, files, str(error)) from error


def _read(name: str, folder: Path) -> Dataset:
    """Put the parts together; their content is known by its SHA-256."""
    part = {key: _content(folder / f"ind.{name}.{key}", sha) for key, sha in _SHA256[name].items()}
    allx, tx = (_csr(_unpickled(part[key])) for key in ("allx", "tx"))
    n_train, ally, ty = len(_unpickled(part["y"])), *map(_unpickled, (part["ally"], part["ty"]))
    adjacency = _adjacency(_unpickled(part["graph"]))
    position = np.array(part["test.index"].split(), dtype=np.int64)
    n_nodes, n_known = adjacency.shape[0], len(ally)

    # row i of tx and ty belongs to node position[i]; nodes in the gaps have neither
    row_of = csr_array(
        (np.ones(len(position)), (position - n_known, np.arange(len(position)))),
        shape=(n_nodes - n_known, len(position)),
    )
    features = csr_array(vstack([allx, row_of @ tx], format="csr"))
    features.sort_indices()
    labels = np.full(n_nodes, -1, dtype=np.int64)
    labels[:n_known] = ally.argmax(axis=1)
    labels[position] = ty.argmax(axis=1)
    return Dataset(
        name=name,
        adjacency=adjacency,
        features=features,
        labels=labels,
        classes=_CLASSES[name],
        train=np.arange(n_train),
        validation=np.arange(n_train, n_train + _VALIDATION),
        test=np.sort(position),
    )


def _content(path: Path, sha256: str) -> bytes:
    """Return the bytes of a file whose SHA-256 is the published one; others are refused."""
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DataError(f"{path}: damaged, or not the published file of SHA-256 {sha256}")
    return content


class _Unpickler(pickle.Unpickler):
    """Reads the published files, which name these globals and no others."""

    GLOBALS: ClassVar[dict[tuple[str, str], Any]] = {
        ("numpy.core.multiarray", "_reconstruct"): np.empty(0).__reduce__()[0],
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("scipy.sparse.csr", "csr_matrix"): csr_matrix,
        ("collections", "defaultdict"): defaultdict,
        ("__builtin__", "list"): list,
    }

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in self.GLOBALS:
            raise DataError(f"expected a pickle of arrays, but it names {module}.{name}; refused")
        return self.GLOBALS[module, name]


def _unpickled(content: bytes) -> Any:
    return _Unpickler(io.BytesIO(content), encoding="latin1").load()


def _csr(matrix: csr_matrix) -> csr_array:
    """Return a sparse matrix that an old SciPy wrote as float64."""
    parts = vars(matrix)
    data = parts["data"].astype(np.float64)
    return csr_array((data, parts["indices"], parts["indptr"]), shape=parts["_shape"])


def _adjacency(neighbours: dict[int, list[int]]) -> csr_array:
    """Build the undirected graph from a dictionary of neighbours, one entry for each node."""
    n_nodes, lists = len(neighbours), neighbours.values()
    start = np.repeat(np.fromiter(neighbours, np.int64, n_nodes), [len(entry) for entry in lists])
    end = np.fromiter(chain.from_iterable(lists), np.int64, len(start))
    between = start != end
    start, end = start[between], end[between]
    graph = csr_array((np.ones(len(start)), (start, end)), shape=(n_nodes, n_nodes))
    graph = csr_array(graph + graph.T)
    graph.data[:] = 1.0
    return graph
