"""The order of the nodes does not matter, also where a sample of them stands for all."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.compute import Context
from gpgc.graph import Nodes, as_adjacency
from gpgc.graph.node_keys import spread_over
from gpgc.models import APPNP
from gpgc.models.broad import Broad
from gpgc.models.projection import WideFeatures, projection_for


def blocks(n=900, n_columns=12, seed=0):
    """Return features, links and classes of a block model with features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    ends = rng.integers(n, size=(2, 8 * n))
    kept = (y[ends[0]] == y[ends[1]]) | (rng.random(8 * n) < 0.15)
    X = rng.standard_normal((n, n_columns)) + 1.2 * rng.standard_normal((4, n_columns))[y]
    return X, as_adjacency(tuple(ends[:, kept]), n_nodes=n), y


def labels(y, n_labels, seed=1):
    given = np.full(len(y), -1)
    chosen = np.random.default_rng(seed).choice(len(y), n_labels, replace=False)
    given[chosen] = y[chosen]
    return given


BY_LANDMARKS = Broad(exact_nodes=500, n_landmarks=300)

CASES = {
    "features": (BY_LANDMARKS, 80, True, False),
    "sparse features": (BY_LANDMARKS, 80, True, True),
    "many labels": (BY_LANDMARKS, 400, True, False),
    "no features": (BY_LANDMARKS, 80, False, False),
    "eigenvectors": (Broad(one_hot_nodes=100, exact_nodes=100, n_landmarks=200), 80, False, False),
    "few landmarks": (Broad(one_hot_nodes=100, exact_nodes=100, n_landmarks=99), 80, True, False),
    "deep network": (APPNP(exact_nodes=500, n_landmarks=200), 80, True, False),
}


@pytest.fixture(autouse=True)
def few_labels_choose(monkeypatch):
    """Views and noise are chosen by a sample of more than 300 labels."""
    for name in ("MANY_LABELS", "LABELS_FOR_VIEWS"):
        monkeypatch.setattr(f"gpgc.selection.choice.{name}", 300)


@pytest.mark.parametrize("case", CASES)
def test_the_order_of_the_nodes_does_not_matter_where_landmarks_stand_for_them(case):
    model, n_labels, has_features, is_sparse = CASES[case]
    X, links, y = blocks()
    X = X * (X > 0.7) if is_sparse else X
    given, order = labels(y, n_labels), np.random.default_rng(2).permutation(len(y))
    tables = []
    for shuffled in (np.arange(len(y)), order):
        features = sp.csr_array(X[shuffled]) if is_sparse else X[shuffled]
        fitted = GPGCClassifier(model, dtype="float64").fit(
            features if has_features else None, given[shuffled], links[shuffled][:, shuffled]
        )
        tables.append(fitted.predict_proba())
    # Without features, nodes that nothing tells apart may have each other's answers.
    keys = Nodes(links, X if has_features else None).keys(0)
    _, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
    alone = counts[group] == 1
    assert alone.all() or not has_features
    np.testing.assert_allclose(tables[1][alone[order]], tables[0][order][alone[order]], atol=1e-4)


def test_numbers_learnt_in_another_order_are_the_same():
    X, links, y = blocks()
    values = np.where(labels(y, 400) >= 0, X[:, 0] + y, np.nan)
    order = np.random.default_rng(2).permutation(len(y))
    estimator = GPGCRegressor(BY_LANDMARKS, dtype="float64")
    one = estimator.fit(X, values, links).predict()
    other = estimator.fit(X[order], values[order], links[order][:, order])
    np.testing.assert_allclose(other.predict(), one[order], atol=1e-4)


def test_landmarks_depend_on_the_seed_and_are_spread_over_equal_nodes():
    X, links, _ = blocks(2600)
    nodes = Nodes(links, X)
    first, second = (Broad(seed=seed).landmarks(nodes.keys(seed)) for seed in (0, 1))
    assert len(first) == len(second) == 1000
    assert 200 < len(np.intersect1d(first, second)) < 800
    equal = Nodes(sp.csr_array((3000, 3000)), np.eye(3)[np.arange(3000) // 10 % 3])
    groups = np.bincount(np.arange(3000)[Broad().landmarks(equal.keys(0))] // 10 % 3)
    assert abs(groups - 1000 / 3).max() <= 1


def test_a_sample_is_spread_over_the_keys_and_ties_are_put_in_order():
    keys, ties = np.array([0.5, 0.5, 0.1, 0.9]), np.array([2.0, 1.0, 0.0, 0.0])
    order = np.array([3, 1, 0, 2])
    one, other = spread_over(keys, 2, ties), spread_over(keys[order], 2, ties[order])
    assert sorted(order[other].tolist()) == one.tolist()
    assert spread_over(keys, 9).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("case", [name for name, (*_, has_X, _) in CASES.items() if has_X])
def test_the_order_of_the_columns_does_not_matter_where_landmarks_stand_for_nodes(case):
    model, n_labels, _, is_sparse = CASES[case]
    X, links, y = blocks()
    X = sp.csr_array(X * (X > 0.7)) if is_sparse else X
    order = np.random.default_rng(2).permutation(X.shape[1])
    for adjacency in (links, None):
        one, other = (
            GPGCClassifier(model, dtype="float64").fit(features, labels(y, n_labels), adjacency)
            for features in (X, X[:, order])
        )
        np.testing.assert_allclose(other.predict_proba(), one.predict_proba(), atol=1e-4)


def test_the_order_of_wide_columns_does_not_matter():
    X, links, _ = blocks(n_columns=400)
    X = sp.csr_array(X * (X > 1.5))
    order = np.random.default_rng(2).permutation(X.shape[1])
    grams = []
    for features in (X, sp.csr_array(X[:, order])):
        keys, wide = Nodes(links, features).keys(0), WideFeatures(n_from=100, n_columns=50)
        projection = projection_for(features, keys, 0, Context(dtype=np.dtype("float64")), wide)
        rows = projection.apply(features)
        grams.append(rows @ rows.T)
    np.testing.assert_allclose(grams[1], grams[0], atol=1e-9)
