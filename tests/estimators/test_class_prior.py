"""Fits of unequal classes: the class prior helps where it can, and does not run away."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier
from gpgc.errors import InputError
from gpgc.uncertainty.measures import expected_calibration_error


def blocks(rng, fractions, n_nodes, likeness=0.5, degree=8):
    """Return a graph of unequal blocks, and its classes."""
    codes = rng.choice(len(fractions), p=fractions, size=n_nodes)
    source, target = rng.integers(n_nodes, size=(2, 10 * degree * n_nodes))
    keep = rng.random(source.shape) < np.where(codes[source] == codes[target], 1.0, 1 - likeness)
    source, target = source[keep][: degree * n_nodes], target[keep][: degree * n_nodes]
    graph = sp.csr_array((np.ones(len(source)), (source, target)), shape=(n_nodes, n_nodes))
    return graph + graph.T, codes


@pytest.mark.parametrize(
    "seed", [510, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (511, 512))]
)
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
def test_actor_is_no_worse_than_its_majority(lab_datasets, data_dir):
    path = data_dir / "graphs" / "actor.npz"
    data = lab_datasets.load_npz_graph(path)
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


@pytest.mark.data
@pytest.mark.parametrize("name", ["power_grid", "yeast_proteins"])
def test_one_label_a_class_is_less_sure_where_views_disagree(data_dir, name):
    features, graph, truth = real_graph(data_dir / "graphs" / f"{name}.npz")
    losses = []
    for seed in (524, 525):
        rng = np.random.default_rng(seed)
        y = np.full(len(truth), -1)
        for code in range(truth.max() + 1):
            y[rng.choice(np.flatnonzero(truth == code))] = code
        fitted = GPGCClassifier().fit(features, y, graph)
        assert fitted.fit_.choice.agreement < 0.5
        hidden = (truth >= 0) & (y < 0)
        table = fitted.predict_proba()[hidden]
        losses.append(-np.mean(np.log(table[np.arange(len(table)), truth[hidden]])))
    assert np.mean(losses) < np.log(12)
