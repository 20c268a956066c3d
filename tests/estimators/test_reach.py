"""Nodes about which no label says anything get the class prior, and change nobody else's answer."""

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier
from gpgc.graph.reach import reach_of
from gpgc.probability.temperature import (
    fit_temperature_with_prior,
    root_mean_square,
    square_sums,
    usual_sharpness,
)

MODELS = ("broad", "big", "small")


def two_blocks(n_isolated):
    """Thirty nodes in two blocks with five labels, and isolated nodes."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 15)
    links = np.triu(rng.random((30, 30)) < np.where(truth[:, None] == truth, 0.4, 0.05), 1)
    graph = sp.block_diag([links, sp.csr_array((n_isolated, n_isolated))], format="csr")
    y = np.full(30 + n_isolated, -1)
    y[[0, 1, 15, 16, 17]] = truth[[0, 1, 15, 16, 17]]
    return graph, y


@pytest.mark.parametrize("model", MODELS)
def test_isolated_nodes_have_the_class_prior_and_change_nobody(model):
    answers = []
    for n_isolated in (0, 1, 20, 200):
        graph, y = two_blocks(n_isolated)
        fitted = GPGCClassifier(model).fit(None, y, adjacency=graph)
        table = fitted.predict_proba()
        assert (table[30:] == fitted.class_prior_).all()
        assert (fitted.predict()[30:] == fitted.class_prior_.argmax()).all()
        assert (fitted.transduction_[30:] == fitted.class_prior_.argmax()).all()
        answers.append(table[:30].max(axis=1).mean())
    assert np.ptp(answers) < 0.005


@pytest.mark.parametrize("model", MODELS)
def test_a_component_without_labels_is_known_by_the_features_it_shares_alone(model):
    graph = sp.csr_array(sp.block_diag([np.ones((3, 3))] * 4))
    y = np.full(12, -1)
    y[[0, 3, 4]] = 0, 1, 1
    words = np.zeros((12, 6))
    words[0:3, 0] = words[3:6, 1] = words[6:9, 2] = words[9:12, 3] = 1
    words[7, 1] = 2  # the third component shares a word with the second, the fourth none
    for features in (words, sp.csr_array(words)):
        fitted = GPGCClassifier(model).fit(features, y, adjacency=graph)
        table = fitted.predict_proba()
        assert (table[9:] == fitted.class_prior_).all()
        assert (table[6:9] != fitted.class_prior_).all()


def test_without_any_unlabelled_node_that_is_reached_the_temperature_is_usual():
    fitted = GPGCClassifier().fit(None, [0, 1] + [-1] * 50, adjacency=sp.csr_array((52, 52)))
    assert fitted.temperature_ == pytest.approx(np.exp(usual_sharpness(2, 1.0, 2).mean), rel=1e-3)
    assert (fitted.predict_proba()[2:] == 0.5).all()


def test_temperature_has_bounds_that_refer_to_the_means():
    """Means that differ by rounding alone give flat probabilities, whatever their size."""
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0):
        means = size * (0.5 + 1e-8 * rng.normal(size=(20, 2)))
        targets = np.eye(2)[rng.integers(2, size=20)]
        spread, even = root_mean_square(square_sums(means)), np.full(2, 0.5)
        usual = usual_sharpness(20, 1.0, 2)
        t = fit_temperature_with_prior(means, targets, np.zeros(20), spread, usual, even)
        assert np.ptp(t * means) < 1e-3


@pytest.mark.parametrize("model", MODELS)
def test_joining_nodes_of_which_nothing_is_known_have_the_class_prior(model):
    graph, y = two_blocks(1)
    fitted = GPGCClassifier(model).fit(None, y, adjacency=graph)
    links = np.zeros((5, 36))
    links[0, 0] = 1  # to a labelled block
    links[1, 30] = 1  # to the isolated node
    links[3, 31] = links[0, 34] = 1  # to the first of the new nodes
    table = fitted.predict_proba(adjacency=links)
    assert (table[[1, 2]] == fitted.class_prior_).all()
    assert (table[[0, 3]] != fitted.class_prior_).all()
    X = np.vstack([np.eye(2)[(np.arange(30) >= 15).astype(int)], np.zeros(2)])
    seen = GPGCClassifier(model).fit(X, y, adjacency=graph)
    table = seen.predict_proba(np.array([[0.0, 0.0], [0.0, 1.0]]), np.zeros((2, 31)))
    assert (table[0] == seen.class_prior_).all()
    assert table[1].argmax() == 1


@pytest.mark.parametrize("model", MODELS)
def test_a_node_without_prior_variance_has_the_usual_one(model):
    graph, y = two_blocks(2)
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 4)), np.zeros((2, 4))])
    fitted = GPGCClassifier(model, standardize=False).fit(X, y, adjacency=graph)
    _, std, cov = fitted.predict_latent([29, 30, 31], return_std=True, return_cov=True)
    usual = np.sqrt(fitted.covariance_.diag(fitted.labelled_nodes_).mean())
    np.testing.assert_allclose(std[1:], usual, rtol=1e-5)
    np.testing.assert_allclose(np.diagonal(cov), std**2, rtol=1e-3)


def test_calibration_moves_the_prior_of_unreached_nodes_and_survives_storage(tmp_path):
    graph, y = two_blocks(3)
    fitted = GPGCClassifier().fit(None, y, adjacency=graph)
    fitted.calibrate([2, 3, 4, 18, 31], [0, 0, 0, 1, 1])
    assert (fitted.predict_proba()[30:] == fitted.class_prior_).all()
    fitted.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_array_equal(again.class_prior_, fitted.class_prior_)
    np.testing.assert_allclose(again.predict_proba(), fitted.predict_proba(), atol=1e-6)
    with pytest.raises(gpgc.InputError, match="nodes must hold some"):
        fitted.calibrate([30], [1])


def test_components_of_dense_and_sparse_features_agree():
    rng = np.random.default_rng(0)
    for _ in range(20):
        graph = sp.random_array((30, 30), density=0.01, rng=rng, format="csr")
        features = rng.normal(size=(30, 25)) * (rng.random((30, 25)) < 0.03)
        dense, sparse = reach_of(graph, features), reach_of(graph, sp.csr_array(features))
        for one, other in zip(dense, sparse, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n_nodes", [600, 2500])
@pytest.mark.parametrize("has_alike_neighbors", [True, False])
def test_nodes_without_links_and_features_change_no_probability(n_nodes, has_alike_neighbors):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=n_nodes)
    ends = rng.integers(n_nodes, size=(2, 6 * n_nodes))
    same = truth[ends[0]] == truth[ends[1]]
    ends = ends[:, same == has_alike_neighbors]
    X = rng.standard_normal((n_nodes, 6)) + 0.8 * rng.standard_normal((3, 6))[truth]
    y = np.where(np.arange(n_nodes) % 20 == 0, truth, -1)
    tables = []
    for blank in (0, 60):
        links = sp.csr_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n_nodes + blank,) * 2)
        both = np.vstack([X, np.zeros((blank, 6))])
        given = np.append(y, np.full(blank, -1))
        fitted = GPGCClassifier(dtype="float64", standardize=False).fit(both, given, links)
        tables.append(fitted.predict_proba()[:n_nodes])
    np.testing.assert_allclose(tables[1], tables[0], atol=1e-6)
