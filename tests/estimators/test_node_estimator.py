"""NodeEstimator: scikit-learn's model selection on the nodes of one graph."""

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor, NodeEstimator
from gpgc.errors import InputError

NODES = np.arange(0, 80, 2)


@pytest.fixture
def on_moons(two_moons):
    features, _, truth = two_moons
    return NodeEstimator(GPGCClassifier(dtype="float64"), features), truth[NODES]


def test_cross_validation_is_that_of_evaluate(two_moons, on_moons):
    features, _, _ = two_moons
    estimator, y = on_moons
    labels = np.full(80, -1)
    labels[NODES] = y
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    found = gpgc.evaluate(features, labels, n_splits=4, dtype="float64")
    assert cross_val_score(estimator, NODES, y, cv=folds).tolist() == found.accuracies.tolist()
    losses = cross_val_score(estimator, NODES, y, cv=folds, scoring="neg_log_loss")
    np.testing.assert_allclose(-losses.mean(), found.log_loss)


def test_a_search_reaches_the_parameters_inside(on_moons):
    estimator, y = on_moons
    grid = {"estimator__model": ["small", "big"], "estimator__depth": [1, 2]}
    search = GridSearchCV(estimator, grid, cv=2).fit(NODES, y)
    assert search.best_score_ > 0.9
    assert search.best_estimator_.estimator_.model in ("small", "big")
    assert search.predict_proba([1, 3]).shape == (2, 2)
    assert search.classes_.tolist() == [0, 1]


def test_learning_curves_hide_labels_not_nodes(on_moons):
    estimator, y = on_moons
    sizes, _, scores = learning_curve(
        estimator, NODES, y, train_sizes=[4, 20], cv=2, shuffle=True, random_state=0
    )
    assert sizes.tolist() == [4, 20]
    assert scores[-1].mean() > 0.9
    estimator.fit([*NODES[:2].tolist(), 78], [0, 0, 1])
    assert estimator.estimator_.adjacency_.shape == (80, 80)


def test_clones_share_the_graph_and_not_the_estimator(on_moons):
    estimator, y = on_moons
    copy = clone(estimator.fit(NODES, y))
    assert copy.X is estimator.X
    assert copy.adjacency is estimator.adjacency
    assert copy.estimator is not estimator.estimator
    assert copy.set_params(estimator__depth=3).get_params()["estimator__depth"] == 3
    assert estimator.get_params()["estimator__depth"] == 2
    with pytest.raises(NotFittedError):
        copy.predict(NODES)


def test_values_of_a_regressor():
    chain = (np.arange(39), np.arange(1, 40))
    estimator = NodeEstimator(GPGCRegressor(), None, chain)
    assert is_regressor(estimator)
    assert not is_classifier(estimator)
    assert not hasattr(estimator, "predict_proba")
    nodes, y = np.arange(40), np.sin(np.arange(40) / 6)
    shuffled = np.random.default_rng(0).permutation(nodes)
    found = cross_val_predict(estimator, shuffled, y[shuffled], cv=4)
    assert np.corrcoef(found, y[shuffled])[0, 1] > 0.9
    assert estimator.fit(nodes, y).score(nodes, y) > 0.9


def test_nodes_may_have_names():
    graph = nx.relabel_nodes(nx.barbell_graph(6, 0), lambda node: f"n{11 - node}")
    nodes, y = np.array([f"n{i}" for i in range(12)]), np.repeat(["left", "right"], 6)
    estimator = NodeEstimator(GPGCClassifier(), None, graph)
    assert cross_val_score(estimator, nodes, y, cv=3).min() == 1.0
    with pytest.raises(InputError, match="nodes must name nodes of the graph, got 'elsewhere'"):
        estimator.fit(nodes, y).predict(["elsewhere"])


@pytest.mark.parametrize(
    ("nodes", "y", "message"),
    [
        ([0, 0, 3], [0, 0, 1], "nodes must be distinct"),
        ([0, 1], [0, 1, 1], "nodes must be distinct, one for each entry"),
        ([0, 1, 3], [0, -1, 1], "y must be known at each node, got none at node 1"),
        ([0, 9], [0, 1], "y must name nodes"),
    ],
)
def test_what_cannot_be_fitted_is_refused_and_leaves_nothing(nodes, y, message):
    adjacency = np.kron(np.eye(2), np.ones((2, 2)))
    estimator = NodeEstimator(GPGCClassifier(), None, adjacency).fit([0, 3], [0, 1])
    with pytest.raises(InputError, match=message):
        estimator.fit(nodes, y)
    with pytest.raises(NotFittedError):
        estimator.predict([0])


def test_gaps_in_values_are_refused():
    with pytest.raises(InputError, match="y must be known"):
        NodeEstimator(GPGCRegressor(), None, ([0, 1], [1, 2])).fit([0, 1], [-1.0, np.nan])
