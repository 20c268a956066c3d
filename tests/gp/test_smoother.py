"""Weighted means of labels, and the walk's kernel, against dense formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.gp import Smoother, condition
from gpgc.gp.stack import Stack, StackedView
from gpgc.kernels import Given
from gpgc.models.walk import TELEPORT, WalkKernel

RNG = np.random.default_rng(0)
LABELLED = np.array([1, 4, 9, 12, 20, 33])


@pytest.fixture(scope="module")
def graph():
    upper = np.triu(RNG.random((40, 40)) < 0.12, 1) * RNG.random((40, 40)) + np.eye(40, k=1)
    return sp.csr_array(upper + upper.T)


@pytest.fixture(scope="module")
def dense(graph):
    A = graph.toarray() + np.eye(40)
    return TELEPORT * np.linalg.inv(np.diag(A.sum(axis=1)) - (1 - TELEPORT) * A)


def test_the_walk_is_the_inverse_that_it_says(graph, dense):
    kernel = WalkKernel(graph)
    np.testing.assert_allclose(kernel.times(np.eye(40)), dense, atol=1e-3 * dense.max())
    np.testing.assert_allclose(
        kernel.block(np.array([3, 5]), np.arange(9)), dense[[3, 5], :9], atol=1e-3 * dense.max()
    )
    np.testing.assert_allclose(kernel.diag(LABELLED), np.diagonal(dense)[LABELLED], rtol=1e-2)


@pytest.mark.parametrize("relative", [None, np.array([1.0, 2.0, 0.5, 4.0, 1.0, 1.0])])
def test_means_and_what_is_left_out_are_weighted_means(graph, dense, relative):
    targets = np.eye(2)[[0, 1, 0, 1, 1, 0]]
    smoother = Smoother(WalkKernel(graph), LABELLED, targets, relative)
    weights = np.ones(6) if relative is None else 1 / relative
    part = dense[:, LABELLED] * weights
    np.testing.assert_allclose(
        smoother.mean(), part @ targets / part.sum(axis=1, keepdims=True), atol=1e-2
    )
    np.testing.assert_allclose(smoother.influence() @ targets, smoother.mean(), atol=1e-8)
    left = part[LABELLED] - np.diag(np.diagonal(part[LABELLED]))
    np.testing.assert_allclose(
        smoother.leave_one_out().mean, left @ targets / left.sum(axis=1, keepdims=True), atol=1e-2
    )


def test_targets_with_gaps_are_means_of_those_that_are_known(graph):
    targets = RNG.normal(size=(6, 2))
    targets[2, 0] = np.nan
    both = Smoother(WalkKernel(graph), LABELLED, targets, apart=True)
    known = np.delete(np.arange(6), 2)
    alone = Smoother(WalkKernel(graph), LABELLED[known], targets[known, :1], apart=True)
    np.testing.assert_allclose(both.mean()[:, 0], alone.mean()[:, 0], atol=1e-10)
    assert np.isnan(both.leave_one_out().mean[2, 0])
    assert both.variance().shape == (40, 2)


def test_a_node_far_from_all_labels_has_their_mean():
    links = sp.csr_array(np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)))
    smoother = Smoother(WalkKernel(links), np.array([0, 1, 2]), np.array([[0.0], [3.0], [6.0]]))
    np.testing.assert_allclose(smoother.mean()[3:, 0], 3.0)
    assert smoother.variance()[4] == pytest.approx(1)


def test_a_walk_answers_for_nodes_that_join_and_after_a_load(tmp_path):
    import gpgc

    rng = np.random.default_rng(2)
    truth = np.repeat(np.arange(4), 60)
    chance = np.where(truth[:, None] == truth, 0.12, 0.003)
    links = np.triu(rng.random((240, 240)) < chance, 1)
    adjacency = sp.csr_array((links + links.T).astype(float))
    y = np.where(np.arange(240) % 6 == 0, truth, -1)
    model = GPGCClassifier(dtype="float64").fit(rng.normal(size=(240, 3)), y, adjacency)
    assert model.view_weights_["walk"] > 0
    new, to_old = rng.normal(size=(8, 3)), adjacency[[3, 70, 130, 190, 10, 80, 140, 200]]
    answers = model.predict_proba(new, to_old)
    assert np.mean(answers.argmax(axis=1) == [0, 1, 2, 3] * 2) > 0.8
    model.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_allclose(again.predict_proba(new, to_old), answers, atol=1e-8)
    explained = model.explain(7)
    np.testing.assert_allclose(
        explained.offset + explained.contributions.sum(axis=0), explained.total, atol=1e-8
    )
    np.testing.assert_allclose(
        explained.offset + sum(explained.views.values()), explained.total, atol=1e-6
    )


def test_values_over_links_by_a_walk():
    """Values that are smooth on a long chain, whose features say nothing."""
    rng = np.random.default_rng(0)
    values = np.sin(np.arange(300) / 20)
    y = np.where(np.arange(300) % 5 == 0, values, np.nan)
    chain = (np.arange(299), np.arange(1, 300))
    model = GPGCRegressor().fit(rng.normal(size=(300, 4)), y, chain)
    error = (model.predict() - values)[np.isnan(y)]
    assert np.mean(error**2) < 0.3 * values.var()


def test_the_covariance_of_a_stack_is_that_of_the_views_that_have_one(graph):
    targets, level = np.eye(2)[[0, 1, 0, 1, 1, 0]], np.array([0.1])
    first, second = (Given(part @ part.T) for part in RNG.normal(size=(2, 40, 3)))
    views = [
        StackedView("first", np.array([0.6]), condition(first, LABELLED, targets, level)),
        StackedView("second", np.array([1.0]), condition(second, LABELLED, targets, level)),
        StackedView("walk", np.array([0.4]), Smoother(WalkKernel(graph), LABELLED, targets)),
    ]
    expected = (0.6 * first.block() + 1.0 * second.block()) / 1.6
    np.testing.assert_allclose(Stack(views).covariance.block(), expected)
    np.testing.assert_allclose(Stack(views[::2]).covariance.block(), first.block())


def test_the_evidence_of_weighted_means_is_the_density_of_what_is_left_out(graph):
    targets = np.cos(np.arange(12.0)).reshape(6, 2)
    smoother = Smoother(WalkKernel(graph), LABELLED, targets)
    errors = targets - smoother.leave_one_out().mean
    expected = norm(0, np.sqrt(smoother.noise)).logpdf(errors).sum()
    assert smoother.log_marginal_likelihood() == pytest.approx(expected)
