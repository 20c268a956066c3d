"""The class prior stays where the labels are where the model says little."""

import numpy as np
import pytest

from gpgc import GPGCClassifier
from gpgc.datasets import load_npz_graph
from gpgc.probability.class_prior import class_prior, estimate_prior, information
from gpgc.uncertainty.measures import expected_calibration_error


def test_features_that_say_nothing_are_no_worse_than_the_majority():
    rng = np.random.default_rng(0)
    truth = rng.choice(5, p=[0.1, 0.15, 0.2, 0.25, 0.3], size=3000)
    y = np.where(np.arange(3000) < 1000, truth, -1)
    fitted = GPGCClassifier().fit(rng.normal(size=(3000, 20)), y)
    table, rest = fitted.predict_proba()[1000:], truth[1000:]
    assert np.mean(table.argmax(axis=1) == rest) > np.mean(rest == 4) - 0.01
    assert expected_calibration_error(table, rest) < 0.05
    np.testing.assert_allclose(fitted.class_prior_, np.bincount(y[:1000]) / 1000, atol=0.02)


def test_information_opens_the_estimate():
    clear, shares = np.eye(2)[[0, 0, 0, 1]], np.array([0.5, 0.5])
    assert estimate_prior(clear, shares, 6000, 0.0).tolist() == [0.5, 0.5]
    np.testing.assert_allclose(estimate_prior(clear, shares, 6000, 1.0), [0.75, 0.25], atol=1e-3)
    half = estimate_prior(clear, shares, 6000, 0.25)
    assert 0.5 < half[0] < 0.75
    losses = np.log([2.0, 2.0])
    assert information(losses, np.ones(2), shares) == pytest.approx(0)
    assert information(2 * losses, np.ones(2), shares) == 0
    assert information(losses, np.zeros(2), shares) == 0
    assert information(0 * losses, np.ones(2), np.array([1.0])) == 0


@pytest.mark.data
def test_actor_is_no_worse_than_its_majority(data_dir):
    path = data_dir / "graphs" / "actor.npz"
    data = load_npz_graph(path)
    with np.load(path) as file:
        train, held_out = (np.flatnonzero(file[f"{part}_masks"][2]) for part in ("train", "val"))
    train = np.random.default_rng(2).choice(train, 1000, replace=False)
    y = np.full(len(data.labels), -1)
    y[train] = data.labels[train]
    fitted = GPGCClassifier().fit(data.features, y, data.adjacency)
    table, truth = fitted.predict_proba()[held_out], data.labels[held_out]
    assert np.mean(table.argmax(axis=1) == truth) > 0.3
    assert expected_calibration_error(table, truth) < 0.05


def test_many_labels_of_unequal_classes_are_taken_for_what_they_are():
    astray = np.tile([0.05, 0.95], (100, 1))
    fractions = np.array([0.7, 0.3])

    def reweigh(ratio):
        weighed = astray * ratio
        return (weighed / weighed.sum(axis=1, keepdims=True)).mean(axis=0)

    many = class_prior("estimated", fractions, reweigh, 2000, 1.0)
    np.testing.assert_array_equal(many, fractions)
    for labels, chosen in ((1999, fractions), (5000, np.array([0.5, 0.5]))):
        assert class_prior("estimated", chosen, reweigh, labels, 1.0)[1] > 0.9
