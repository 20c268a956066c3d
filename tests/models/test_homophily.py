"""Whether neighbors are alike is told by features alone, and says how sure few labels may be."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.graph import Nodes, as_adjacency
from gpgc.models.homophily import (
    Homophily,
    has_related_columns,
    homophily_of,
    sampled_links,
    similarity,
)
from gpgc.probability.temperature import usual_sharpness


def block_model(rng, n=600, n_classes=3, alike=True):
    """Dense blocks; features of a class each, or those of nodes at random."""
    truth = np.repeat(np.arange(n_classes), n // n_classes)
    same = truth[:, None] == truth
    links = np.nonzero(np.triu(rng.random((n, n)) < np.where(same, 0.02, 0.002), 1))
    words = np.eye(n_classes)[truth if alike else rng.permutation(truth)]
    return words + 0.7 * rng.normal(size=(n, n_classes)), links, truth


def by_definition(adjacency, features):
    rows = features / np.linalg.norm(features, axis=1, keepdims=True)
    centered = rows - rows.mean(axis=0)
    left, right = adjacency.nonzero()
    return np.mean((centered[left] * centered[right]).sum(axis=1)) / np.mean(
        (centered**2).sum(axis=1)
    )


def test_sums_give_the_definition_dense_and_sparse():
    features, links, _ = block_model(np.random.default_rng(0), n=300)
    adjacency = as_adjacency(links, n_nodes=300)
    expected = by_definition(adjacency, features)
    nodes = Nodes(adjacency, features)
    sparse = sp.csr_array(features)
    assert similarity(*sampled_links(nodes, 0)) == pytest.approx(expected)
    assert similarity(adjacency, sparse, sparse) == pytest.approx(expected)
    assert similarity(*sampled_links(nodes, 0, 200)) == pytest.approx(expected, abs=0.15)


def test_nothing_is_said_without_features_links_or_differences():
    chain = as_adjacency((np.arange(4), np.arange(1, 5)))
    assert homophily_of(Nodes(chain)) == Homophily(alike=1.0, features_tell=False)
    for features in (np.ones((5, 3)), np.eye(5)):  # four links say nothing
        assert homophily_of(Nodes(chain, features)) == Homophily()
    assert homophily_of(Nodes(sp.csr_array((5, 5)), np.eye(5))) == Homophily()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("n", "n_columns"), [(300, 20), (100, 400)])
def test_columns_of_noise_are_not_related_and_those_of_words_are(make, n, n_columns):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n, n_columns))
    topics = rng.random((3, n_columns)) ** 3
    words = (rng.random((n, n_columns)) < topics[rng.integers(0, 3, n)]).astype(float)
    assert not has_related_columns(make(noise))
    assert not has_related_columns(make((rng.random((n, n_columns)) < 0.05).astype(float)))
    assert has_related_columns(make(words))
    assert not has_related_columns(make(np.eye(n)))


@pytest.mark.parametrize("per_class", [1, 2, 5])
def test_noise_as_features_does_not_hide_a_clear_graph(per_class):
    right, alone = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        _, links, truth = block_model(rng, n=300)
        y = np.full(len(truth), -1)
        for code in range(3):
            y[rng.choice(np.flatnonzero(truth == code), per_class, replace=False)] = code
        rest = y < 0
        noise = rng.normal(size=(len(truth), 20))
        right.append(np.mean(GPGCClassifier().fit(noise, y, links).predict()[rest] == truth[rest]))
        alone.append(np.mean(GPGCClassifier().fit(None, y, links).predict()[rest] == truth[rest]))
    assert np.mean(right) > np.mean(alone) - 0.05


def test_noise_as_features_hides_no_graph_from_few_unequal_labels():
    right, alone, losses = [], [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = np.repeat(np.arange(3), 60)
        same = truth[:, None] == truth
        links = np.nonzero(np.triu(rng.random((180, 180)) < np.where(same, 0.12, 0.006), 1))
        y = np.full(len(truth), -1)
        for code, count in enumerate((1, 2, 3)):
            y[rng.choice(np.flatnonzero(truth == code), count, replace=False)] = code
        rest = y < 0
        table = GPGCClassifier().fit(rng.normal(size=(180, 20)), y, links).predict_proba()
        right.append(np.mean(table[rest].argmax(axis=1) == truth[rest]))
        losses.append(-np.mean(np.log(table[rest, truth[rest]])))
        alone.append(np.mean(GPGCClassifier().fit(None, y, links).predict()[rest] == truth[rest]))
    assert np.mean(right) > np.mean(alone) - 0.05
    assert np.mean(losses) < 0.7 * np.log(3)


def test_few_unequal_labels_of_a_tree_reach_far():
    nodes, branch = np.arange(1, 364), np.zeros(364, dtype=int)  # three children each, five deep
    for node in nodes:
        branch[node] = node - 1 if node < 4 else branch[(node - 1) // 3]
    right = []
    for seed in range(5):
        y = np.full(364, -1)
        given = np.random.default_rng(seed).choice(364, 12, replace=False)
        y[given] = branch[given]
        labels = GPGCClassifier().fit(None, y, ((nodes - 1) // 3, nodes)).predict()
        right.append(np.mean(labels[y < 0] == branch[y < 0]))
    assert np.mean(right) > 0.9


def test_few_labels_are_less_sure_and_unlike_neighbors_hardly_at_all():
    assert usual_sharpness(3, 1.0, 3).mean < usual_sharpness(6, 1.0, 3).mean
    assert usual_sharpness(6, 1.0, 3).mean < usual_sharpness(50, 1.0, 3).mean
    assert usual_sharpness(50, 0.0, 3).mean < usual_sharpness(2, 1.0, 3).mean


@pytest.mark.parametrize("alike", [True, False])
def test_one_label_a_class_costs_no_more_than_knowing_nothing(alike):
    losses, right = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        features, links, truth = block_model(rng, alike=alike)
        if not alike:  # neither links nor features say anything of these classes
            truth = rng.permutation(truth)
        y = np.full(len(truth), -1)
        for code in range(3):
            y[rng.choice(np.flatnonzero(truth == code))] = code
        table, rest = GPGCClassifier().fit(features, y, links).predict_proba(), y < 0
        losses.append(-np.mean(np.log(table[rest, truth[rest]])))
        right.append(np.mean(table[rest].argmax(axis=1) == truth[rest]))
    assert np.mean(losses) <= np.log(3) + 0.005
    assert (np.mean(right) > 0.8) == alike
    if alike:
        assert np.mean(losses) < 0.7 * np.log(3)
