"""Labels of unequal trust: weights, soft labels, votes."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError
from gpgc.estimators.given import encode_given
from gpgc.gp import condition

NODES = np.array([1, 2, 3, 21, 6, 7])


@pytest.fixture
def labelled(awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[NODES] = [0, 1, 0, 1, 0, 1]
    return features, y, graph


def probabilities(*given, model="broad", **settings):
    weights = settings.pop("sample_weight", None)
    estimator = GPGCClassifier(model, dtype="float64", **settings)
    return estimator.fit(*given, sample_weight=weights).predict_proba()


def test_equal_weights_change_nothing(labelled):
    plain = probabilities(*labelled)
    assert (probabilities(*labelled, sample_weight=np.ones(24)) == plain).all()


@pytest.mark.parametrize("model", ["small", "big", "broad"])
@pytest.mark.parametrize("noise", ["loo", "evidence", 0.1])
def test_a_label_of_no_weight_is_none(labelled, model, noise):
    features, y, graph = labelled
    without = y.copy()
    without[7] = -1
    settings = {"model": model, "noise_variance": noise}
    weights = np.ones(24)
    expected = probabilities(features, without, graph, **settings)
    weights[7] = 0
    none = probabilities(features, y, graph, sample_weight=weights, **settings)
    np.testing.assert_array_equal(none, expected)


def test_a_label_of_little_weight_is_nearly_none(labelled):
    features, y, graph = labelled
    without = y.copy()
    without[7] = -1
    for noise in (0.1, "loo"):
        for model in ("big", "broad"):
            settings = {"noise_variance": noise}
            few = GPGCClassifier(model, dtype="float64", **settings).fit(features, without, graph)
            weights = np.where(np.arange(24) == 7, 1e-9, 1.0)
            light = GPGCClassifier(model, dtype="float64", **settings)
            light.fit(features, y, graph, sample_weight=weights)
            # levels are relative to the mean variance of the labelled nodes, one more here
            assert light.noise_variance_ == pytest.approx(few.noise_variance_, rel=0.3)
            atol = 1e-6 if noise == 0.1 else 0.05
            np.testing.assert_allclose(light.predict_latent(), few.predict_latent(), atol=atol)


def test_the_posterior_is_that_of_noise_over_weight(labelled):
    features, y, graph = labelled
    weights = np.random.default_rng(1).uniform(0.2, 5, 24)
    estimator = GPGCClassifier("big", noise_variance=0.3, dtype="float64")
    estimator.fit(features, y, graph, sample_weight=weights)
    gamma = estimator.covariance_.dense()
    inner = gamma[np.ix_(NODES, NODES)] + np.diag(0.3 / weights[NODES])
    targets = np.eye(2)[y[NODES]]
    order = np.argsort(NODES)
    assert (estimator.labelled_nodes_ == NODES[order]).all()
    np.testing.assert_allclose(estimator.sample_weight_, weights[NODES[order]])
    mean = gamma[:, NODES] @ np.linalg.solve(inner, targets)
    np.testing.assert_allclose(estimator.predict_latent(), mean, atol=1e-10)
    left_out, std = estimator.leave_one_out()
    for place, node in enumerate(estimator.labelled_nodes_):
        rest = NODES[node != NODES]
        block = gamma[np.ix_(rest, rest)] + np.diag(0.3 / weights[rest])
        solved = np.linalg.solve(block, np.column_stack([np.eye(2)[y[rest]], gamma[rest, node]]))
        np.testing.assert_allclose(left_out[place], gamma[node, rest] @ solved[:, :2], atol=1e-10)
        variance = gamma[node, node] - gamma[node, rest] @ solved[:, 2] + 0.3 / weights[node]
        assert std[place] ** 2 == pytest.approx(variance)


@pytest.mark.parametrize("space", ["function", "weight"])
def test_repeated_observations_are_their_mean_with_weight(space):
    rng = np.random.default_rng(0)
    covariance = gpgc.kernels.Features.of(gpgc.kernels.InnerProduct(), rng.normal(size=(9, 4)))
    nodes, votes = np.array([0, 0, 0, 3, 5]), rng.normal(size=(5, 2))
    apart = condition(covariance, nodes, votes, np.array([0.2]), space="function")
    once, means = np.array([0, 3, 5]), np.stack([votes[:3].mean(axis=0), votes[3], votes[4]])
    relative = np.array([1 / 3, 1, 1])
    together = condition(
        covariance, once, means, np.array([0.2]), relative_noise=relative, space=space
    )
    np.testing.assert_allclose(together.mean(), apart.mean(), atol=1e-9)
    np.testing.assert_allclose(together.variance(), apart.variance(), atol=1e-9)


def test_weights_in_weight_space_are_those_in_function_space(two_moons):
    features, _, truth = two_moons
    weights = np.random.default_rng(0).uniform(0.1, 3, 80)
    estimator = GPGCClassifier(
        "small", depth=1, base_kernel="inner_product", noise_variance=0.1, dtype="float64"
    )
    estimator.fit(features, truth, sample_weight=weights)
    assert estimator.covariance_.rank < 80
    other = condition(
        estimator.covariance_,
        estimator.labelled_nodes_,
        np.eye(2)[truth],
        np.array([0.1]),
        relative_noise=1 / weights,
        space="function",
    )
    np.testing.assert_allclose(estimator.predict_latent(), other.mean(), atol=1e-9)
    loo, there = estimator.posterior_.leave_one_out(), other.leave_one_out()
    np.testing.assert_allclose(loo.mean, there.mean, atol=1e-8)


def test_distrusted_errors_do_not_mislead(two_moons):
    features, _, truth = two_moons
    y = truth.copy()
    wrong = np.arange(0, 40, 3)
    y[wrong] = 1
    weights = np.where(np.isin(np.arange(80), wrong), 0.02, 1.0)
    plain = GPGCClassifier().fit(features, y).predict_proba()[wrong, 0]
    trusting = GPGCClassifier().fit(features, y, sample_weight=weights).predict_proba()[wrong, 0]
    assert trusting.mean() > plain.mean()
    assert (trusting > 0.5).all()


def test_one_hot_rows_are_labels(labelled):
    features, y, graph = labelled
    rows = np.where((y >= 0)[:, None], np.eye(2)[y], np.nan)
    assert (probabilities(features, rows, graph) == probabilities(features, y, graph)).all()
    frame = pd.DataFrame(rows, columns=["b", "a"])
    named = GPGCClassifier().fit(features, frame, graph)
    assert named.classes_.tolist() == ["a", "b"]
    assert named.transduction_[1] == "b"


def test_soft_labels_lie_between(labelled):
    features, y, graph = labelled
    rows = np.where((y >= 0)[:, None], np.eye(2)[y], 0.0)
    sure = probabilities(features, rows, graph, class_prior="labels", noise_variance=0.1)
    rows[7] = [0.5, 0.5]
    between = probabilities(features, rows, graph, class_prior="labels", noise_variance=0.1)
    assert sure[7, 1] > between[7, 1] > 0.2


def test_votes_are_soft_labels_with_weights(labelled, tmp_path):
    features, _, graph = labelled
    nodes, labels = [1, 1, 1, 2, 6, 7, 7], ["a", "a", "b", "b", "a", "b", "b"]
    votes = gpgc.count_votes(nodes, labels, 24)
    model = GPGCClassifier().fit(features, votes, graph, sample_weight=votes.weight)
    assert model.labelled_nodes_.tolist() == [1, 2, 6, 7]
    assert model.sample_weight_.tolist() == [3, 1, 1, 2]
    assert model.transduction_[[1, 2]].tolist() == ["a", "b"]
    model.save(tmp_path / "votes.gpgc")
    again = gpgc.load(tmp_path / "votes.gpgc")
    np.testing.assert_allclose(again.predict_proba(), model.predict_proba(), atol=1e-6)
    np.testing.assert_allclose(again.leave_one_out()[0], model.leave_one_out()[0], atol=1e-9)


def test_weights_are_aligned_by_name():
    graph = nx.path_graph(["c", "a", "b", "d"])
    y = pd.Series([0, 0, 1, -1], index=["a", "b", "c", "d"])
    weights = pd.Series([3.0, 4.0, 2.0, 1.0], index=["b", "c", "a", "d"])
    model = GPGCClassifier().fit(None, y, graph, sample_weight=weights)
    assert model.sample_weight_.tolist() == [4, 2, 3]
    with pytest.raises(InputError, match="sample_weight must name its nodes"):
        GPGCClassifier().fit(None, y, graph, sample_weight=[1.0, 2.0, 3.0, 4.0])


def test_regression_trusts_what_it_is_told_to(tmp_path):
    chain = (np.arange(9), np.arange(1, 10))
    y = np.array([0.0, np.nan, 0.2, 9.0, np.nan, 0.5, np.nan, 0.7, np.nan, 1.0])
    weights = np.where(np.arange(10) == 3, 1e-4, 1.0)
    fitted = GPGCRegressor(dtype="float64").fit(None, y, chain, sample_weight=weights)
    without = y.copy()
    without[3] = np.nan
    expected = GPGCRegressor(dtype="float64").fit(None, without, chain)
    np.testing.assert_allclose(fitted.predict(), expected.predict(), atol=0.05)
    weights[3] = 0
    again = GPGCRegressor(dtype="float64").fit(None, y, chain, sample_weight=weights)
    np.testing.assert_array_equal(again.predict(), expected.predict())
    fitted.save(tmp_path / "model.gpgc")
    loaded = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_allclose(loaded.predict(), fitted.predict(), rtol=1e-9)
    scaled = GPGCRegressor(dtype="float64").fit(None, 1e6 * y, chain, sample_weight=weights)
    np.testing.assert_allclose(scaled.predict(), 1e6 * again.predict(), rtol=1e-6)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], "for each of the 3 nodes"),
        ([[1.0, 2.0, 3.0]], "got shape"),
        ([1.0, -2.0, 1.0], "at least 0, got -2"),
        ([1.0, np.nan, 1.0], "finite"),
        ([1.0, 1e40, 1.0], "from 1e-10 to 1e.10, got 1e.40"),
        ([1.0, 1e-40, 0.0], "from 1e-10 to 1e.10, got 1e-40"),
        (["a", "b", "c"], "must hold a number"),
        ([0.0, 0.0, 5.0], "at least one labelled node"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        GPGCClassifier().fit(None, [0, 1, -1], ([0, 1], [1, 2]), sample_weight=weights)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, 0.6], [0, 1]], "sum to 1"),
        ([[1.5, -0.5], [0, 1]], "sum to 1"),
        ([[1.0, 0.0], [1.0, 0.0]], "some probability, got none for '1'"),
        ([[np.nan, 0.0], [1.0, 0.0]], "sum to 1"),
        ([["a", "b"], ["b", "c"]], "rows of probabilities|real numbers"),
        ([[0.0, 0.0], [np.nan, np.nan]], "at least one label"),
    ],
)
def test_bad_soft_labels_are_refused(rows, message):
    with pytest.raises(InputError, match=message):
        encode_given(rows)


@pytest.mark.parametrize(
    "given",
    [([0.5], ["a"]), ([9], ["a"]), ([0, 1], ["a"]), ([], [])],
)
def test_bad_votes_are_refused(given):
    with pytest.raises(InputError, match="must"):
        gpgc.count_votes(*given, n_nodes=3)
    with pytest.raises(InputError, match="weights must"):
        gpgc.count_votes([0], ["a"], 3, weights=[0])


@pytest.mark.parametrize("weight", [1e-10, 1e10])
@pytest.mark.filterwarnings("error")
def test_the_least_and_the_largest_weights_give_probabilities(weight):
    weights = np.array([1.0, weight, weight, 1.0])
    for given in (weights, np.full(4, weight)):
        links = ([0, 1, 2], [1, 2, 3])
        model = GPGCClassifier().fit(None, [0, 0, 1, -1], links, sample_weight=given)
        assert np.isfinite(model.predict_proba()).all()


def test_a_noise_beyond_numbers_is_refused():
    with pytest.raises(InputError, match=r"noise_variance must be from 0 to 1e.30, got 1e.100"):
        GPGCClassifier(noise_variance=1e100).fit(None, [0, 1, -1], ([0, 1], [1, 2]))
