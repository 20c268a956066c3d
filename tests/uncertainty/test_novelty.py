"""Nodes that do not belong, by brute force and by how well they are found."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import gpgc
from gpgc.errors import InputError
from gpgc.kernels import DenseLayer
from gpgc.uncertainty.novelty import novelty


@pytest.mark.parametrize("model", ["broad", "big"])
def test_the_score_is_what_no_class_claims_of_the_centerd_matrix(two_moons, model):
    features, labels, _ = two_moons
    estimator = gpgc.GPGCClassifier(model, dtype="float64").fit(features, labels)
    views = {"graph": estimator.covariance_, "features": estimator.prior_.view("features")}
    for view, covariance in views.items():
        matrix = covariance.dense()
        matrix = matrix - matrix.mean(axis=0) - matrix.mean(axis=1)[:, None] + matrix.mean()
        matrix /= np.diagonal(matrix).mean()
        known = estimator.labelled_nodes_
        inner = matrix[np.ix_(known, known)] + np.eye(len(known))
        claims = matrix[:, known] @ np.linalg.solve(inner, np.eye(2)[labels[known]])
        np.testing.assert_allclose(novelty(estimator, view), 1 - claims.max(axis=1), atol=1e-8)


def test_neither_scale_nor_what_all_share_matters(two_moons):
    features, labels, _ = two_moons
    plain = gpgc.GPGCClassifier("big", dtype="float64").fit(features, labels)
    lifted = gpgc.GPGCClassifier("big", dtype="float64").fit(features, labels)
    scaled = DenseLayer(plain.covariance_, 4.0, 7.0)
    lifted.posterior_ = lifted.posterior_.elsewhere({"graph": scaled}, lifted.labelled_nodes_)
    np.testing.assert_allclose(novelty(lifted), novelty(plain), atol=1e-8)


def test_damaged_features_show_in_their_own_view(two_moons):
    features, labels, _ = two_moons
    damaged = features.copy()
    damaged[[10, 60]] = -6.0
    graph = gpgc.GPGCClassifier().fit(features, labels).adjacency_
    estimator = gpgc.GPGCClassifier().fit(damaged, labels, adjacency=graph)
    assert set(np.argsort(-novelty(estimator, "features"))[:2]) == {10, 60}


def test_wrong_views_are_named():
    estimator = gpgc.GPGCClassifier().fit(None, [0, -1, 1], adjacency=([0, 1], [1, 2]))
    for view in ("features", "sideways"):
        with pytest.raises(InputError, match="view"):
            novelty(estimator, view)


def test_a_cloud_without_labels_is_strange():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    features = rng.normal(size=(120, 4)) + 4 * np.eye(4)[truth]
    y = np.full(120, -1)
    y[[0, 1, 2, 40, 41, 42]] = [0, 0, 0, 1, 1, 1]
    score = novelty(gpgc.GPGCClassifier().fit(features, y))
    assert roc_auc_score(truth == 2, score) > 0.9


@pytest.mark.data
def test_a_left_out_class_of_cora_is_strange(lab_datasets, data_dir):
    data = lab_datasets.load_planetoid("cora", data_dir)
    estimator, areas = None, []
    for seed in range(3):
        train, _, _ = lab_datasets.random_split(data.labels, 20, 0, 0, seed)
        for left_out in range(7):
            kept = train[data.labels[train] != left_out]
            y = np.full(len(data.labels), -1)
            y[kept] = data.labels[kept]
            if estimator is None:
                estimator = gpgc.GPGCClassifier().fit(data.features, y, data.adjacency)
            rest = np.setdiff1d(np.arange(len(y)), kept)
            score = novelty(estimator.relabel(y))
            areas.append(roc_auc_score(data.labels[rest] == left_out, score[rest]))
    assert np.mean(areas) > 0.83
