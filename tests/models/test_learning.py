"""Learning numbers by gradients: against finite differences, never worse, and what it says."""

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal, norm

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError
from gpgc.graph import Nodes, as_adjacency
from gpgc.kernels import SquaredExponential
from gpgc.models import APPNP, GCNII, SAGE, Prior, architecture_from
from gpgc.selection.choice import ChosenView
from gpgc.selection.learning import LearningProblem, graded_cost, learn
from gpgc.selection.noise_choice import NoiseSelector

COSTS = ["cross_entropy", "density", "evidence"]
NETWORKS = [
    APPNP(bias_variance=0.2),
    GCNII(depth=2, kernel="ntk"),
    SAGE(own=0.4, activation="gelu"),
    architecture_from("big", base_kernel=SquaredExponential(1.5)),
    architecture_from("broad", bias_variance=0.1),
]


def labels_of(n_nodes):
    rng = np.random.default_rng(2)
    labelled = np.sort(rng.permutation(n_nodes)[:10])
    return labelled, np.eye(3)[rng.integers(3, size=10)]


def selector_by(cost, targets, weights, relative=None):
    noise, criterion = ("evidence", "density") if cost == "evidence" else ("loo", cost)
    return NoiseSelector(targets, noise, criterion, weights, 0.1, relative)


def problem_of(awkward, network, cost, levels):
    graph, X = awkward
    labelled, targets = labels_of(24)
    prior, rng = Prior(network, Nodes(as_adjacency(graph), X)), np.random.default_rng(3)
    weights, relative = rng.uniform(0.5, 1, 10), rng.uniform(0.5, 2, 10)
    selector = selector_by(cost, targets, weights, relative)
    return LearningProblem(prior, "graph", labelled, levels, selector)


def test_costs_are_what_they_are_called():
    rng = np.random.default_rng(0)
    root, Y = rng.normal(size=(6, 9)), np.eye(3)[rng.integers(3, size=6)]
    K, weights, t = root @ root.T, rng.uniform(0.5, 1, 6), 2.0
    density, entropy = 0.0, 0.0
    for out, weight in enumerate(weights):
        kept = np.delete(np.arange(6), out)
        told = np.linalg.solve(K[np.ix_(kept, kept)], K[kept, out])
        mean, variance = told @ Y[kept], K[out, out] - told @ K[kept, out]
        density -= weight * norm(mean, np.sqrt(variance)).logpdf(Y[out]).sum()
        entropy -= weight * np.log(softmax(t * mean)[Y[out].argmax()])
    evidence = -sum(multivariate_normal(np.zeros(6), K).logpdf(column) for column in Y.T)
    expected = {"density": density, "cross_entropy": entropy, "evidence": evidence}
    for cost in COSTS:
        assert graded_cost(K, Y, cost, weights, t).cost == pytest.approx(expected[cost])


@pytest.mark.parametrize("cost", COSTS)
def test_derivatives_by_the_entries_of_the_covariance(cost):
    rng = np.random.default_rng(0)
    root, Y = rng.normal(size=(6, 9)), np.eye(3)[rng.integers(3, size=6)]
    K, weights, step = root @ root.T, rng.uniform(0.5, 1, 6), 1e-6
    found = graded_cost(K, Y, cost, weights, 2.0)
    for i, j in [(0, 0), (1, 4), (5, 2)]:
        change = np.zeros((6, 6))
        change[i, j] = change[j, i] = step
        up, down = (graded_cost(K + s * change, Y, cost, weights, 2.0).cost for s in (1, -1))
        expected = (found.by_covariance[i, j] + found.by_covariance[j, i]) / (1 + (i == j))
        assert (up - down) / (2 * step) == pytest.approx(expected, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: type(network).__name__)
def test_gradients_are_finite_differences(awkward, network, cost):
    levels = np.array([0.1, 0.2, 0.3]) if cost == "density" else np.array([0.2])
    problem = problem_of(awkward, network, cost, levels)
    at = problem.start + np.random.default_rng(1).normal(scale=0.1, size=len(problem.start))
    gradient, step = problem.graded(at)[1], 1e-3
    assert len(at) == len(problem.ranges) + len(levels) + (cost == "cross_entropy")
    for place in range(len(at)):
        shift = np.eye(len(at))[place] * step
        slope = (problem.graded(at + shift)[0] - problem.graded(at - shift)[0]) / (2 * step)
        assert gradient[place] == pytest.approx(slope, rel=3e-4, abs=3e-5)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("network", NETWORKS[:3], ids=lambda network: type(network).__name__)
def test_never_worse_than_the_start(awkward, network, cost):
    graph, X = awkward
    labelled, targets = labels_of(24)
    prior = Prior(network, Nodes(as_adjacency(graph), X))
    choice = ChosenView("graph", np.ones(1), np.array([0.2]))
    selector = selector_by(cost, targets, np.ones(10))
    found = learn(prior, labelled, choice, selector, iterations=5)
    assert found.costs[1] <= found.costs[0]
    still = learn(prior, labelled, choice, selector, iterations=0)
    assert (still.architecture, still.numbers) == (network, {})


@pytest.fixture
def far_graph():
    """Classes that only far neighbors tell: long chains of noisy nodes, a few of them labelled."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), 60)
    source = np.concatenate([np.arange(179), rng.integers(180, size=120)])
    target = np.concatenate([np.arange(1, 180), rng.integers(180, size=120)])
    kept = truth[source] == truth[target]
    X = rng.normal(size=(180, 8)) + 0.7 * np.eye(3, 8)[truth]
    y = np.full(180, -1)
    y[rng.permutation(180)[:36]] = 0
    y[y == 0] = truth[y == 0]
    return X, y, (source[kept], target[kept]), truth


@pytest.mark.parametrize("noise", ["loo", "evidence"])
def test_a_bad_teleport_is_unlearnt_and_held_out_log_loss_falls(far_graph, noise):
    X, y, edges, truth = far_graph
    start = APPNP(teleport=0.95)
    plain = GPGCClassifier(start, noise_variance=noise).fit(X, y, adjacency=edges)
    taught = GPGCClassifier(start, noise_variance=noise, learn=True).fit(X, y, adjacency=edges)
    assert plain.learned_ == {}
    before, after = taught.learned_["teleport"]
    assert before == 0.95
    assert after < 0.6
    assert taught.prior_.architecture.teleport == after
    held_out = np.flatnonzero(y < 0)
    losses = [
        -np.mean(np.log(one.predict_proba()[held_out, truth[held_out]])) for one in (plain, taught)
    ]
    assert losses[1] < losses[0]


def test_what_was_learnt_is_saved_and_relabelled(far_graph, tmp_path):
    X, y, edges, _ = far_graph
    estimator = GPGCClassifier(APPNP(teleport=0.9), learn=True).fit(X, y, adjacency=edges)
    estimator.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    assert again.learned_ == estimator.learned_
    np.testing.assert_array_equal(again.predict_proba(), estimator.predict_proba())
    learnt = dict(estimator.learned_)
    assert estimator.relabel(y).learned_ == learnt


def test_regression_learns_too(far_graph):
    X, y, edges, truth = far_graph
    values = np.where(y < 0, np.nan, truth.astype(float))
    two = np.column_stack([values, -values])
    for targets in (values, two):
        found = GPGCRegressor("sage", learn=True).fit(X, targets, adjacency=edges)
        assert "own" in found.learned_
    fixed = GPGCRegressor("sage", learn=True, noise_variance=0.1).fit(X, values, adjacency=edges)
    assert "noise_variance" not in fixed.learned_


def test_learn_must_be_true_or_false(far_graph):
    X, y, edges, _ = far_graph
    with pytest.raises(InputError, match="learn must be True or False, got 'yes'"):
        GPGCClassifier(learn="yes").fit(X, y, adjacency=edges)
