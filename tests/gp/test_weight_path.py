"""Noise levels in weight space: the same as in function space, and as one level at a time."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.gp import (
    FunctionSpace,
    LabelledRoot,
    NoisePath,
    RootFactor,
    Smoother,
    WeightPath,
    WeightSpace,
    condition,
)
from gpgc.graph import Nodes, as_adjacency
from gpgc.kernels import LowRank
from gpgc.models import Broad, Prior
from gpgc.selection import choice as choice_module
from gpgc.selection.choice import choose
from gpgc.selection.noise_choice import NoiseSelector, choose_noise

LEVELS = np.array([1e-3, 0.05, 2.0])


@pytest.fixture(scope="module")
def prior():
    rng = np.random.default_rng(0)
    classes = np.arange(150) % 2
    graph = as_adjacency(sp.random_array((150, 150), density=0.03, rng=rng))
    features = rng.normal(size=(150, 9)) + classes[:, None]
    return Prior(Broad(exact_nodes=10, n_landmarks=8, one_hot_nodes=10), Nodes(graph, features))


@pytest.fixture(scope="module", params=[False, True], ids=["alike", "weighted"])
def labels(request):
    rng = np.random.default_rng(1)
    relative = rng.uniform(0.5, 2.0, size=80) if request.param else None
    return rng.permutation(150)[:80], rng.normal(size=(80, 3)), relative


@pytest.fixture
def root(prior, labels):
    return LabelledRoot.of(prior.covariance(), *labels)


def test_all_levels_are_those_of_function_space(prior, labels, root):
    labelled, targets, relative = labels
    by_weights = WeightPath(root)
    by_functions = NoisePath(prior.covariance().block(labelled, labelled), targets, relative)
    assert by_weights.scale == pytest.approx(by_functions.scale)
    for found, expected in zip(
        by_weights.at(LEVELS).leave_one_out(), by_functions.at(LEVELS).leave_one_out(), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(
        by_weights.at(LEVELS).log_marginal_likelihood(),
        by_functions.at(LEVELS).log_marginal_likelihood(),
        rtol=1e-8,
    )
    one = by_weights.of_targets([1])
    np.testing.assert_allclose(
        one.at(LEVELS).log_marginal_likelihood(),
        by_functions.of_targets([1]).at(LEVELS).log_marginal_likelihood(),
        rtol=1e-8,
    )
    np.testing.assert_allclose(
        one.at(LEVELS).leave_one_out()[0], found_column(by_functions), atol=1e-8
    )


def found_column(path):
    return path.at(LEVELS).leave_one_out()[0][:, :, [1]]


def test_leaving_one_out_is_leaving_it_out(prior, labels, root):
    labelled, targets, relative = labels
    mean, variance = WeightPath(root).at(LEVELS[1:2]).leave_one_out()
    rest = np.delete(np.arange(80), 7)
    without = condition(
        prior.covariance(),
        labelled[rest],
        targets[rest],
        LEVELS[1:2],
        relative_noise=None if relative is None else relative[rest],
    )
    noise = LEVELS[1] * (1 if relative is None else relative[7])
    np.testing.assert_allclose(mean[0, 7], without.mean(labelled[[7]])[0], atol=1e-8)
    assert variance[0, 7] == pytest.approx(without.variance(labelled[[7]])[0] + noise)


def test_a_sample_of_labels_is_left_out_as_all_are(root):
    among = np.array([3, 50, 11])
    every, some = WeightPath(root).at(LEVELS[1]), RootFactor.of(root, LEVELS[1])
    for found, expected in zip(some.leave_one_out(among), every.leave_one_out(), strict=True):
        np.testing.assert_allclose(found, expected[among], atol=1e-8)
    evidence = some.log_marginal_likelihood()
    np.testing.assert_allclose(evidence, every.log_marginal_likelihood(), rtol=1e-8)


@pytest.mark.parametrize("criterion", ["cross_entropy", "density"])
def test_a_small_rank_chooses_on_all_labels_as_function_space_does(prior, criterion, monkeypatch):
    labelled, codes = np.arange(120), np.arange(120) % 2
    targets = np.eye(2)[codes] + (0.1 * np.eye(2)[1 - codes] if criterion == "density" else 0)
    monkeypatch.setattr(choice_module, "LABELS_FOR_VIEWS", 40)
    monkeypatch.setattr(choice_module, "MANY_LABELS", 80)
    weights, usual = np.full(120, 0.9), prior.architecture.relative_noise
    found = choose(prior, labelled, NoiseSelector(targets, "loo", criterion, weights, usual))
    for view in found.views:
        if prior.is_smoother(view.name):
            continue
        assert isinstance(view.known, LabelledRoot)
        path = NoisePath(prior.view(view.name).block(labelled, labelled), targets)
        parts = (
            [path] if criterion == "cross_entropy" else [path.of_targets([0]), path.of_targets([1])]
        )
        levels = [choose_noise(part, criterion, weights, usual).noise_variance for part in parts]
        np.testing.assert_allclose(view.levels, levels)


def test_the_noise_goes_on_to_be_searched_on_all_labels(prior):
    rng = np.random.default_rng(3)
    labelled, covariance = np.arange(140), prior.covariance()
    values = covariance.root(labelled) @ rng.normal(size=(covariance.rank, 2))
    targets = values + np.array([0.02, 0.3]) * rng.normal(size=values.shape)
    root = LabelledRoot.of(covariance, labelled, targets)
    path, near = WeightPath(root), np.array([10**-0.5, 1, 10**0.5])
    selector = NoiseSelector(targets, "loo", "density", np.ones(140), 0.01)
    found = selector.search(root, labelled, np.array([0.05, 0.05]))
    assert found[0] < 0.01 < found[1]
    for column, level in enumerate(found):
        mean, variance = path.of_targets([column]).at(level * near).leave_one_out()
        error = (targets[:, [column]] - mean)[:, :, 0] ** 2 / variance
        losses = 0.5 * (error + np.log(variance)).sum(axis=1)
        pull = 0.5 * np.log10(level * near / root.scale / 0.01) ** 2
        assert (losses + pull).argmin() == 1
    selector = NoiseSelector(targets, "evidence", "density", np.ones(140), 0.01)
    (level,) = selector.search(root, labelled, np.array([0.05]))
    assert path.at(level * near).log_marginal_likelihood().argmax() == 1


@pytest.mark.parametrize("kind", [GPGCClassifier, GPGCRegressor])
def test_an_estimator_can_be_told_where(kind, prior):
    nodes = prior.nodes
    y = np.where(np.arange(150) < 100, np.arange(150) % 2, -1)
    if kind is GPGCRegressor:
        y = np.where(y < 0, np.nan, y + 0.1 * np.sin(np.arange(150)))
    architecture = Broad(exact_nodes=10, n_landmarks=8, one_hot_nodes=10)
    answers = {}
    for space, posterior in (("weight", WeightSpace), ("function", FunctionSpace)):
        estimator = kind(architecture, dtype="float64", noise_variance=0.03, space=space)
        estimator.fit(nodes.features, y, adjacency=nodes.adjacency)
        parts = [view.posterior for view in estimator.posterior_.views]
        assert all(isinstance(part, posterior | Smoother) for part in parts)
        answers[space] = [
            *estimator.predict_latent(return_std=True),
            *estimator.leave_one_out(),
            np.array(estimator.log_marginal_likelihood_),
        ]
    for found, expected in zip(*answers.values(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-8, rtol=1e-8)
    auto = kind(architecture).fit(nodes.features, y, nodes.adjacency).posterior_
    assert isinstance(auto.views[0].posterior, WeightSpace)


def test_a_space_that_is_none(prior):
    nodes, y = prior.nodes, np.where(np.arange(150) < 100, np.arange(150) % 2, -1)
    with pytest.raises(InputError, match="space must be one of auto, function, weight"):
        GPGCClassifier(space="frequency").fit(nodes.features, y, nodes.adjacency)


@pytest.mark.parametrize("how", ["loo", "evidence"])
def test_each_target_finds_the_noise_that_it_finds_alone(how):
    """Also where noise is searched for one level at a time, as with many labels and columns."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 30))
    covariance = LowRank(rows, Context())
    labelled = np.arange(300)
    signal = rows[:300] @ rng.normal(size=(30, 3))
    targets = signal + rng.normal(size=(300, 3)) * [0.01, 3.0, 30.0]
    targets = (targets - targets.mean(axis=0)) * [1.0, 1.0, 100.0]
    weights, start = np.ones(300), np.full(3, 3.0)

    def search(columns):
        root = LabelledRoot.of(covariance, labelled, targets[:, columns])
        selector = NoiseSelector(targets[:, columns], how, "density", weights, 0.1)
        return selector.search(root, labelled, start[columns])

    together = search(np.arange(3))
    alone = [search(np.array([column]))[0] for column in range(3)]
    np.testing.assert_allclose(together, alone)
    assert len(np.unique(together)) == 3
