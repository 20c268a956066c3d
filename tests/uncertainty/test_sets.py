"""Prediction sets, by brute force and by their coverage."""

import numpy as np
import pytest

import gpgc
from gpgc.errors import InputError
from gpgc.probability.softmax import softmax
from gpgc.uncertainty import sets


@pytest.fixture
def fitted(two_moons):
    features, labels, truth = two_moons
    return gpgc.GPGCClassifier(dtype="float64").fit(features, labels), truth


def test_quantile_covers_exchangeable_scores():
    """Of n + 1 scores, any one is within the quantile of the others as often as promised."""
    scores = np.random.default_rng(0).permutation(21).astype(float)
    for level in (0.5, 0.8, 0.9):
        inside = [
            scores[i] <= sets.conformal_quantile(np.delete(scores, i), level) for i in range(21)
        ]
        assert level <= np.mean(inside) <= level + 1 / 20


def test_split_conformal_keeps_what_fits_as_well_as_the_held_out(fitted):
    estimator, truth = fitted
    held_out = np.arange(10, 30)
    got = sets.split_conformal_sets(estimator, held_out, truth[held_out], 0.8)
    fit = 1 - estimator.predict_proba()
    own = np.sort(fit[held_out, truth[held_out]])
    np.testing.assert_array_equal(got, fit <= own[int(np.ceil(21 * 0.8)) - 1])
    assert got[held_out, truth[held_out]].mean() >= 0.8


def test_too_few_held_out_labels_keep_every_class(fitted):
    estimator, truth = fitted
    assert sets.split_conformal_sets(estimator, [10, 50], truth[[10, 50]], 0.9).all()


def test_leave_one_out_sets_equal_refitting_without_each_node(fitted):
    """At the same noise, temperature and prior the closed form is what refitting gives."""
    features, truth = fitted[0].prior_.nodes.features, fitted[1]
    estimator = gpgc.GPGCClassifier("big", dtype="float64").fit(
        features, np.where(np.isin(np.arange(80), fitted[0].labelled_nodes_), truth, -1)
    )
    y = np.full(80, -1)
    labelled = estimator.labelled_nodes_
    y[labelled] = truth[labelled]
    scores = []
    for node in labelled:
        without = y.copy()
        without[node] = -1
        noise = estimator.noise_variance_
        other = gpgc.GPGCClassifier("big", dtype="float64", noise_variance=noise)
        other.fit(estimator.prior_.nodes.features, without, adjacency=estimator.adjacency_)
        mean = other.predict_latent([node])
        p = softmax(estimator.temperature_ * mean + estimator.calibration_.bias)
        scores.append(1 - p[0, truth[node]])
    expected = 1 - estimator.predict_proba() <= sets.conformal_quantile(scores, 0.7) + 1e-12
    np.testing.assert_array_equal(sets.leave_one_out_sets(estimator, 0.7), expected)


def test_wrong_held_out_labels_are_named(fitted):
    estimator, _ = fitted
    for nodes, y, level, word in (
        ([0], [0], 0.9, "held out"),
        ([10], [7], 0.9, "labels among"),
        ([10, 11], [0], 0.9, "2 labels"),
        ([10], [0], 1.5, "level"),
    ):
        with pytest.raises(InputError, match=word):
            sets.split_conformal_sets(estimator, nodes, y, level)


@pytest.mark.data
def test_coverage_on_cora_is_within_a_point(lab_datasets, data_dir):
    data = lab_datasets.load_planetoid("cora", data_dir)
    estimator, covered = None, []
    for seed in range(12):
        train, _, _ = lab_datasets.random_split(data.labels, 20, 0, 0, seed)
        y = np.full(len(data.labels), -1)
        y[train] = data.labels[train]
        if estimator is None:
            estimator = gpgc.GPGCClassifier().fit(data.features, y, data.adjacency)
        estimator.relabel(y)
        rest = np.random.default_rng(seed).permutation(np.setdiff1d(np.arange(len(y)), train))
        held_out, others = rest[:500], rest[500:]
        got = sets.split_conformal_sets(estimator, held_out, data.labels[held_out], 0.9)
        covered.append(got[others, data.labels[others]].mean())
    assert np.mean(covered) == pytest.approx(0.9, abs=0.01)
