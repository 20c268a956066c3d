"""Neighbor graphs of many vectors."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc.graph import neighbor_graph, neighbors


@pytest.fixture
def clusters():
    """20,000 vectors of 32 numbers around 200 centers, of 8 dimensions each."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(200, 32))
    spread = rng.normal(size=(200, 8, 32)) / 4
    member = rng.integers(200, size=20_000)
    inner = rng.normal(size=(20_000, 8))
    return (centers[member] + np.einsum("ij,ijk->ik", inner, spread[member])).astype(np.float32)


@pytest.mark.parametrize("n_rows", [300, 1500, 2500])
def test_equally_near_rows_are_the_same_with_any_number_of_threads(n_rows):
    from threadpoolctl import threadpool_limits

    features = np.random.default_rng(0).integers(3, size=(n_rows, 16)).astype(np.float64)
    graphs, links = [], []
    for threads in (1, 2, 3, 8):
        with threadpool_limits(threads, user_api="openmp"):
            graphs.append(neighbor_graph(features))
            links.append(neighbors.nearest_links(features, features[::7] + 0.5))
    for found in (graphs, links):
        assert all((each != found[0]).nnz == 0 for each in found)


def recall(found, truth):
    return found.multiply(truth).nnz / truth.nnz


def test_approximate_graph_finds_the_true_neighbors(clusters, monkeypatch):
    pytest.importorskip("faiss", reason="many rows need the extra neighbors")
    truth = neighbor_graph(clusters)
    monkeypatch.setattr(neighbors, "EXACT_PAIRS", 0)
    found = neighbor_graph(clusters)
    assert recall(found, truth) > 0.95
    assert found.diagonal().sum() == 0
    assert (np.diff(found.indptr) >= 10).all()
    assert (neighbor_graph(clusters[:500], exact=True) != neighbor_graph(clusters[:500])).nnz == 0


def test_search_goes_on_until_the_recall_is_reached(monkeypatch):
    """Vectors without clusters are the worst case: the nearest lie in many cells."""
    pytest.importorskip("faiss", reason="many rows need the extra neighbors")
    vectors = np.random.default_rng(0).normal(size=(3_000, 64)).astype(np.float32)
    truth = neighbor_graph(vectors)
    monkeypatch.setattr(neighbors, "EXACT_PAIRS", 0)
    monkeypatch.setattr(neighbors, "ROWS_PER_CELL", 30)
    assert recall(neighbor_graph(vectors), truth) > 0.94
    monkeypatch.setattr(neighbors, "RECALL", 0.0)
    assert recall(neighbor_graph(vectors), truth) < 0.9


def test_approximate_links_of_new_rows(clusters, monkeypatch):
    pytest.importorskip("faiss", reason="many rows need the extra neighbors")
    fitted, new = clusters[:5_000], clusters[5_000:5_500]
    truth = neighbors.nearest_links(fitted, new)
    monkeypatch.setattr(neighbors, "EXACT_PAIRS", 0)
    found = neighbors.nearest_links(fitted, new)
    assert found.shape == truth.shape
    assert recall(found, truth) > 0.94


def test_equal_rows_do_not_become_their_own_neighbors(monkeypatch):
    pytest.importorskip("faiss", reason="many rows need the extra neighbors")
    monkeypatch.setattr(neighbors, "EXACT_PAIRS", 0)
    graph = neighbor_graph(np.zeros((600, 16)), 3)
    assert graph.diagonal().sum() == 0


def test_many_rows_without_faiss_name_the_extra(monkeypatch):
    monkeypatch.setattr(neighbors, "EXACT_PAIRS", 0)
    monkeypatch.setitem(sys.modules, "faiss", None)
    vectors = np.random.default_rng(0).normal(size=(50, 20))
    with pytest.raises(ImportError, match=r"gpgc\[neighbors\]"):
        neighbor_graph(vectors)
    assert neighbor_graph(vectors, exact=True).shape == (50, 50)
    assert neighbor_graph(vectors[:, :3]).shape == (50, 50)


def categories(n_rows, n_columns, rng):
    """Rows of one-hot codes of three categories each, many of them equal."""
    return np.hstack([np.eye(3)[rng.integers(3, size=n_rows)] for _ in range(n_columns)])


@pytest.mark.parametrize("is_approximate", [False, True])
@pytest.mark.parametrize("n_columns", [3, 7])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_order_of_equally_near_rows_does_not_matter(
    n_columns, is_sparse, is_approximate, monkeypatch
):
    if is_approximate:
        pytest.importorskip("faiss", reason="many rows need the extra neighbors")
        monkeypatch.setattr(neighbors, "EXACT_PAIRS", 0)
        monkeypatch.setattr(neighbors, "EXACT_COLUMNS", 0)
    rng = np.random.default_rng(0)
    rows, new = categories(1000, n_columns, rng), categories(50, n_columns, rng) + 0.25
    shuffled = rng.permutation(len(rows))
    kind = sp.csr_array if is_sparse else np.asarray
    graph = neighbor_graph(kind(rows))
    assert (neighbor_graph(kind(rows[shuffled])) != graph[shuffled][:, shuffled]).nnz == 0
    links = neighbors.nearest_links(kind(rows), kind(new))
    again = neighbors.nearest_links(kind(rows[shuffled]), kind(new[::-1]))
    assert (again[::-1] != links[:, shuffled]).nnz == 0
    assert min(np.diff(graph.indptr).min(), np.diff(links.indptr).min()) >= 10
    assert graph.diagonal().sum() == 0


def test_links_are_those_of_all_rows_as_near_as_the_last_neighbor():
    rows = categories(300, 5, np.random.default_rng(0))
    squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    near = squares <= np.sort(squares, axis=1)[:, [9]]
    assert (neighbor_graph(rows).toarray() == (near | near.T)).all()


def test_equal_rows_have_equal_links_of_bounded_number():
    rng = np.random.default_rng(0)
    rows = np.vstack([np.ones((50_000, 2)), 10 + rng.random((500, 2))])
    graph = neighbor_graph(rows)
    assert graph.nnz < 100 * len(rows)
    assert len(np.unique(np.diff(graph.indptr)[:50_000])) == 1
    assert np.diff(graph.indptr)[50_000:].min() >= 10
    assert neighbors.nearest_links(rows, np.ones((3, 2))).nnz == 0
