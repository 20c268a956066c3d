"""Nearest-neighbour graphs of feature vectors, for data that bring no graph.

The search is exact where that is affordable: up to ``EXACT_PAIRS`` pairs of rows, in few dimensions
(by trees), or between sparse rows. Beyond, faiss looks into the cells of a k-means partition that
lie nearest, and into twice as many until a sample of the rows finds ``RECALL`` of its true
neighbours: the recall is measured, the time depends on the data. Where it would take a quarter of
the cells all distances are computed, which is faster.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Integers
from gpgc.compute import Threads, is_forked, one_blas_thread, openmp_threads
from gpgc.compute.numbers import is_whole
from gpgc.compute.progress import counted, expect
from gpgc.errors import InputError
from gpgc.files import canonical_csr
from gpgc.graph.adjacency import as_adjacency

EXACT_PAIRS = 50_000**2
"""Pairs of rows up to which every distance is computed."""

EXACT_COLUMNS = 15
"""Number of features up to which trees find the exact neighbours of any number of rows."""

TIMED_QUERIES, TIMED_SHARE = 512, 64
"""Rows by which the time of a search is estimated, and from how many times as many rows on."""

RECALL = 0.95
"""Share of true neighbours that the approximate search must find in its sample."""

SAMPLE = 1_000
"""Rows by which the recall is measured."""

ROWS_PER_CELL = 256
ROWS_TO_PARTITION = 40
"""Rows a cell by which the partition is learnt."""

PART = 2_048
"""Rows that are searched for at a time, so that progress can be shown."""

EXACT_GAIN = 4
"""How many distances of all pairs take the time of one that is looked up in a cell."""

FIRST_CELLS = 8
"""Cells that are looked into first."""


def neighbor_graph(
    features: Any,
    n_neighbors: int = 10,
    *,
    include_self: bool = False,
    exact: bool = False,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """Connect each row with its nearest rows by Euclidean distance, undirected by union.

    Parameters
    ----------
    features : array or sparse matrix of shape (N, F)
        One row a node.
    n_neighbors : int
        The number k of neighbours; a graph of fewer than k + 1 nodes becomes complete.
    include_self : bool
        Whether a node counts as its own first neighbour, which leaves k - 1 others (the paper's
        numbers of edges fit this way of counting).
    exact : bool
        Whether to compute all distances however long it takes. Otherwise dense rows beyond 50,000
        with more than 15 columns are searched by faiss (``pip install "gpgc[neighbors]"``), which
        finds at least 95 per cent of the true neighbours of a sample.
    n_jobs : int, optional
        Threads of the search, as in scikit-learn.

    Returns
    -------
    csr_array of shape (N, N)
        Symmetric, with weights 1 and an empty diagonal.

    Examples
    --------
    >>> neighbor_graph([[0.0], [1.0], [5.0]], n_neighbors=1).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    _check_count(n_neighbors)
    rows = canonical_csr(features, "features") if sp.issparse(features) else np.asarray(features)
    n_nodes = rows.shape[0]
    wanted = min(n_neighbors - 1 if include_self else n_neighbors, n_nodes - 1)
    if wanted < 1:
        return sp.csr_array((n_nodes, n_nodes))
    if exact or _is_affordable(rows, n_nodes):
        return as_adjacency(_exact(rows, None, wanted, n_jobs))
    found = _approximate(rows, rows, wanted + 1, n_jobs)
    return as_adjacency(_links(_without_self(found), n_nodes))


def nearest_links(
    fitted: Any, new: Any, n_neighbors: int = 10, *, n_jobs: int | None = None
) -> sp.csr_array:
    """Link each new row with its nearest fitted rows; shape (M, N), weights 1.

    The search is exact or not as in :func:`neighbor_graph`.
    """
    _check_count(n_neighbors)
    if sp.issparse(fitted):
        fitted = canonical_csr(fitted, "fitted")
    if sp.issparse(new):
        new = canonical_csr(new, "new")
        new = new if sp.issparse(fitted) else new.toarray()
    wanted = min(n_neighbors, fitted.shape[0])
    if _is_affordable(fitted, new.shape[0]):
        return _exact(fitted, new, wanted, n_jobs)
    return _links(_approximate(fitted, new, wanted, n_jobs), fitted.shape[0])


def _is_affordable(fitted: Any, n_queries: int) -> bool:
    n_rows, n_columns = fitted.shape
    few = n_rows * n_queries <= EXACT_PAIRS
    return bool(few or sp.issparse(fitted) or n_columns <= EXACT_COLUMNS)


def _exact(fitted: Any, queries: Any, wanted: int, n_jobs: int | None) -> sp.csr_array:
    """Link each query with its nearest fitted rows; each fitted row with others if queries=None.

    Among equally near rows the search keeps those that come first, unless several threads look for
    the neighbours of one row: it then keeps others with every number of threads. That happens
    where there are fewer than four chunks of queries for each thread.

    The search saves, lowers and restores the number of BLAS threads of the whole process. Inside a
    hold it finds and leaves 1; outside, its end would give other threads' tiles more than one.
    """
    from sklearn import get_config
    from sklearn.neighbors import NearestNeighbors

    n_queries = (fitted if queries is None else queries).shape[0]
    chunk = int(get_config()["pairwise_dist_chunk_size"])
    with openmp_threads(max(1, (n_queries - 1) // (4 * chunk))), one_blas_thread():
        search = NearestNeighbors(n_neighbors=wanted, n_jobs=_threads(n_jobs)).fit(fitted)
        if n_queries > TIMED_SHARE * TIMED_QUERIES:
            asked = (fitted if queries is None else queries)[:: n_queries // TIMED_QUERIES]
            expect(lambda: search.kneighbors(asked), n_queries / asked.shape[0])
        return sp.csr_array(search.kneighbors_graph(queries, mode="connectivity"))


def _threads(n_jobs: int | None) -> int | None:
    """Return the number of threads for a number of jobs, at most one a core."""
    return None if n_jobs is None else Threads(n_jobs).n_threads


def _approximate(fitted: Any, queries: Any, wanted: int, n_jobs: int | None) -> Integers:
    """Return the nearest fitted rows of each query, of shape (M, wanted), nearest first."""
    faiss = _import_faiss(fitted.shape[0])
    stored, asked = (np.ascontiguousarray(rows, dtype=np.float32) for rows in (fitted, queries))
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1 if is_forked() else _threads(n_jobs) or threads)
    try:
        index = _partition(faiss, stored)
        sample = asked[:: -(-len(asked) // SAMPLE)]
        _, truth = faiss.knn(sample, stored, wanted)
        index.nprobe = min(FIRST_CELLS, index.nlist)
        while (
            EXACT_GAIN * index.nprobe < index.nlist
            and _recall(index.search(sample, wanted)[1], truth) < RECALL
        ):
            index.nprobe *= 2
        parts = [asked[start : start + PART] for start in range(0, len(asked), PART)]
        if EXACT_GAIN * index.nprobe < index.nlist:
            search = counted(lambda part: index.search(part, wanted)[1], len(parts))
        else:
            search = counted(lambda part: faiss.knn(part, stored, wanted)[1], len(parts))
        found: Integers = np.concatenate([search(part) for part in parts])
    finally:
        faiss.omp_set_num_threads(threads)
    return found


def _partition(faiss: ModuleType, stored: NDArray[np.float32]) -> Any:
    cells = max(1, len(stored) // ROWS_PER_CELL)
    index = faiss.index_factory(stored.shape[1], f"IVF{cells},Flat")
    index.cp.max_points_per_centroid = ROWS_TO_PARTITION
    index.train(stored)
    index.add(stored)
    return index


def _recall(found: Integers, truth: Integers) -> float:
    hits = [len(np.intersect1d(*pair)) for pair in zip(found, truth, strict=True)]
    return sum(hits) / truth.size


def _without_self(found: Integers) -> Integers:
    """Drop each row's own number, or its farthest neighbour where equal rows crowded it out."""
    drop = found == np.arange(len(found))[:, None]
    drop[~drop.any(axis=1), -1] = True
    return np.asarray(found[~drop].reshape(len(found), -1))


def _links(found: Integers, n_columns: int) -> sp.csr_array:
    """Return the matrix that links each row with the columns it names; −1 names none."""
    rows, places = np.nonzero(found >= 0)
    entries = (np.ones(len(rows)), (rows, found[rows, places]))
    return sp.csr_array(entries, shape=(len(found), n_columns))


def _import_faiss(n_rows: int) -> ModuleType:
    try:
        return import_module("faiss")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"the nearest neighbours of {n_rows:,} rows need faiss: "
            'pip install "gpgc[neighbors]", or give adjacency, which '
            "gpgc.graph.neighbor_graph(features, exact=True) computes in time that grows with the "
            "square of the rows",
            name="faiss",
        ) from error


def _check_count(n_neighbors: int) -> None:
    if not is_whole(n_neighbors, 1):
        raise InputError(f"n_neighbors must be a whole number of at least 1, got {n_neighbors!r}")
