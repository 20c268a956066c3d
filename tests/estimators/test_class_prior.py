"""The class prior follows the unlabelled nodes where labels show it, and stays with them else."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier
from gpgc.datasets import load_npz_graph
from gpgc.errors import InputError
from gpgc.probability.calibration import Calibration, StoredMeans, calibrate_left_out
from gpgc.probability.class_prior import class_prior, prior_ratios
from gpgc.probability.score_curve import ScoreCurve
from gpgc.probability.softmax import softmax
from gpgc.uncertainty.measures import expected_calibration_error


def drawn_world(rng, fractions, n_nodes, strength=2.0):
    """Return scores whose softmax with the log of the fractions is right, and classes."""
    codes = rng.choice(len(fractions), p=fractions, size=n_nodes)
    means = strength * np.eye(len(fractions))[codes] + rng.normal(size=(n_nodes, len(fractions)))
    return strength * means, codes


def ratios(rng, label_fractions, fractions, n_labels, strength=2.0):
    scores, codes = drawn_world(rng, label_fractions, n_labels, strength)
    codes[: len(label_fractions)] = np.arange(len(label_fractions))
    targets = np.eye(len(label_fractions))[codes]
    shown = targets.mean(axis=0)
    nodes, _ = drawn_world(rng, fractions, 20_000, strength)
    left_out, found = softmax(scores + np.log(shown)), softmax(nodes + np.log(shown)).mean(axis=0)
    return prior_ratios(left_out, targets, shown, found), shown


def test_ratios_of_a_shifted_world_are_found_from_many_labels():
    rng = np.random.default_rng(0)
    even, world = np.full(4, 0.25), np.array([0.6, 0.2, 0.15, 0.05])
    found, shown = ratios(rng, even, world, 800)
    assert found @ shown == pytest.approx(1)
    np.testing.assert_allclose(found * shown, world, atol=0.04)
    few, shown = ratios(rng, even, world, 12)
    np.testing.assert_allclose(few, 1)


@pytest.mark.parametrize("world", [[0.5, 0.25, 0.15, 0.06, 0.04], [0.88, 0.12], [0.25] * 4])
def test_of_labels_drawn_at_random_the_fractions_are_no_worse_for_the_estimate(world):
    rng = np.random.default_rng(1)
    found = []
    for n_labels in (30, 100, 300, 1000) * 3:
        ratio, shown = ratios(rng, world, world, n_labels)
        off = [np.abs(one - world).sum() / 2 for one in (shown, shown * ratio)]
        found.append(off)
        assert off[1] < off[0] + 0.06
    assert np.mean(found, axis=0)[1] < np.mean(found, axis=0)[0] + 0.002


def test_probabilities_that_say_nothing_keep_the_fractions():
    rng = np.random.default_rng(2)
    even, world = np.full(4, 0.25), np.array([0.6, 0.2, 0.15, 0.05])
    for n_labels in (20, 200, 2000):
        np.testing.assert_allclose(ratios(rng, even, world, n_labels, 0.01)[0], 1, atol=0.02)


def shifted(n_each, found=(0.7, 0.3)):
    """Return the first ratio of two classes of n labels each, of which nine in ten are known."""
    rows = np.repeat([[0.9, 0.1], [0.1, 0.9]], n_each, axis=0)
    rows[::10] = rows[::10, ::-1]
    targets = np.repeat(np.eye(2), n_each, axis=0)
    return prior_ratios(rows, targets, np.full(2, 0.5), np.array(found))[0]


def test_the_estimate_is_bolder_the_more_labels_there_are():
    by_number = [shifted(n) for n in (3, 5, 10, 20, 1000)]
    assert by_number == sorted(by_number)
    assert by_number[0] == 1
    assert by_number[1] == pytest.approx(1.28, abs=0.05)  # 1.4 with PSEUDO_LABELS = 5
    assert by_number[3] == pytest.approx(1.49, abs=0.03)
    assert by_number[4] == pytest.approx(1.625, abs=0.03)  # (.7 − .18) / (.82 − .18) · 2
    smaller = [shifted(n, (0.6, 0.4)) for n in (3, 5, 10, 20, 1000)]
    assert smaller[:3] == [1, 1, 1]
    assert smaller[3] == pytest.approx(1.15, abs=0.04)


def test_a_difference_within_the_systematic_error_is_none():
    assert shifted(100_000, (0.53, 0.47)) == 1
    assert 1.09 < shifted(100_000, (0.55, 0.45)) < 1.125


def test_classes_of_one_label_keep_their_fraction():
    rng = np.random.default_rng(3)
    codes = np.array([0] * 40 + [1] * 40 + [2])
    targets = np.eye(3)[codes]
    means = targets + 0.2 * rng.normal(size=targets.shape)
    world = np.eye(3)[rng.choice(3, p=[0.8, 0.15, 0.05], size=4000)]
    unlabelled = StoredMeans(world + 0.2 * rng.normal(size=world.shape))
    weights = np.r_[np.full(80, 1 - 1 / 40), 0.0]
    fractions = targets.mean(axis=0)
    found = calibrate_left_out(means, unlabelled, targets, weights, fractions).class_prior
    assert found[2] == pytest.approx(fractions[2])
    assert found[0] > 0.75
    none = calibrate_left_out(means, StoredMeans(np.empty((0, 3))), targets, weights, fractions)
    np.testing.assert_allclose(none.class_prior, fractions)


def test_what_was_asked_for_is_taken():
    fractions, other = np.array([0.7, 0.3]), np.array([0.6, 0.4])
    assert class_prior("labels", fractions, lambda: other) is fractions
    assert class_prior("estimated", fractions, lambda: other) is other
    assert class_prior([1, 3], fractions, lambda: other).tolist() == [0.25, 0.75]
    for wrong in ("guess", [1.0], [1.0, 0.0], [np.inf, 1.0]):
        with pytest.raises(InputError, match="class_prior must"):
            class_prior(wrong, fractions, lambda: other)


def test_flat_probabilities_are_the_class_prior():
    fractions = np.array([0.7, 0.2, 0.1])
    bias = np.log([2.0, 0.5, 1.0])
    flat = Calibration.of(ScoreCurve(0.0), bias, fractions, 1.0)
    found = flat.probabilities(np.random.default_rng(0).normal(size=(3, 3)), np.ones(3, bool))
    np.testing.assert_allclose(found, np.tile(flat.class_prior, (3, 1)))
    sharp = Calibration.of(ScoreCurve(2.0), bias, fractions, 0.0)
    np.testing.assert_allclose(sharp.logits(np.eye(3), np.ones(3, bool)), 2 * np.eye(3) + bias)


def blocks(rng, fractions, n_nodes, likeness=0.5, degree=8):
    """Return a graph of unequal blocks, and its classes."""
    codes = rng.choice(len(fractions), p=fractions, size=n_nodes)
    source, target = rng.integers(n_nodes, size=(2, 10 * degree * n_nodes))
    keep = rng.random(source.shape) < np.where(codes[source] == codes[target], 1.0, 1 - likeness)
    source, target = source[keep][: degree * n_nodes], target[keep][: degree * n_nodes]
    graph = sp.csr_array((np.ones(len(source)), (source, target)), shape=(n_nodes, n_nodes))
    return graph + graph.T, codes


@pytest.mark.parametrize("seed", [510, 511, 512])
def test_many_random_labels_of_unequal_classes_do_not_collapse(seed):
    rng = np.random.default_rng(seed)
    fractions = np.array([0.35, 0.2, 0.12, 0.1, 0.08, 0.05, 0.04, 0.03, 0.02, 0.01])
    graph, truth = blocks(rng, fractions, 3000, likeness=0.9)
    features = rng.normal(size=(3000, 4)) + 0.5 * rng.normal(size=(10, 4))[truth]
    y = np.where(rng.random(3000) < 0.2, truth, -1)
    fitted = GPGCClassifier().fit(features, y, graph)
    hidden = y < 0
    own = np.mean(fitted.predict()[hidden] == truth[hidden])
    labels = GPGCClassifier(class_prior="labels").fit(features, y, graph).predict()
    assert own > np.mean(labels[hidden] == truth[hidden]) - 0.01


def test_features_that_say_nothing_are_no_worse_than_the_majority():
    rng = np.random.default_rng(0)
    truth = rng.choice(5, p=[0.1, 0.15, 0.2, 0.25, 0.3], size=3000)
    y = np.where(np.arange(3000) < 1000, truth, -1)
    fitted = GPGCClassifier().fit(rng.normal(size=(3000, 20)), y)
    table, rest = fitted.predict_proba()[1000:], truth[1000:]
    assert np.mean(table.argmax(axis=1) == rest) > np.mean(rest == 4) - 0.01
    assert expected_calibration_error(table, rest) < 0.05
    np.testing.assert_allclose(fitted.class_prior_, np.bincount(y[:1000]) / 1000, atol=0.02)


def test_balanced_labels_of_an_unequal_world_find_its_fractions():
    rng = np.random.default_rng(513)
    fractions = np.array([0.85, 0.1, 0.05])
    graph, truth = blocks(rng, fractions, 3000, likeness=0.85)
    features = rng.normal(size=(3000, 10)) + 0.6 * rng.normal(size=(3, 10))[truth]
    y = np.full(3000, -1)
    for code in range(3):
        y[rng.permutation(np.flatnonzero(truth == code))[:20]] = code
    fitted = GPGCClassifier().fit(features, y, graph)
    np.testing.assert_allclose(fitted.class_prior_, fractions, atol=0.1)


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


def real_graph(path):
    """Return features, graph and classes, −1 for none."""
    with np.load(path, allow_pickle=False) as file:
        truth, edges = file["labels"].astype(int), file["edges"]
        if "features" in file:
            features = file["features"]
        else:
            parts = [file[f"features_{name}"] for name in ("data", "indices", "indptr")]
            features = sp.csr_array(tuple(parts), shape=tuple(file["features_shape"]))
    size = len(truth)
    return features, sp.csr_array((np.ones(len(edges)), edges.T), shape=(size, size)), truth


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "part", "least"), [("power_grid", 0.1, 0.78), ("yeast_proteins", 0.5, 0.68)]
)
def test_random_labels_of_real_graphs_do_not_collapse(data_dir, name, part, least):
    features, graph, truth = real_graph(data_dir / "graphs" / f"{name}.npz")
    known, right = np.flatnonzero(truth >= 0), []
    for seed in (520, 521):
        drawn = np.random.default_rng(seed).permutation(known)[: int(part * len(known))]
        y = np.full(len(truth), -1)
        y[drawn] = truth[drawn]
        rest = np.setdiff1d(known, drawn)
        right.append(
            np.mean(GPGCClassifier().fit(features, y, graph).predict()[rest] == truth[rest])
        )
    assert min(right) > least


@pytest.mark.data
def test_balanced_labels_of_the_power_grid_gain(data_dir):
    features, graph, truth = real_graph(data_dir / "graphs" / "power_grid.npz")
    gains = []
    for seed in (522, 523):
        rng = np.random.default_rng(seed)
        y = np.full(len(truth), -1)
        for code in range(truth.max() + 1):
            drawn = rng.permutation(np.flatnonzero(truth == code))[:20]
            y[drawn] = code
        hidden, right = y < 0, []
        for prior in ("estimated", "labels"):
            fitted = GPGCClassifier(class_prior=prior).fit(features, y, graph)
            right.append(np.mean(fitted.predict()[hidden] == truth[hidden]))
        gains.append(right[0] - right[1])
    assert np.mean(gains) > 0.03


@pytest.mark.parametrize("form", [dict, pd.Series])
def test_fractions_by_class_go_by_its_name(form, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 4))
    y = ["no", "yes"] * 10 + [None] * 20
    found = GPGCClassifier(class_prior=form({"yes": 0.9, "no": 0.1})).fit(X, y)
    np.testing.assert_allclose(found.class_prior_, [0.1, 0.9])
    found.save(tmp_path / "model.gpgc")
    np.testing.assert_allclose(gpgc.load(tmp_path / "model.gpgc").class_prior_, [0.1, 0.9])
    with pytest.raises(InputError, match=r"class_prior must have the classes \['no', 'yes'\]"):
        GPGCClassifier(class_prior=form({"yes": 0.9, "maybe": 0.1})).fit(X, y)
