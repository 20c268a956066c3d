"""Whether neighbours are alike is told by features alone, and says how sure few labels may be."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.graph import Nodes, as_adjacency
from gpgc.models.likeness import (
    LikenessSums,
    alikeness,
    likeness_of,
    likeness_sums,
    sampled_likeness,
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
    centred = rows - rows.mean(axis=0)
    left, right = adjacency.nonzero()
    return np.mean((centred[left] * centred[right]).sum(axis=1)) / np.mean((centred**2).sum(axis=1))


def test_sums_give_the_definition_dense_sparse_and_in_blocks():
    features, links, _ = block_model(np.random.default_rng(0), n=300)
    adjacency = as_adjacency(links, n_nodes=300)
    expected = by_definition(adjacency, features)
    nodes = Nodes(adjacency, features)
    assert likeness_of(nodes) == pytest.approx(expected)
    assert likeness_sums(adjacency, sp.csr_array(features)).likeness == pytest.approx(expected)
    first, second = np.arange(140), np.arange(140, 300)
    parts = [likeness_sums(adjacency[part], features[part], features) for part in (first, second)]
    assert LikenessSums.joined(*parts).likeness == pytest.approx(expected)
    assert sampled_likeness(nodes, 200).likeness == pytest.approx(expected, abs=0.15)


def test_nothing_is_said_without_features_links_or_differences():
    chain = as_adjacency((np.arange(4), np.arange(1, 5)))
    assert likeness_of(Nodes(chain)) is None
    assert likeness_of(Nodes(chain, np.ones((5, 3)))) is None
    assert likeness_of(Nodes(sp.csr_array((5, 5)), np.eye(5))) is None
    assert likeness_of(Nodes(chain, np.eye(5))) is None  # four links say nothing
    assert alikeness(None, 0.0) == 0.0


def test_few_labels_are_less_sure_and_unlike_neighbours_hardly_at_all():
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
