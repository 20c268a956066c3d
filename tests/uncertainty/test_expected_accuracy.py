"""How sure, over all: the accuracy to expect of the other nodes."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from gpgc import GPGCClassifier
from gpgc.errors import InputError
from gpgc.probability.fraction import exact_interval
from gpgc.uncertainty.expected_accuracy import ONE_EACH, UNKNOWN


def overlapping_clouds(seed, n_each=100):
    """Three clouds that overlap, so that about four of five nodes can be right."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], n_each)
    return rng.normal(size=(len(truth), 4)) + 1.9 * np.eye(3, 4)[truth], truth


def coverage(n_draws, n_labels=60):
    """Return how often the 90 % interval holds the accuracy on the others, and both means."""
    features, truth = overlapping_clouds(0)
    model = GPGCClassifier(model="small", noise_variance=0.1).fit(features, truth)
    held, estimates, accuracies = [], [], []
    for seed in range(n_draws):
        drawn = np.random.default_rng(seed).choice(len(truth), n_labels, replace=False)
        y = np.full(len(truth), -1)
        y[drawn] = truth[drawn]
        model.relabel(y)
        found = model.expected_accuracy("random")
        accuracy = np.mean((model.predict() == truth)[y < 0])
        held.append(found.low <= accuracy <= found.high)
        estimates.append(found.estimate)
        accuracies.append(accuracy)
    return np.mean(held), np.mean(estimates), np.mean(accuracies)


def test_the_interval_holds_the_accuracy_on_the_others():
    held, estimate, accuracy = coverage(8)
    assert held >= 6 / 8
    assert abs(estimate - accuracy) < 0.05


@pytest.mark.slow
def test_the_interval_covers_as_often_as_it_says():
    held, estimate, accuracy = coverage(100)
    assert held >= 0.87  # 0.9 less one standard deviation of 100 draws
    assert accuracy - 0.03 < estimate < accuracy + 0.01


def test_each_label_is_predicted_from_the_others(two_moons):
    features, _, truth = two_moons
    y = np.where(np.arange(80) % 4 == 0, truth, -1)
    y[8] = 1
    model = GPGCClassifier("small", noise_variance=0.1).fit(features, y)
    found = model.expected_accuracy("random", 0.8)
    alone, same = [], clone(model).fit(features, y)
    for node in model.labelled_nodes_:
        others = np.where(np.arange(80) == node, -1, y)
        alone.append(same.relabel(others).predict()[node] == y[node])
    right = sum(alone)
    assert (found.right, found.counted, found.level) == (right, 20, 0.8)
    expected = exact_interval(right, 20, 0.8)
    assert (found.estimate, found.low, found.high) == (expected.mean, expected.low, expected.high)
    assert found.reason is None
    assert str(found) == "90.0%, 80% interval 75.5% to 97.3%, by 20 random labels"


def test_only_nodes_drawn_at_random_count(two_moons):
    features, _, truth = two_moons
    y = np.where(np.arange(80) % 4 == 0, truth, -1)
    y[8] = 1
    model = GPGCClassifier().fit(features, y)
    without = model.expected_accuracy([0, 4, 40, 44, 48, 52])
    assert (without.right, without.counted) == (6, 6)
    assert model.expected_accuracy(np.array([0, 4, 8, 40, 44, 48])).right == 5


def test_the_decision_counts_that_is_written():
    features, truth = overlapping_clouds(1, 40)
    model = GPGCClassifier("small", noise_variance=0.1, class_prior=[0.98, 0.01, 0.01])
    model.fit(features, np.where(np.arange(120) % 2, truth, -1))
    probable = model.expected_accuracy("random")
    balanced = model.set_params(decision="balanced").expected_accuracy("random")
    assert probable.right < balanced.right  # a prior that is wrong here does not count


def test_it_says_why_it_is_unknown(two_moons):
    features, labels, _ = two_moons
    model = GPGCClassifier().fit(features, labels)
    for drawn, reason in (
        ("unknown", UNKNOWN["unknown"]),
        ("chosen", UNKNOWN["chosen"]),
        ([], UNKNOWN["chosen"]),
        ([0, 40], "labels drawn at random are too few, 2 in place of 5 or more"),
    ):
        found = model.expected_accuracy(drawn)
        assert (found.estimate, found.low, found.high) == (None, None, None)
        assert found.reason == reason
        assert str(found) == f"unknown: {reason}"
    assert model.expected_accuracy().reason == UNKNOWN["unknown"]
    one_each = np.where(np.arange(80) % 40 == 0, labels, -1)
    assert model.relabel(one_each).expected_accuracy("random").reason == ONE_EACH


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("luck",), "labels_drawn must be one of unknown, random, balanced, chosen, got 'luck'"),
        (([0, 3],), "labels_drawn must be unknown, random, balanced, chosen or nodes that have a"),
        (([900],), "labels_drawn must lie between 0 and 79"),
        (("random", 1.0), "level must lie between 0 and 1, got 1.0"),
        (("random", "most"), "level must lie between 0 and 1, got 'most'"),
    ],
)
def test_bad_input_is_said(two_moons, arguments, said):
    features, labels, _ = two_moons
    model = GPGCClassifier().fit(features, labels)
    with pytest.raises(InputError, match=said.replace("(", r"\(")):
        model.expected_accuracy(*arguments)


def test_it_needs_a_fit():
    with pytest.raises(NotFittedError):
        GPGCClassifier().expected_accuracy("random")
