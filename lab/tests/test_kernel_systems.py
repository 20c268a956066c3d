"""The systems that are no graph networks, on two communities of a random graph."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, vstack

from gpgc_lab.baselines import Prediction, Problem

N_SIDE = 30
TRUTH = np.repeat([0, 1], N_SIDE)
NOTHING = np.array([], dtype=np.int64)

NEEDS = {
    "label_propagation": "scipy",
    "manifold_regularisation": "sklearn",
    "iterative_classification": "sklearn",
    "deep_walk": "gensim",
    "semi_supervised_embedding": "torch",
    "planetoid": "torch",
    "graph_gaussian_process": "torch",
}


@pytest.fixture(params=NEEDS)
def run(request):
    pytest.importorskip(NEEDS[request.param])
    return import_module(f"gpgc_lab.baselines.{request.param}").run


def communities(n_train: int = 4, n_validation: int = 6) -> Problem:
    """Return two dense communities with few edges between them, and features that hint at them."""
    rng = np.random.default_rng(0)
    chance = np.where(TRUTH[:, None] == TRUTH[None, :], 0.3, 0.01)
    upper = np.triu(rng.random(chance.shape) < chance, 1).astype(float)
    words = rng.random((2 * N_SIDE, 20)) < np.where(np.arange(20) % 2 == TRUTH[:, None], 0.5, 0.1)
    places = rng.permutation(N_SIDE)
    train, validation = (
        np.sort(np.concatenate([part, part + N_SIDE]))
        for part in (places[:n_train], places[n_train : n_train + n_validation])
    )
    labels = np.full(2 * N_SIDE, -1)
    seen = np.concatenate([train, validation])
    labels[seen] = TRUTH[seen]
    features = csr_array(words.astype(float))
    return Problem(csr_array(upper + upper.T), features, labels, train, validation, 2)


def check(prediction: Prediction, shape: tuple[int, int]) -> None:
    assert prediction.probabilities.shape == shape
    assert np.all(prediction.probabilities >= 0)
    np.testing.assert_allclose(prediction.probabilities.sum(axis=1), 1, atol=1e-6)
    assert prediction.train_seconds >= 0
    assert prediction.predict_seconds >= 0


def accuracy(problem: Problem, prediction: Prediction) -> float:
    rest = np.setdiff1d(np.arange(len(TRUTH)), np.concatenate([problem.train, problem.validation]))
    return float((prediction.probabilities.argmax(axis=1) == TRUTH)[rest].mean())


def test_tells_communities_apart_and_repeats_itself(run):
    problem = communities()
    prediction = run(problem, seed=1)
    check(prediction, (2 * N_SIDE, 2))
    assert accuracy(problem, prediction) > 0.9
    np.testing.assert_array_equal(run(problem, seed=1).probabilities, prediction.probabilities)


def test_needs_no_validation_labels_and_takes_dense_features_and_weights(run):
    problem = communities(n_validation=0)
    weighted = replace(
        problem, adjacency=problem.adjacency * 0.5, features=problem.features.toarray() - 0.3
    )
    prediction = run(weighted, seed=0)
    check(prediction, (2 * N_SIDE, 2))
    assert accuracy(problem, prediction) > 0.9


def test_one_label_a_class_is_enough_to_run(run):
    problem = communities(n_train=1, n_validation=0)
    check(run(problem, seed=0), (2 * N_SIDE, 2))


def test_isolated_node_has_a_distribution(run):
    problem = communities()
    lonely = replace(
        problem,
        adjacency=csr_array(block_diag([problem.adjacency, csr_array((1, 1))])),
        features=csr_array(vstack([problem.features, csr_array((1, 20))])),
        labels=np.append(problem.labels, -1),
    )
    prediction = run(lonely, seed=0)
    check(prediction, (2 * N_SIDE + 1, 2))


def test_learns_from_labels_of_one_class(run):
    problem = communities()
    train = problem.train[problem.labels[problem.train] == 0]
    prediction = run(replace(problem, train=train, validation=NOTHING), seed=0)
    check(prediction, (2 * N_SIDE, 2))
    np.testing.assert_array_equal(prediction.probabilities[train].argmax(axis=1), 0)


def test_labels_of_validation_nodes_are_not_learnt_from_by_label_propagation():
    run = import_module("gpgc_lab.baselines.label_propagation").run
    problem = communities()
    wrong = problem.labels.copy()
    wrong[problem.validation] = 1 - wrong[problem.validation]
    np.testing.assert_array_equal(
        run(problem, seed=0).probabilities,
        run(replace(problem, labels=wrong), seed=0).probabilities,
    )


def test_label_propagation_is_harmonic_up_to_the_weights_of_classes():
    run = import_module("gpgc_lab.baselines.label_propagation").run
    path = csr_array(np.diag([1.0, 2.0, 1.0], 1) + np.diag([1.0, 2.0, 1.0], -1))
    labels = np.array([0, -1, -1, 1])
    problem = Problem(path, np.eye(4), labels, np.array([0, 3]), NOTHING, 2)
    # Resistances 1, 1/2 and 1 divide the potential; by symmetry both classes weigh the same.
    expected = [[1, 0], [0.6, 0.4], [0.4, 0.6], [0, 1]]
    np.testing.assert_allclose(run(problem, seed=0).probabilities, expected, atol=1e-6)


def test_random_walks_follow_edges_in_proportion_to_their_weights():
    walks = import_module("gpgc_lab.baselines.walks")
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = [1.0, 2.0, 5.0]
    rng = np.random.default_rng(0)
    seen = walks.random_walks(csr_array(star), np.zeros(8000, dtype=np.int64), 2, rng)
    np.testing.assert_array_equal(seen[:, 2], 0)
    shares = np.bincount(seen[:, 1], minlength=4) / 8000
    np.testing.assert_allclose(shares, [0, 1 / 8, 2 / 8, 5 / 8], atol=0.02)


def test_graph_gaussian_process_has_the_covariance_of_neighbourhood_means():
    torch = pytest.importorskip("torch")
    module = import_module("gpgc_lab.baselines.graph_gaussian_process")
    problem = communities()
    kernel = module._Kernel(problem)
    X = kernel.features if isinstance(kernel.features, np.ndarray) else kernel.features.toarray()
    means = problem.adjacency.toarray() + np.eye(len(X))
    means /= means.sum(axis=1, keepdims=True)
    expected = means @ (X @ X.T + 0.7) ** 3 @ means.T
    rows, columns = np.array([3, 1, 40]), np.array([5, 7])
    between = module._polynomial(kernel.covariance(rows, columns), 0.7)
    np.testing.assert_allclose(between, expected[np.ix_(rows, columns)])
    own = module._polynomial(kernel.variance(rows), torch.tensor(0.7, dtype=torch.float64))
    np.testing.assert_allclose(own, expected.diagonal()[rows])


def test_graph_gaussian_process_learns_from_validation_labels_when_told():
    pytest.importorskip("torch")
    run = import_module("gpgc_lab.baselines.graph_gaussian_process").run
    problem = communities()
    wrong = problem.labels.copy()
    wrong[problem.validation] = 1 - wrong[problem.validation]
    deceived = replace(problem, labels=wrong)
    honest, learnt = run(problem, seed=0), run(deceived, seed=0)
    np.testing.assert_array_equal(honest.probabilities, learnt.probabilities)
    told = run(deceived, seed=0, learn_from_validation=True)
    nodes = problem.validation
    assert np.mean(told.probabilities.argmax(axis=1)[nodes] == wrong[nodes]) > 0.9


def test_chance_of_the_largest_agrees_with_simulation():
    torch = pytest.importorskip("torch")
    chance_of_largest = import_module("gpgc_lab.baselines.robust_max").chance_of_largest
    mean, variance = torch.tensor([[0.0], [1.0], [-0.5]]), torch.tensor([[1.0], [0.25], [4.0]])
    draws = np.random.default_rng(0).normal(mean[:, 0], variance[:, 0] ** 0.5, (200_000, 3))
    simulated = np.bincount(draws.argmax(axis=1)) / len(draws)
    exact = [
        chance_of_largest(mean.double(), variance.double(), torch.tensor([label])).item()
        for label in range(3)
    ]
    np.testing.assert_allclose(exact, simulated, atol=0.005)
