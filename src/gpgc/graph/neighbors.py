"""Nearest-neighbor graphs of feature vectors, for data that bring no graph.

The search is exact where that is affordable: up to ``EXACT_PAIRS`` pairs of rows, in few dimensions
(by trees), or between sparse rows. Beyond, faiss looks into the cells of a k-means partition that
lie nearest, and into twice as many until a sample of the rows finds ``RECALL`` of its true
neighbors: the recall is measured, the time depends on the data. Where it would take a quarter of
the cells all distances are computed, which is faster.

Equal rows are searched for once, and in an order that their contents give. Rows that are as near
as the last neighbor are linked too, or none of them where they are very many: nothing depends on
the order of the rows, and equal rows have equal links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.compute import Threads, is_forked, one_blas_thread, openmp_threads
from gpgc.compute.numbers import is_whole
from gpgc.compute.progress import counted
from gpgc.errors import InputError
from gpgc.files import canonical_csr
from gpgc.graph.adjacency import as_adjacency
from gpgc.graph.equal_rows import DistinctRows, distinct_rows

EXACT_PAIRS = 50_000**2
"""Pairs of rows up to which every distance is computed."""

EXACT_COLUMNS = 15
"""Number of features up to which trees find the exact neighbors of any number of rows."""

TIES, TIED_LINKS = 100, 2**22
"""Equally near rows that a row is linked with at most, or so many in the whole graph."""

TOLERANCE = 1e-9
"""Relative difference of squared distances up to which rows count as equally near."""

MANY_THREADS = 2**10
"""More threads than there are cores: as many as the libraries take."""

RECALL = 0.95
"""Share of true neighbors that the approximate search must find in its sample."""

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

    All rows that are as near as the k-th are linked too, so that the order of the rows does not
    matter and equal rows have equal links. Where these are very many, more than both
    ``TIES`` and ``TIED_LINKS`` / N, none of them is.

    Parameters
    ----------
    features : array or sparse matrix of shape (N, F)
        One row a node.
    n_neighbors : int
        The number k of neighbors; a graph of fewer than k + 1 nodes becomes complete.
    include_self : bool
        Whether a node counts as its own first neighbor, which leaves k - 1 others (the paper's
        numbers of edges fit this way of counting).
    exact : bool
        Whether to compute all distances however long it takes. Otherwise dense rows beyond 50,000
        with more than 15 columns are searched by faiss (``pip install "gpgc[neighbors]"``), which
        finds at least 95 per cent of the true neighbors of a sample.
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
    fitted = distinct_rows(rows)
    n_distinct = len(fitted.counts)
    search = _search_for(fitted.rows, n_distinct, exact, n_jobs)
    found = _tied(search, fitted, fitted.rows, wanted, own=np.arange(n_distinct))
    return as_adjacency(_links(*found, fitted, fitted))


def nearest_links(
    fitted: Any,
    new: Any,
    n_neighbors: int = 10,
    *,
    adjacency: sp.csr_array | None = None,
    n_jobs: int | None = None,
) -> sp.csr_array:
    """Link each new row with its nearest fitted rows; shape (M, N), weights 1.

    The search is exact or not, and equally near rows are linked, as in :func:`neighbor_graph`.
    Where the links of the fitted rows are given, of shape (N, N), a new row that equals a fitted
    one has those of that one.
    """
    _check_count(n_neighbors)
    if sp.issparse(fitted):
        fitted = canonical_csr(fitted, "fitted")
    if sp.issparse(new):
        new = canonical_csr(new, "new")
        new = new if sp.issparse(fitted) else new.toarray()
    elif sp.issparse(fitted):
        new = sp.csr_array(new)
    wanted = min(n_neighbors, fitted.shape[0])
    known, asked = distinct_rows(fitted), distinct_rows(new)
    search = _search_for(known.rows, len(asked.counts), False, n_jobs)
    links = _links(*_tied(search, known, asked.rows, wanted, own=None), asked, known)
    return links if adjacency is None else _with_links_of_equals(links, asked, known, adjacency)


def _with_links_of_equals(
    links: sp.csr_array, queries: DistinctRows, fitted: DistinctRows, adjacency: sp.csr_array
) -> sp.csr_array:
    """Return links, and for queries that are fitted rows those that these have."""
    _, place, twin = np.intersect1d(
        queries.hashes, fitted.hashes, assume_unique=True, return_indices=True
    )
    first = fitted.members.rows[fitted.members.starts[:-1]]
    twin_of = np.full(len(queries.counts), -1)
    twin_of[place] = first[twin]
    copied = twin_of[queries.group]
    is_new = sp.diags_array((copied < 0).astype(np.float64))
    copies = np.flatnonzero(copied >= 0)
    ones = np.ones(len(copies))
    taken = sp.csr_array((ones, (copies, copied[copies])), shape=links.shape)
    return sp.csr_array(is_new @ links + taken @ adjacency)


Search: TypeAlias = Callable[[Any, int], Integers]
"""Queries (M, F) and a number K → the nearest rows (M, K), −1 where none was found."""


def _search_for(fitted: Any, n_queries: int, exact: bool, n_jobs: int | None) -> Search:
    """Return the search for the nearest of some rows, which are all different."""
    n_rows, n_columns = fitted.shape
    is_affordable = n_rows * n_queries <= EXACT_PAIRS or n_columns <= EXACT_COLUMNS
    if exact or is_affordable or sp.issparse(fitted):
        return _Exact(fitted, n_jobs)
    return _Approximate(fitted, n_jobs)


def _tied(
    search: Search, fitted: DistinctRows, queries: Any, wanted: int, own: Integers | None
) -> tuple[Integers, Integers]:
    """Return pairs of distinct rows: each query with those that hold its nearest rows, and ties."""
    n_rows, most = int(fitted.counts.sum()), len(fitted.counts)
    ties = max(TIES, TIED_LINKS // n_rows)
    pairs, left, width = [], np.arange(queries.shape[0]), wanted + 2
    while len(left):
        width, undecided = min(width, most), []
        parts = [left[start : start + PART] for start in range(0, len(left), PART)]

        def search_part(part: Integers, width: int = width) -> Integers:
            return search(queries[part], width)

        nearest = counted(search_part, len(parts))
        for some in parts:
            near = nearest(some)
            squares = _squares(queries[some], fitted.rows, near)
            counts = np.where(near >= 0, fitted.counts[near], 0)
            if own is not None:
                counts -= near == own[some][:, None]
            order = np.argsort(squares, axis=1, kind="stable")
            near, squares, counts = (
                np.take_along_axis(part, order, axis=1) for part in (near, squares, counts)
            )
            n_nearer = np.cumsum(counts, axis=1) - counts
            last = (n_nearer < wanted).sum(axis=1) - 1
            bound = np.take_along_axis(squares, last[:, None], axis=1)
            is_tied = (squares >= bound * (1 - TOLERANCE)) & (squares <= bound * (1 + TOLERANCE))
            is_tied &= near >= 0
            n_tied = np.where(is_tied, counts, 0).sum(axis=1)
            is_open = is_tied[:, -1] & (n_tied <= ties) & (width < most)
            undecided.append(some[is_open])
            linked = (squares < bound) & ~is_tied | (is_tied & (n_tied <= ties)[:, None])
            linked &= (counts > 0) & ~is_open[:, None]
            asked, places = np.nonzero(linked)
            pairs.append((some[asked], near[asked, places]))
        left, width = np.concatenate(undecided), 4 * width
    return np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])


def _squares(queries: Any, fitted: Any, near: Integers) -> Array:
    """Return the squared distances (M, K) of queries and rows, each by its own differences."""
    squares = np.full(near.shape, np.inf)
    for place in range(near.shape[1]):
        known = np.flatnonzero(near[:, place] >= 0)
        apart = queries[known] - fitted[near[known, place]]
        if sp.issparse(apart):
            squares[known, place] = apart.power(2).sum(axis=1)
        else:
            squares[known, place] = np.einsum("ij,ij->i", apart, apart, dtype=np.float64)
    return squares


def _links(
    asked: Integers, near: Integers, queries: DistinctRows, fitted: DistinctRows
) -> sp.csr_array:
    """Return the matrix that links the rows of pairs of distinct rows, but none with itself."""
    columns, pair = fitted.members.of(near)
    rows, entry = queries.members.of(asked[pair])
    columns = columns[entry]
    shape = (len(queries.group), len(fitted.group))
    if queries is fitted:
        rows, columns = rows[rows != columns], columns[rows != columns]
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


class _Exact:
    """All distances, or trees in few dimensions.

    The search saves, lowers and restores the number of BLAS threads of the whole process. Inside a
    hold it finds and leaves 1; outside, its end would give other threads' tiles more than one.
    """

    def __init__(self, fitted: Any, n_jobs: int | None) -> None:
        from sklearn.neighbors import NearestNeighbors

        self._search = NearestNeighbors(n_jobs=_threads(n_jobs)).fit(fitted)

    def __call__(self, queries: Any, width: int) -> Integers:
        with openmp_threads(MANY_THREADS), one_blas_thread():
            found: Integers = self._search.kneighbors(queries, width, return_distance=False)
        return found


def _threads(n_jobs: int | None) -> int | None:
    """Return the number of threads for a number of jobs, at most one a core."""
    return None if n_jobs is None else Threads(n_jobs).n_threads


class _Approximate:
    """Cells of a partition, as many as the recall of a sample needs."""

    def __init__(self, fitted: Any, n_jobs: int | None) -> None:
        self._faiss, self._n_jobs = _import_faiss(fitted.shape[0]), n_jobs
        self._stored = np.ascontiguousarray(fitted, dtype=np.float32)
        with self._threads():
            self._index = _partition(self._faiss, self._stored)
        self._settled_for = 0

    def __call__(self, queries: Any, width: int) -> Integers:
        asked = np.ascontiguousarray(queries, dtype=np.float32)
        with self._threads():
            if width > self._settled_for:
                self._settle(width)
            found: Integers = self._found(asked, width)
        return found

    def _settle(self, width: int) -> None:
        """Look into as many cells as a sample of the rows needs to find its neighbors."""
        index, sample = self._index, self._stored[:: -(-len(self._stored) // SAMPLE)]
        _, truth = self._faiss.knn(sample, self._stored, width)
        index.nprobe = min(FIRST_CELLS, index.nlist)
        while self._by_cells and _recall(index.search(sample, width)[1], truth) < RECALL:
            index.nprobe *= 2
        self._settled_for = width

    @property
    def _by_cells(self) -> bool:
        return bool(EXACT_GAIN * self._index.nprobe < self._index.nlist)

    def _found(self, asked: NDArray[np.float32], width: int) -> Any:
        if self._by_cells:
            return self._index.search(asked, width)[1]
        return self._faiss.knn(asked, self._stored, width)[1]

    @contextmanager
    def _threads(self) -> Iterator[None]:
        before = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(1 if is_forked() else _threads(self._n_jobs) or before)
        try:
            yield
        finally:
            self._faiss.omp_set_num_threads(before)


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


def _import_faiss(n_rows: int) -> ModuleType:
    try:
        return import_module("faiss")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"the nearest neighbors of {n_rows:,} rows need faiss: "
            'pip install "gpgc[neighbors]", or give adjacency, which '
            "gpgc.graph.neighbor_graph(features, exact=True) computes in time that grows with the "
            "square of the rows",
            name="faiss",
        ) from error


def _check_count(n_neighbors: int) -> None:
    if not is_whole(n_neighbors, 1):
        raise InputError(f"n_neighbors must be a whole number of at least 1, got {n_neighbors!r}")
