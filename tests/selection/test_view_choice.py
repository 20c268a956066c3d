"""A view is taken where it clearly helps, and not where its signal is removed."""

import numpy as np
import pytest

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.probability.significance import clearly_better
from gpgc.selection.view_choice import spread, weights_of

N = 400


def _labels(truth, n_labels, rng):
    y = np.full(len(truth), -1)
    chosen = rng.choice(len(truth), n_labels, replace=False)
    y[chosen] = truth[chosen]
    return y


def _grid(side):
    index = np.arange(side * side).reshape(side, side)
    right = (index[:, :-1].ravel(), index[:, 1:].ravel())
    down = (index[:-1].ravel(), index[1:].ravel())
    return np.concatenate([right[0], down[0]]), np.concatenate([right[1], down[1]])


def unlike_own(rng):
    """A grid of two colours at random; the class: own colour is that of most neighbours."""
    links = _grid(20)
    colour = rng.integers(0, 2, N)
    votes = np.zeros(N)
    for left, right in (links, links[::-1]):
        np.add.at(votes, left, 2.0 * colour[right] - 1)
    return np.eye(2)[colour], links, ((votes > 0) == colour).astype(int)


def hubs_of_classes(rng):
    """Nodes linked with hubs of their class and with nodes of any class; random features."""
    truth = np.concatenate([rng.integers(0, 4, N - 80), rng.integers(0, 4, 80)])
    hubs = np.arange(N - 80, N)
    left, right = [], []
    for node in range(N - 80):
        own = hubs[(hubs % 4) == truth[node]]
        left += [node] * 7
        right += [*rng.choice(own, 3, replace=False), *rng.integers(0, N - 80, 4)]
    left, right = np.array(left), np.array(right)
    apart = left != right
    return rng.normal(size=(N, 5)), (left[apart], right[apart]), truth


def many_links(rng):
    """Nodes of few and of many links at random; the class: which of both."""
    truth = rng.integers(0, 2, N)
    chance = np.array([0.01, 0.05])[truth]
    left, right = np.nonzero(np.triu(rng.random((N, N)) < np.sqrt(np.outer(chance, chance)), 1))
    return rng.normal(size=(N, 5)), (left, right), truth


CASES = [(unlike_own, "neighbours"), (hubs_of_classes, "structure"), (many_links, "degrees")]


@pytest.mark.parametrize(("make", "view"), CASES)
def test_a_view_that_helps_is_taken(make, view):
    rng = np.random.default_rng(0)
    features, links, truth = make(rng)
    y = _labels(truth, 200, rng)
    found = GPGCClassifier().fit(features, y, links)
    assert found.view_weights_.get(view, 0) > 0
    test = y < 0
    without = GPGCClassifier(model="big").fit(features, y, links)
    gain = np.mean(found.predict()[test] == truth[test]) - np.mean(
        without.predict()[test] == truth[test]
    )
    assert gain > 0.1


@pytest.mark.parametrize(("make", "view"), CASES[1:])
def test_a_view_whose_signal_is_removed_is_not_taken(make, view):
    rng = np.random.default_rng(1)
    features, links, truth = make(rng)
    found = GPGCClassifier().fit(features, _labels(rng.permutation(truth), 200, rng), links)
    assert view not in found.view_weights_


def test_unlike_neighbours_are_seen_side_by_side_from_the_first_label_on():
    """Half each of own and neighbours' features, also of one label a class, where nothing says so.

    Made alike, the same nodes start from the graph.
    """
    rng = np.random.default_rng(2)
    features, links, truth = unlike_own(rng)
    for n_labels in (2, 12):
        y = np.full(N, -1)
        for code in (0, 1):
            chosen = np.flatnonzero(truth == code)[: n_labels // 2]
            y[chosen] = code
        found = GPGCClassifier().fit(features, y, links)
        assert set(found.view_weights_) == {"features", "neighbours"}
        smooth = np.eye(2)[(np.arange(N) >= N // 2).astype(int)]
        assert list(GPGCClassifier().fit(smooth, y, links).view_weights_) == ["graph"]


def test_labels_that_neighbours_do_not_explain_give_flat_probabilities():
    rng = np.random.default_rng(1)
    features, links, truth = unlike_own(rng)
    shuffled = rng.permutation(truth)
    y = _labels(shuffled, 200, rng)
    table = GPGCClassifier().fit(features, y, links).predict_proba()[y < 0]
    loss = -np.mean(np.log(table[np.arange(len(table)), shuffled[y < 0]]))
    assert loss < np.log(2) + 0.03


def test_a_regressor_takes_views_too():
    rng = np.random.default_rng(0)
    features, links, _ = many_links(rng)
    degrees = np.bincount(np.concatenate(links), minlength=N).astype(float)
    y = np.where(np.arange(N) % 2 == 0, np.log1p(degrees), np.nan)
    found = GPGCRegressor().fit(features, y, links)
    assert found.view_weights_["degrees"] > 0
    error = (found.predict() - np.log1p(degrees))[1::2]
    assert np.mean(error**2) < 0.1 * np.log1p(degrees)[1::2].var()


def test_weights_answer_for_shares_of_the_variance_between_nodes():
    nearly_constant, plain = np.full((3, 3), 0.9) + 0.1 * np.eye(3), np.eye(3)
    spreads = {"a": spread(nearly_constant), "b": spread(plain)}
    assert spreads["a"] == pytest.approx(0.1)
    weights = weights_of({"a": 0.5, "b": 0.5}, spreads)
    assert weights["a"] * spreads["a"] == pytest.approx(weights["b"] * spreads["b"])
    assert sum(weights.values()) == pytest.approx(1)
    assert weights_of({"a": 1.0}, spreads) == {"a": 1.0}


def test_the_two_ends_of_a_chain_do_not_choose_a_view():
    y = np.array([0.0, np.nan, np.nan, np.nan, 1.0])
    model = GPGCRegressor().fit(None, y, adjacency=(np.arange(4), np.arange(1, 5)))
    assert list(model.view_weights_) == ["graph"]
    assert not clearly_better(np.zeros(2), np.ones(2))
    assert clearly_better(np.zeros(6), np.ones(6))
