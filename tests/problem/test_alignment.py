"""Nodes that have names are brought into one order by them, or refused."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import GPGCWarning, InputError
from gpgc.problem.alignment import problem_of

pd = pytest.importorskip("pandas")


@pytest.fixture
def communities():
    """Two cliques of named nodes, the graph in a mixed order, and the class of each node."""
    truth = {f"n{i}": "left" if i < 8 else "right" for i in range(16)}
    order = [f"n{i}" for i in np.random.default_rng(0).permutation(16)]
    graph = nx.Graph()
    graph.add_nodes_from(order)
    links = [(a, b) for a in truth for b in truth if a < b and truth[a] == truth[b]]
    graph.add_edges_from(links)
    labels = pd.Series(truth)
    labels[[f"n{i}" for i in range(16) if i not in (0, 1, 8, 9)]] = None
    return graph, labels, pd.Series(truth)


def test_labels_follow_the_nodes_of_the_graph(communities):
    graph, labels, truth = communities
    model = GPGCClassifier().fit(None, labels, graph)
    assert list(model.predict()) == list(truth[list(graph.nodes)])


@pytest.mark.parametrize("form", ["graph", "directed", "frame"])
def test_answers_are_in_the_order_of_the_features(communities, form):
    graph, labels, truth = communities
    features = pd.DataFrame({"a": (truth == "left") * 1.0, "b": (truth == "right") * 1.0})
    turned = features.iloc[::-1]
    links = {
        "graph": graph,
        "directed": graph.to_directed(),
        "frame": nx.to_pandas_adjacency(graph),
    }[form]
    model = GPGCClassifier().fit(turned, labels, links)
    assert list(model.predict()) == list(truth[list(turned.index)])
    plain = GPGCClassifier().fit(features, labels, graph)
    np.testing.assert_allclose(model.predict_proba()[::-1], plain.predict_proba(), atol=1e-6)


def test_labels_follow_the_rows_of_the_features(communities):
    _, labels, truth = communities
    features = pd.DataFrame({"a": (truth == "left") * 1.0, "b": (truth == "right") * 1.0})
    features = features.sample(frac=1, random_state=1)
    model = GPGCClassifier(n_neighbors=3).fit(features, labels)
    assert list(model.predict()) == list(truth[features.index])


def test_values_of_a_regression_are_aligned(communities):
    graph, labels, truth = communities
    values = pd.Series(np.where(labels.isna(), np.nan, (labels == "left") * 1.0), labels.index)
    predicted = GPGCRegressor().fit(None, values, graph).predict()
    assert list(predicted > 0.5) == list(truth[list(graph.nodes)] == "left")


def test_suggestions_are_aligned(communities):
    graph, labels, _ = communities
    order = list(graph.nodes)
    nodes, _ = gpgc.suggest(None, labels, graph, n=12)
    assert not {order[node] for node in nodes} & {"n0", "n1", "n8", "n9"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: y.rename({"n3": "x"}), "'x' only in y and 'n3' only in adjacency"),
        (lambda y: y.iloc[:-3], "'n13', 'n14', 'n15' only in adjacency"),
        (lambda y: pd.concat([y, y]), "y must name each node once, got 'n0'"),
    ],
)
def test_names_that_do_not_match_are_refused(communities, change, words):
    graph, labels, _ = communities
    with pytest.raises(InputError, match=words):
        GPGCClassifier().fit(None, change(labels), graph)


def test_what_has_no_names_between_two_orders_is_refused(communities):
    graph, labels, _ = communities
    with pytest.raises(InputError, match="X must name its nodes"):
        GPGCClassifier().fit(np.ones((16, 2)), labels, graph)
    same_order = labels[list(graph.nodes)]
    assert problem_of(np.ones((16, 2)), same_order, graph).y is same_order


def test_a_default_index_is_no_name(communities):
    graph, _, _ = communities
    y = pd.Series(np.arange(16))
    assert problem_of(None, y, graph).y is y
    X = pd.DataFrame(np.eye(3), index=list("abc"))
    assert problem_of(X, pd.Series([0, 1, 2]), None).X is X


def test_a_frame_of_weights_has_its_columns_in_the_order_of_its_rows():
    weights = pd.DataFrame([[0, 1, 0], [1, 0, 2], [0, 2, 0]], list("abc"), list("abc"))
    mixed = weights[["c", "a", "b"]]
    assert problem_of(None, [0, 1, -1], mixed).adjacency.equals(weights)
    with pytest.raises(InputError, match="columns of adjacency"):
        problem_of(None, [0, 1, -1], weights.rename(columns={"a": "z"}))


def test_numbers_in_another_order_are_warned_of():
    graph = nx.Graph([(2, 0), (0, 1)])
    with pytest.warns(GPGCWarning, match=r"adjacency names the nodes 0 to 2 in another order"):
        problem_of(None, [0, 1, -1], graph)
    y = pd.Series([0, 1, -1], index=[2, 0, 1])
    with pytest.warns(GPGCWarning, match="y names the nodes"):
        problem_of(None, y, np.eye(3))
    assert list(problem_of(None, y, graph).y) == [0, 1, -1]


def test_sparse_features_lose_their_duplicates_and_stay_as_they_were():
    twice = sp.csr_array((np.ones(2), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    assert problem_of(twice, [0], None).X.nnz == 1
    assert twice.nnz == 2


@pytest.mark.parametrize("estimator", [GPGCClassifier, GPGCRegressor])
def test_relabel_takes_by_name_what_fit_takes_by_name(estimator):
    """Nodes called 0 to N − 1 by the graph, and a series of labels in another order."""
    rng = np.random.default_rng(0)
    graph = nx.random_regular_graph(4, 30, seed=1)
    ordered = nx.Graph()
    ordered.add_nodes_from(range(30))
    ordered.add_edges_from(graph.edges)
    values = np.where(np.arange(30) < 20, (np.arange(30) < 9).astype(float), np.nan)
    labels = pd.Series(values).iloc[rng.permutation(30)]
    trust = pd.Series(np.linspace(1, 2, 30)).iloc[rng.permutation(30)]
    fitted = estimator(dtype="float64").fit(None, labels, ordered, sample_weight=trust)
    before = fitted.predict_latent()
    by_position = fitted.relabel(values, sample_weight=np.linspace(1, 2, 30)).predict_latent()
    again = fitted.relabel(labels, sample_weight=trust).predict_latent()
    np.testing.assert_allclose(by_position, before, atol=1e-9)
    np.testing.assert_allclose(again, before, atol=1e-9)


def test_relabel_takes_names_of_nodes_that_had_none_by_position():
    chain = (np.arange(5), np.arange(1, 6))
    fitted = GPGCClassifier().fit(None, [0, -1, -1, -1, -1, 1], adjacency=chain)
    before = fitted.predict_proba()
    again = fitted.relabel(pd.Series([0, -1, -1, -1, -1, 1], index=[*"fedcba"]))
    np.testing.assert_array_equal(again.predict_proba(), before)
