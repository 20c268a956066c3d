"""Why a node gets its label: contributions that add up."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError
from gpgc.estimators.given import encode_given
from gpgc.selection.choice import Choice, ChosenView


@pytest.fixture
def labelled(awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[[1, 2, 3, 21, 6, 7, 8]] = [0, 1, 0, 1, 0, 2, 2]
    return features, y, graph


def adds_up(found, score, atol=1e-9):
    np.testing.assert_allclose(found.offset + found.contributions.sum(axis=0), found.total)
    np.testing.assert_allclose(found.total, score, atol=atol)
    by_view = found.offset + sum(found.views.values())
    np.testing.assert_allclose(by_view, found.total, atol=atol)


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_contributions_add_up_to_the_score(labelled, model):
    estimator = GPGCClassifier(model, dtype="float64").fit(*labelled)
    scores = estimator.decision_function()
    for node in range(24):
        found = estimator.explain(node)
        adds_up(found, scores[node], 1e-8)
        assert found.predicted == estimator.predict()[node]
        assert sorted(found.nodes) == estimator.labelled_nodes_.tolist()
        assert (found.given == labelled[1][found.nodes]).all()


def test_a_label_adds_to_its_own_class_what_leaving_its_value_out_takes(labelled):
    features, y, graph = labelled
    weights = np.where(np.arange(24) == 7, 0.5, 2.0)
    settings = {"noise_variance": 0.1, "dtype": "float64", "model": "big"}
    estimator = GPGCClassifier(**settings).fit(features, y, graph, sample_weight=weights)
    found = estimator.explain(10)
    own = found.contributions[np.arange(7), found.given]
    assert np.count_nonzero(found.contributions) <= 7
    rest = estimator.posterior_.covariance.dense()
    nodes = estimator.labelled_nodes_
    inner = rest[np.ix_(nodes, nodes)] + np.diag(0.1 / weights[nodes])
    smoother = rest[10, nodes] @ np.linalg.inv(inner)
    expected = estimator.temperature_ * smoother[np.searchsorted(nodes, found.nodes)]
    np.testing.assert_allclose(own, expected, atol=1e-9)


def test_views_of_a_stack_add_up(labelled):
    features, y, graph = labelled
    estimator = GPGCClassifier(dtype="float64")
    chosen = [
        ChosenView("graph", np.array([2 / 3]), np.array([0.05])),
        ChosenView("features", np.array([1 / 3]), np.array([0.2])),
    ]
    prior = estimator.make_prior(features, graph, 24)
    estimator.fit_prior(prior, encode_given(y), Choice(tuple(chosen), np.ones(1)))
    found = estimator.explain(10)
    assert list(found.views) == ["graph", "features"]
    adds_up(found, estimator.decision_function()[10], 1e-8)
    assert all(part.any() for part in found.views.values())


def test_weight_space_gives_the_same(two_moons):
    features, _, truth = two_moons
    settings = {"model": "small", "depth": 1, "dtype": "float64", "noise_variance": 0.1}
    estimator = GPGCClassifier(**settings).fit(features, truth)
    assert estimator.covariance_.rank < 80
    found = estimator.explain(3)
    np.testing.assert_allclose(found.offset + sum(found.views.values()), found.total, atol=1e-7)
    gamma = estimator.covariance_.dense()
    smoother = gamma[3] @ np.linalg.inv(gamma + 0.1 * np.eye(80))
    expected = estimator.temperature_ * smoother[found.nodes]
    np.testing.assert_allclose(found.contributions.sum(axis=1), expected, atol=1e-7)


def test_a_node_that_no_label_reaches_has_no_contributions(awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[[1, 2]] = [0, 1]
    estimator = GPGCClassifier(dtype="float64").fit(features, y, graph)
    found = estimator.explain(5)
    assert not found.contributions.any()
    np.testing.assert_allclose(found.total, np.log(estimator.class_prior_))


def test_values_are_explained_from_their_mean():
    chain = (np.arange(9), np.arange(1, 10))
    y = np.array([1.0, np.nan, 3.0, np.nan, np.nan, 8.0, np.nan, 9.0, np.nan, 2.0])
    one = GPGCRegressor(dtype="float64").fit(None, y, chain)
    for node in range(10):
        found = one.explain(node)
        adds_up(found, one.predict()[node])
        assert found.offset == pytest.approx(np.nanmean(y))
    two = GPGCRegressor(dtype="float64", noise_variance=[0.1, 0.5])
    two.fit(None, np.column_stack([y, -(y**2)]), chain)
    adds_up(two.explain(4), two.predict()[4])
    assert "given" in str(two.explain(4))


def test_it_is_printed_with_the_strongest_first(labelled):
    estimator = GPGCClassifier().fit(*labelled)
    found = estimator.explain(10)
    text = str(found)
    assert text.startswith(f"node 10: {found.predicted}\n")
    assert f"node {found.nodes[0]}, given {found.given[0]}" in text
    deciding = np.abs(found.contributions[:, found.deciding()]).sum(axis=1)
    assert (np.diff(deciding) <= 0).all()


@pytest.mark.parametrize("node", [24, -1, 1.5, [1], "a", None])
def test_bad_nodes_are_refused(labelled, node):
    with pytest.raises(InputError, match="node"):
        GPGCClassifier().fit(*labelled).explain(node)
    with pytest.raises(NotFittedError):
        GPGCClassifier().explain(0)
