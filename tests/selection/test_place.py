"""Where a node is on the graph counts, also where features that say nothing of it are given."""

import numpy as np
import pytest

import gpgc
from gpgc import GPGCClassifier
from gpgc.graph import as_adjacency
from gpgc.models import Broad

SIDE, PATCH = 40, 10
N = SIDE * SIDE


def grid(seed=0):
    """Return a grid of 1,600 nodes, of which one link in ten is gone, and 16 patches of it."""
    rng = np.random.default_rng(seed)
    at = np.arange(N).reshape(SIDE, SIDE)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    down = np.stack([at[:-1].ravel(), at[1:].ravel()])
    links = np.hstack([across, down])
    links = links[:, rng.random(links.shape[1]) > 0.1]
    row, column = np.divmod(np.arange(N), SIDE)
    return as_adjacency(tuple(links), N), row // PATCH * (SIDE // PATCH) + column // PATCH


def labels_of(truth, n_each, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.full(N, -1)
    for patch in np.unique(truth):
        labels[rng.choice(np.flatnonzero(truth == patch), n_each, replace=False)] = patch
    return labels


def accuracy(model, truth, labels):
    hidden = labels < 0
    return np.mean(model.predict()[hidden] == truth[hidden])


@pytest.mark.parametrize("n_columns", [3, 8])
def test_features_that_say_nothing_of_the_place_do_not_hide_it(n_columns):
    adjacency, truth = grid()
    labels = labels_of(truth, 10)
    X = np.random.default_rng(1).gamma(1.0, size=(N, n_columns))
    by_place = accuracy(GPGCClassifier().fit(None, labels, adjacency), truth, labels)
    model = GPGCClassifier().fit(X, labels, adjacency)
    assert by_place > 0.75
    assert accuracy(model, truth, labels) > by_place - 0.1


@pytest.mark.parametrize("n_each", [1, 2])
def test_a_clear_graph_counts_from_the_first_labels_on_though_features_are_noise(n_each):
    """Two dense groups with few links between them, and features that ignore both."""
    rng = np.random.default_rng(3)
    truth = np.repeat([0, 1], 150)
    chance = np.where(truth[:, None] == truth, 0.06, 0.003)
    links = np.nonzero(np.triu(rng.random((300, 300)) < chance, 1))
    labels = np.full(300, -1)
    for code in (0, 1):
        labels[rng.choice(np.flatnonzero(truth == code), n_each, replace=False)] = code
    model = GPGCClassifier().fit(rng.normal(size=(300, 6)), labels, links)
    assert accuracy(model, truth, labels) > 0.6


@pytest.mark.parametrize(
    "choice", ["broad", Broad(exact_nodes=400, n_landmarks=300, one_hot_nodes=1000)]
)
def test_nodes_that_join_have_a_place_beside_features_too(tmp_path, choice):
    adjacency, truth = grid()
    labels = labels_of(truth, 20)
    rng = np.random.default_rng(1)
    model = GPGCClassifier(choice).fit(rng.gamma(1.0, size=(N, 3)), labels, adjacency)
    assert model.view_weights_.get("hubs", 0) + model.view_weights_.get("walk", 0) > 0
    twins = rng.choice(N, 100, replace=False)
    new, links = rng.gamma(1.0, size=(100, 3)), adjacency[twins]
    answers = model.predict_proba(new, links)
    assert np.mean(model.classes_[answers.argmax(axis=1)] == truth[twins]) > 0.75
    model.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_allclose(again.predict_proba(new, links), answers, atol=1e-4)
    np.testing.assert_allclose(again.predict_proba(), model.predict_proba(), atol=1e-4)


def test_links_made_of_features_tell_no_place_of_their_own():
    X = np.random.default_rng(0).normal(size=(60, 3))
    prior = GPGCClassifier().make_prior(X, None, 60)
    assert "hubs" not in prior.views
