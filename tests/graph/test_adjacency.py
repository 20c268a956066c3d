"""Graphs in any common form become the same matrix, and wrong ones are refused by name."""

from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from gpgc.errors import InputError
from gpgc.graph import Nodes, as_adjacency, neighbor_graph, normalize

PATH = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])


def join(links, adjacency, n_new, normalization="symmetric"):
    """Return the rows of Â of nodes that join."""
    nodes = Nodes(adjacency, normalization=normalization)
    return nodes.joined(links, None, n_new).rows


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_every_sparse_format(fmt):
    for kind in (sp.coo_array, sp.coo_matrix):
        assert (as_adjacency(kind(PATH).asformat(fmt)).toarray() == PATH).all()


@pytest.mark.parametrize(
    "graph",
    [
        PATH,
        PATH.astype(bool),
        PATH.tolist(),
        ([0, 1], [1, 2]),
        (np.array([0, 2]), np.array([1, 1])),
        nx.path_graph(3),
        nx.path_graph(3, create_using=nx.DiGraph),
        SimpleNamespace(edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3),
    ],
    ids=["array", "bool", "list", "edges", "edges-back", "networkx", "digraph", "edge_index"],
)
def test_every_form(graph):
    assert (as_adjacency(graph, 3).toarray() == PATH).all()


def test_result_is_symmetric_sorted_csr_without_diagonal():
    adjacency = as_adjacency(sp.csr_array(np.array([[5.0, 2.0], [0.0, 0.0]])))
    assert isinstance(adjacency, sp.csr_array)
    assert adjacency.has_sorted_indices
    assert adjacency.toarray().tolist() == [[0, 2], [2, 0]]
    assert adjacency.nnz == 2


def test_duplicate_edges_count_once_without_weights_and_add_with():
    ends = ([0, 0, 0], [1, 1, 1])
    assert as_adjacency(ends)[0, 1] == 1
    assert as_adjacency((*ends, [1.0, 2.0, 4.0]))[0, 1] == 7


def test_directed_input_becomes_the_larger_of_both_ways():
    assert as_adjacency(([0, 1], [1, 0], [2.0, 5.0])).toarray().tolist() == [[0, 5], [5, 0]]


def test_networkx_weights_and_node_order():
    graph = nx.Graph()
    graph.add_nodes_from(["b", "a"])
    graph.add_edge("a", "b", weight=2.5)
    assert as_adjacency(graph)[0, 1] == 2.5


def test_edge_weights_of_data_objects():
    data = SimpleNamespace(
        edge_index=np.array([[0, 1], [1, 0]]), edge_weight=np.array([3.0, 3.0]), num_nodes=2
    )
    assert as_adjacency(data)[0, 1] == 3


def test_graphs_without_edges_or_nodes():
    assert as_adjacency(([], []), 4).shape == (4, 4)
    assert as_adjacency(([], [])).shape == (0, 0)
    assert as_adjacency(nx.Graph()).shape == (0, 0)


@pytest.mark.parametrize(
    ("graph", "n_nodes", "words"),
    [
        (np.zeros((2, 3)), None, r"N x N.*\(2, 3\).*tuple"),
        (sp.csr_array((5, 9)), None, r"N x N.*sliced.*-1"),
        (PATH, 4, "3 nodes.*4 were expected"),
        (np.array([[0, np.nan], [0, 0]]), None, "finite"),
        (sp.csr_array(np.array([[0, np.inf], [0, 0]])), None, "finite"),
        (np.array([[0, -1.0], [0, 0]]), None, "non-negative.*-1"),
        (([0, 1], [1, 2], [1.0, -2.0]), None, "non-negative"),
        (([0], [1], ["heavy"]), None, "real numbers"),
        (([0, 1], [1]), None, r"one length.*\(2,\).*\(1,\)"),
        (([0],), None, "tuple of 1"),
        (([0.5], [1.0]), None, "whole numbers"),
        (([-1], [1]), None, "0 to N - 1, got -1"),
        (([0], [7]), 3, "0 to 2, got 7"),
        ("graph", None, "adjacency must be a sparse matrix"),
        (SimpleNamespace(edge_index=np.zeros((3, 4)), num_nodes=3), None, "edge_index.*shape"),
    ],
)
def test_wrong_graphs_are_named(graph, n_nodes, words):
    with pytest.raises(InputError, match=words):
        as_adjacency(graph, n_nodes)


def test_symmetric_normalization_by_hand():
    expected = np.array(
        [
            [1 / 2, 1 / np.sqrt(6), 0],
            [1 / np.sqrt(6), 1 / 3, 1 / np.sqrt(6)],
            [0, 1 / np.sqrt(6), 1 / 2],
        ]
    )
    np.testing.assert_allclose(normalize(as_adjacency(PATH)).toarray(), expected)


def test_row_normalization_gives_means():
    matrix = normalize(as_adjacency(PATH), "row")
    np.testing.assert_allclose(matrix.sum(axis=1), 1)
    np.testing.assert_allclose(matrix.toarray()[0], [0.5, 0.5, 0])


def test_isolated_nodes_keep_themselves():
    assert normalize(as_adjacency(([], []), 2)).toarray().tolist() == [[1, 0], [0, 1]]


def test_unknown_normalization():
    with pytest.raises(InputError, match=r"normalization.*symmetric, row.*'column'"):
        normalize(as_adjacency(PATH), "column")


def test_joined_rows_use_the_degrees_that_fitted_nodes_had():
    rows = join(np.array([[0.0, 1.0, 0.0]]), as_adjacency(PATH), 1).toarray()
    np.testing.assert_allclose(rows, [[0, 1 / np.sqrt(2 * 3), 0, 1 / 2]])


def test_joined_rows_among_each_other():
    links = np.array([[1.0, 0, 0, 0, 1], [0, 0, 1, 0, 0]])
    rows = join(links, as_adjacency(PATH), 2, "row").toarray()
    np.testing.assert_allclose(rows, [[1 / 3, 0, 0, 1 / 3, 1 / 3], [0, 0, 1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize(
    ("links", "words"),
    [
        (np.zeros((1, 2)), r"\(1, 3\).*\(1, 4\).*got \(1, 2\)"),
        (np.array([[0, -1.0, 0]]), "new nodes.*non-negative"),
        (np.array([[0, np.nan, 0]]), "new nodes.*finite"),
    ],
)
def test_wrong_links_are_named(links, words):
    with pytest.raises(InputError, match=words):
        join(links, as_adjacency(PATH), 1)


def test_nearest_neighbors_by_brute_force():
    points = np.random.default_rng(0).normal(size=(50, 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    expected = np.zeros((50, 50))
    for node, row in enumerate(distances):
        expected[node, np.argsort(row)[:4]] = 1
    expected = np.maximum(expected, expected.T)
    assert (neighbor_graph(points, 4).toarray() == expected).all()
    assert (neighbor_graph(sp.csr_array(points), 4).toarray() == expected).all()
    assert (neighbor_graph(points, 5, include_self=True).toarray() == expected).all()


def test_neighbors_of_few_nodes():
    assert neighbor_graph(np.zeros((1, 2)), 10).nnz == 0
    assert neighbor_graph(np.arange(3.0)[:, None], 10).nnz == 6


def test_duplicate_points_do_not_become_their_own_neighbors():
    graph = neighbor_graph(np.zeros((6, 2)), 2)
    assert graph.diagonal().sum() == 0
    assert (np.diff(graph.indptr) >= 2).all()


def test_wrong_number_of_neighbors():
    with pytest.raises(InputError, match="n_neighbors"):
        neighbor_graph(np.zeros((3, 2)), 0)


def test_weights_that_add_up_to_infinity_are_refused():
    graph = as_adjacency(([0, 0], [1, 2], [1.5e308, 1.5e308]))
    with pytest.raises(InputError, match="add up to infinity"):
        normalize(graph)


def test_small_whole_numbers_add_up_without_overflow():
    weights = np.full(4, 100, dtype=np.int8)
    graph = sp.coo_array((weights, ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
    assert as_adjacency(graph)[0, 1] == 200
    assert graph.nnz == 4
    links = sp.coo_array((weights[:2], ([0, 0], [1, 1])), shape=(1, 2))
    np.testing.assert_allclose(
        join(links, as_adjacency(PATH[:2, :2]), 1, "row").toarray(), [[0, 200 / 201, 1 / 201]]
    )


@pytest.mark.parametrize("fmt", ["csr", "csc", "coo"])
def test_indices_out_of_range_are_refused_before_they_are_read(fmt):
    graph = sp.coo_array(PATH).asformat(fmt)
    index = graph.row if fmt == "coo" else graph.indices
    index[0] = 10**6
    with pytest.raises(InputError, match="adjacency must be a valid sparse matrix"):
        as_adjacency(graph)
    with pytest.raises(InputError, match="features must be a valid sparse matrix"):
        neighbor_graph(graph, 1)


@pytest.mark.parametrize("edges", [np.zeros((9, 2), int), np.zeros((9, 3)), [[0, 1]] * 5])
def test_an_edge_list_as_an_array_is_told_what_to_do(edges):
    with pytest.raises(InputError, match=r"edge list as a tuple.*tuple\(edges\.T\)"):
        as_adjacency(edges)


def test_an_edge_list_as_a_frame_is_told_what_to_do():
    pd = pytest.importorskip("pandas", reason="frames need pandas")
    for names in (["a", "b", "c"], [0, 1, 2]):
        frame = pd.DataFrame({"source": names, "target": names})
        with pytest.raises(
            InputError, match=r"frame\['source'\], frame\['target'\].*fit takes it by names"
        ):
            as_adjacency(frame)


def test_edge_attributes_are_weights_or_said_to_be_ignored():
    from gpgc.errors import GPGCWarning

    index = np.array([[0, 1], [1, 0]])
    for shape in ((2,), (2, 1)):
        data = SimpleNamespace(edge_index=index, edge_attr=np.full(shape, 3.0), num_nodes=2)
        assert as_adjacency(data)[0, 1] == 3
    data = SimpleNamespace(edge_index=index, edge_attr=np.ones((2, 4)), num_nodes=2)
    with pytest.warns(GPGCWarning, match=r"edge_attr of shape \(2, 4\) is ignored"):
        assert as_adjacency(data)[0, 1] == 1


def test_duplicate_entries_of_features_do_not_change_the_neighbors():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(0.6, size=(60, 12)).astype(float))
    halves = sp.csr_array(
        (np.repeat(counts.data / 2, 2), np.repeat(counts.indices, 2), 2 * counts.indptr),
        shape=counts.shape,
    )
    expected = neighbor_graph(counts, 4)
    found = neighbor_graph(halves, 4)
    assert (found != expected).nnz == 0
    assert halves.nnz == 2 * counts.nnz
