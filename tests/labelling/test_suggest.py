"""Growing a posterior and choosing what to label, against brute force."""

import numpy as np
import pytest

import gpgc
from gpgc.errors import InputError
from gpgc.estimators.given import GivenLabels
from gpgc.gp import condition
from gpgc.labelling.growing import GrowingPosterior
from gpgc.labelling.labelling import Labelling, suggest
from gpgc.labelling.planning import LABEL_NOISE, Plan
from gpgc.selection.choice import Choice, ChosenView
from tests.conftest import random_graph


@pytest.fixture
def graph():
    rng = np.random.default_rng(1)
    return random_graph(30, seed=2), rng.normal(size=(30, 4))


def test_growing_equals_refitting(graph):
    covariance = gpgc.covariance(*graph)
    rng = np.random.default_rng(0)
    nodes, targets = np.array([3, 17, 8, 25, 1]), rng.normal(size=(5, 2))
    growing = GrowingPosterior(covariance, 0.1, n_targets=2)
    for size in range(1, 6):
        growing.observe(nodes[size - 1 : size], targets[size - 1 : size])
        fresh = condition(covariance, nodes[:size], targets[:size], np.array([0.1]))
        np.testing.assert_allclose(growing.mean, fresh.mean(), atol=1e-10)
        left = fresh.joint_covariance()
        np.testing.assert_allclose(growing.variance, np.diagonal(left), atol=1e-10)
        every = np.arange(30)
        np.testing.assert_allclose(growing.residual(every, every), left, atol=1e-10)


def test_observing_at_once_equals_one_by_one(graph):
    covariance = gpgc.covariance(*graph)
    one, many = (GrowingPosterior(covariance, 0.1, 1) for _ in range(2))
    for node in (4, 9, 20):
        one.observe([node], [[1.0]])
    many.observe([4, 9, 20], np.ones((3, 1)))
    np.testing.assert_allclose(one.mean, many.mean)
    assert one.copy().mean is not one.mean


def test_a_new_class_is_a_column_of_zeros_so_far(graph):
    covariance = gpgc.covariance(*graph)
    late, early = GrowingPosterior(covariance, 0.1, 1), GrowingPosterior(covariance, 0.1, 2)
    late.observe([0, 1], [[1.0], [1.0]])
    late.widen(2)
    late.observe([2], [[0.0, 1.0]])
    early.observe([0, 1, 2], [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(late.mean, early.mean, atol=1e-12)


def brute_force_gains(covariance, picked, weights):
    """Total weighted variance before and after a further label, by plain Gaussian conditioning."""
    gamma = covariance.dense()
    gamma = gamma - gamma.mean(axis=0) - gamma.mean(axis=1)[:, None] + gamma.mean()
    noise = LABEL_NOISE * np.trace(gamma) / len(gamma)

    def total(nodes):
        chosen = np.array(nodes, dtype=int)
        cross = gamma[:, chosen]
        inner = cross[chosen] + noise * np.eye(len(chosen))
        left = np.diagonal(gamma) - np.einsum(
            "id,de,ie->i", cross, np.linalg.inv(inner), cross, optimize=True
        )
        return weights @ left

    return np.array([weights[j] * (total(picked) - total([*picked, j])) for j in range(len(gamma))])


def test_variance_gain_is_the_fall_of_the_total_variance(graph):
    adjacency, features = graph
    labelling = Labelling.on(features, None, adjacency, dtype="float64")
    nodes, gains = labelling.suggest(4, "variance")
    covariance = labelling._prior.planning()
    for step, (node, gain) in enumerate(zip(nodes, gains, strict=True)):
        expected = brute_force_gains(covariance, list(nodes[:step]), np.ones(30))
        expected[nodes[:step]] = -np.inf
        assert gain == pytest.approx(expected.max(), rel=1e-6)
        assert node == expected.argmax()


def test_weighted_gain_counts_by_uncertainty(graph):
    adjacency, features = graph
    labelling = Labelling.on(features, None, adjacency, dtype="float64")
    given = list(range(8))
    labelling.add(given, ["a", "b"] * 4)
    weights = 1 - (labelling.predict_proba() ** 2).sum(axis=1)
    expected = brute_force_gains(labelling._prior.planning(), given, weights)
    expected[given] = -np.inf
    (node,), (gain,) = labelling.suggest(1, "weighted")
    assert gain == pytest.approx(expected.max(), rel=1e-6)
    assert node == expected.argmax()


def test_few_labels_are_chosen_by_variance_alone(graph):
    adjacency, features = graph
    labelling = Labelling.on(features, None, adjacency)
    labelling.add([0, 1, 2, 3, 4, 5, 6], ["a", "b", "a", "b", "a", "b", "a"])
    by_variance = labelling.suggest(1, "variance")
    assert labelling.suggest(1, "weighted").gains == pytest.approx(by_variance.gains)
    labelling.add([7], ["b"])
    assert labelling.suggest(1, "weighted").gains != pytest.approx(
        labelling.suggest(1, "variance").gains
    )


def test_witnesses_of_large_graphs_estimate_the_same_order(graph, monkeypatch):
    covariance = gpgc.covariance(*graph, model="broad")
    exact = Plan(covariance, np.arange(30)).gains(np.ones(30))
    monkeypatch.setattr("gpgc.labelling.planning.EXACT_NODES", 10)
    monkeypatch.setattr("gpgc.labelling.planning.N_WITNESSES", 25)
    sampled = Plan(covariance, np.arange(30))
    assert len(sampled.witnesses) == 25
    assert np.corrcoef(exact, sampled.gains(np.ones(30)))[0, 1] > 0.8


def test_adding_labels_equals_the_estimator_at_the_same_choices(two_moons):
    features, labels, _ = two_moons
    labelling = Labelling.on(features, dtype="float64", refresh="manual")
    nodes = np.flatnonzero(labels >= 0)
    labelling.add(nodes[:5], labels[nodes[:5]])
    labelling.predict_proba()
    labelling.add(nodes[5:], labels[nodes[5:]])
    labelling.predict_proba()
    y = np.full(80, -1)
    y[nodes[:5]] = labels[nodes[:5]]
    first = gpgc.GPGCClassifier(dtype="float64").fit(features, y)
    y[nodes] = labels[nodes]
    given = GivenLabels.certain(y, first.classes_)
    choice = Choice(
        tuple(
            ChosenView(view.name, view.weight, first.noise_levels_[view.name])
            for view in first.posterior_.views
        ),
        first.posterior_.inflation,
    )
    again = gpgc.GPGCClassifier(dtype="float64").fit_prior(first.prior_, given, choice)
    np.testing.assert_allclose(labelling._posterior.mean, again.predict_latent(), atol=1e-7)
    assert labelling.classes == [0, 1]


def test_nodes_of_which_labels_say_nothing_have_the_shares_of_the_labels():
    path = (np.arange(3), np.arange(1, 4))
    labelling = Labelling.on(None, np.full(30, -1), path)
    labelling.add([0, 1, 3], ["a", "a", "b"])
    np.testing.assert_allclose(labelling.predict_proba()[4:], [[2 / 3, 1 / 3]] * 26)


def test_copies_go_on_by_themselves(graph):
    adjacency, features = graph
    labelling = Labelling.on(features, None, adjacency)
    labelling.add([0, 1], ["a", "b"])
    before, proba = labelling.suggest().gains, labelling.predict_proba()
    other = labelling.copy()
    other.add([2, 3], ["c", "a"])
    other.predict_proba()
    assert labelling.classes == ["a", "b"]
    np.testing.assert_array_equal(labelling.suggest().gains, before)
    np.testing.assert_array_equal(labelling.predict_proba(), proba)
    straight = Labelling.on(features, None, adjacency)
    straight.add([0, 1, 2, 3], ["a", "b", "c", "a"])
    assert straight.suggest().nodes == other.suggest().nodes


def test_candidates_costs_and_labelled_nodes(graph):
    adjacency, features = graph
    nodes, _ = suggest(features, adjacency=adjacency, n=5, candidates=[4, 7, 9])
    assert sorted(nodes) == [4, 7, 9]
    y = np.full(30, -1)
    y[[4, 9]] = 0, 1
    assert suggest(features, y, adjacency, n=3, candidates=[4, 7, 9]).nodes.tolist() == [7]
    free, gains = suggest(features, adjacency=adjacency, n=1)
    costs = np.ones(30)
    costs[free] = 1e6
    assert suggest(features, adjacency=adjacency, costs=costs).nodes != free
    dear = suggest(features, adjacency=adjacency, costs=np.full(30, 2.0))
    assert dear.gains == pytest.approx(gains / 2)


@pytest.mark.parametrize("strategy", ["weighted", "variance"])
def test_batches_do_not_repeat_themselves(strategy):
    """Every node has a twin, which is as good on its own but worth little after the other."""
    rng = np.random.default_rng(0)
    features = np.tile(rng.normal(size=(40, 3)), (2, 1))
    y = np.full(80, -1)
    y[:8] = 0, 1, 0, 1, 0, 1, 0, 1
    nodes, gains = suggest(features, y, n=3, strategy=strategy, n_neighbors=4)
    assert len(set(nodes % 40)) == 3
    assert (np.diff(gains) < 0).all()


def test_wrong_arguments_are_named(graph):
    adjacency, features = graph
    labelling = Labelling.on(features, None, adjacency)
    for call, word in (
        (lambda: labelling.suggest(0), "n must"),
        (lambda: labelling.suggest(1, "luck"), "strategy"),
        (lambda: labelling.add([1, 1], [0, 1]), "different"),
        (lambda: labelling.add([1], [0, 1]), "one for each"),
        (lambda: labelling.add([1], [-1]), "blank"),
        (lambda: labelling.predict_proba(), "at least one label"),
        (lambda: suggest(features, adjacency=adjacency, costs=[1.0]), "costs"),
        (lambda: suggest(features, adjacency=adjacency, candidates=[99]), "candidates must"),
        (lambda: GrowingPosterior(labelling._prior.covariance(), 0.0), "noise_variance"),
        (lambda: labelling._plan._posterior.observe([1], [[1.0]]), "targets"),
    ):
        with pytest.raises(InputError, match=word):
            call()


@pytest.mark.data
def test_first_labels_of_cora_find_the_classes(lab_datasets, data_dir):
    data = lab_datasets.load_planetoid("cora", data_dir)
    nodes, _ = suggest(data.features, adjacency=data.adjacency, n=20)
    assert len(set(data.labels[nodes[:7]])) >= 5
    assert len(set(data.labels[nodes])) == 7


def test_nodes_that_hardly_differ_are_suggested_without_overflow():
    n_nodes = 8_000
    star = (np.zeros(n_nodes - 1, dtype=int), np.arange(1, n_nodes))
    y = np.full(n_nodes, -1)
    y[[5, 6]] = [0, 1]
    found = gpgc.GPGCClassifier().fit(None, y, star).suggest(20)
    assert len(np.unique(found.nodes)) == 20
    assert np.isfinite(found.gains).all()
    assert found.gains.max() < 0.01
