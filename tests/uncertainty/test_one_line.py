"""Prediction sets, novelty, reliability and suggestions in a line from the estimator."""

import numpy as np
import pytest

from gpgc import GPGCClassifier, InputError, suggest
from gpgc.uncertainty.novelty import novelty
from gpgc.uncertainty.sets import leave_one_out_sets, split_conformal_sets


@pytest.fixture
def model(two_moons):
    features, labels, _ = two_moons
    return GPGCClassifier(dtype="float64").fit(features, labels)


def test_sets_are_those_of_the_functions(model, two_moons):
    _, _, truth = two_moons
    held_out = np.array([10, 20, 30, 50, 60, 70])
    assert (model.prediction_sets(0.8) == leave_one_out_sets(model, 0.8)).all()
    expected = split_conformal_sets(model, held_out, truth[held_out], 0.8)
    assert (model.prediction_sets(0.8, nodes=held_out, y=truth[held_out]) == expected).all()


def test_sets_need_nodes_and_labels_together(model):
    with pytest.raises(InputError, match="together"):
        model.prediction_sets(nodes=[10])
    with pytest.raises(InputError, match="together"):
        model.reliability(y=[0])


def test_novelty_is_that_of_the_function(model):
    assert (model.novelty("features") == novelty(model, "features")).all()


def test_reliability_by_leaving_out_and_by_held_out_labels(model, two_moons):
    _, labels, truth = two_moons
    left_out = model.reliability(n_bins=5)
    assert left_out.size.sum() == len(model.labelled_nodes_)
    hidden = np.flatnonzero(labels == -1)
    held_out = model.reliability(hidden, truth[hidden], n_bins=1)
    right = np.mean(model.predict()[hidden] == truth[hidden])
    np.testing.assert_allclose(held_out.accuracy, [right])


def test_leaving_out_is_a_fit_without_the_label(two_moons):
    features, labels, _ = two_moons
    settings = {
        "model": "big",
        "noise_variance": 0.1,
        "dtype": "float64",
        "class_prior": "labels",
    }
    model = GPGCClassifier(**settings).fit(features, labels)
    node = model.labelled_nodes_[0]
    without = labels.copy()
    without[node] = -1
    mean = GPGCClassifier(**settings).fit(features, without).predict_latent([node])
    expected = model.calibration_.probabilities(mean, np.array([True]))
    np.testing.assert_allclose(model.leave_one_out_proba()[:1], expected, atol=1e-6)


def test_suggestions_are_those_of_the_function(model, two_moons):
    features, labels, _ = two_moons
    expected = suggest(features, labels, n=3, dtype="float64")
    found = model.suggest(3)
    assert found.nodes.tolist() == expected.nodes.tolist()
    assert model.suggest(candidates=[5, 6]).nodes[0] in (5, 6)
