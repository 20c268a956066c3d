"""A view is taken where it clearly helps, and not where its signal is removed."""

import numpy as np
import pytest

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.selection.stacking import class_weights, value_inflation, value_weights

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
    """A grid of two colours at random; the class: own colour is that of most neighbors."""
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


CASES = [(unlike_own, "neighbors"), (hubs_of_classes, "structure"), (many_links, "degrees")]


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


def test_unlike_neighbors_are_seen_side_by_side_from_the_first_label_on():
    """Own and neighbors' features, also of one label a class, where nothing says so."""
    rng = np.random.default_rng(2)
    features, links, truth = unlike_own(rng)
    for n_labels in (2, 12):
        y = np.full(N, -1)
        for code in (0, 1):
            chosen = np.flatnonzero(truth == code)[: n_labels // 2]
            y[chosen] = code
        found = GPGCClassifier().fit(features, y, links)
        assert "neighbors" in found.view_weights_
        assert set(found.view_weights_) <= {"features", "neighbors", "walk"}
        assert n_labels > 2 or "features" in found.view_weights_


@pytest.mark.parametrize("noise", [0.01, 0.2, "evidence"])
def test_views_are_chosen_however_the_noise_is_given(noise):
    rng = np.random.default_rng(0)
    features, links, truth = unlike_own(rng)
    y = _labels(truth, 200, rng)
    chosen = GPGCClassifier().fit(features, y, links)
    other = GPGCClassifier(noise_variance=noise).fit(features, y, links)
    assert max(other.view_weights_, key=other.view_weights_.get) == "neighbors"
    right = [np.mean(one.predict()[y < 0] == truth[y < 0]) for one in (chosen, other)]
    assert right[1] > right[0] - 0.05


def test_labels_that_neighbors_do_not_explain_give_flat_probabilities():
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


def test_one_label_a_class_chooses_nothing():
    """Weights are those before labels say anything, whatever the labels are."""
    rng = np.random.default_rng(3)
    features, links, truth = many_links(rng)
    found = []
    for seed in range(3):
        y = np.full(N, -1)
        y[np.random.default_rng(seed).choice(np.flatnonzero(truth == 0))] = 0
        y[np.random.default_rng(seed).choice(np.flatnonzero(truth == 1))] = 1
        model = GPGCClassifier().fit(features, y, links)
        usual = model.prior_.usual_shares()
        assert model.view_weights_.keys() == usual.keys()
        found.append(usual)
    assert found[0] == found[1] == found[2]


def test_weights_of_classes_are_where_the_objective_is_least():
    rng = np.random.default_rng(0)
    targets = np.eye(3)[rng.integers(3, size=60)]
    views = targets[None] * np.array([1.0, 0.3, 0.0])[:, None, None]
    views = views + rng.normal(size=(3, 60, 3))
    weights, usual = rng.random(60), np.array([2.0, 0.0, 0.0])

    def loss(t):
        logits = np.tensordot(t, views, 1)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        pull = (t[0] - 2) ** 2 / 8 + t[1:] @ t[1:] / 50 + 5 * t[1:].sum()
        return -weights @ (targets * log_p).sum(axis=1) + pull

    found = class_weights(views, targets, weights, usual)
    for place, step in np.ndindex(3, 2):
        moved = found.copy()
        moved[place] = max(0.0, moved[place] + (0.05, -0.05)[step])
        assert loss(moved) >= loss(found) - 1e-6


def test_values_that_a_view_predicts_make_it_count():
    rng = np.random.default_rng(1)
    y = rng.normal(size=80)
    views = np.array([rng.normal(size=80), 2 * y + 0.1 * rng.normal(size=80)])
    found = value_weights(views, y, np.ones(80), np.array([1.0, 0.0]))
    assert found[1] == pytest.approx(0.5, abs=0.05)
    assert found[0] < 0.1
    np.testing.assert_array_equal(
        value_weights(views, y, np.zeros(80), np.array([1.0, 0.0])), [1.0, 0.0]
    )


def test_errors_that_are_larger_than_their_variances_inflate_these():
    errors = np.array([3.0, -3.0] * 50)
    assert value_inflation(errors, np.ones(100), np.ones(100)) == pytest.approx(9, rel=0.02)
    assert value_inflation(np.zeros(5), np.ones(5), np.ones(5)) == 1


def test_the_inflation_is_that_of_its_formula():
    errors, variances = np.array([1.0, -2.0, 3.0]), np.array([1.0, 4.0, 2.0])
    weights = np.array([1.0, 0.5, 1.0])
    squares = 1 + 0.5 * 1 + 4.5
    found = value_inflation(errors, variances, weights, n_chosen=1)
    assert found == pytest.approx((1 + squares * 2.5 / 1.5) / (1 + 2.5))
