"""The posterior in weight space is the one in function space."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier
from gpgc.errors import GPGCWarning, InputError
from gpgc.gp import FunctionSpace, LabelledRoot, Targetwise, WeightSpace, condition
from gpgc.graph import Nodes, as_adjacency
from gpgc.kernels import Features, InnerProduct, Mix, Nystrom
from gpgc.models import Broad, Prior, architecture_from


def covariances():
    rng = np.random.default_rng(0)
    graph = as_adjacency(sp.random_array((120, 120), density=0.03, rng=rng))
    features = rng.normal(size=(120, 9))
    few = Broad(exact_nodes=10, n_landmarks=8)
    prior = Prior(few, Nodes(graph, features))
    big = Prior(architecture_from("big"), Nodes(graph, features)).covariance()
    return {
        "features": Features.of(InnerProduct(), features),
        "broad": prior.covariance(),
        "two views": Mix([prior.view("graph"), prior.view("features")], [0.6, 0.4]),
        "nystrom": Nystrom(big, np.arange(0, 120, 7)),
    }


COVARIANCES = covariances()


@pytest.fixture
def labels():
    rng = np.random.default_rng(1)
    labelled = rng.permutation(120)[:70]
    return labelled, rng.normal(size=(70, 3)), rng.uniform(0.5, 2.0, size=70)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("name", COVARIANCES)
def test_both_spaces_give_the_same(labels, name, is_weighted):
    covariance, (labelled, targets, relative) = COVARIANCES[name], labels
    settings = {"relative_noise": relative if is_weighted else None}
    levels = np.array([0.02])
    by_weights = condition(covariance, labelled, targets, levels, space="weight", **settings)
    by_functions = condition(covariance, labelled, targets, levels, space="function", **settings)
    assert isinstance(by_weights, WeightSpace)
    assert isinstance(by_functions, FunctionSpace)
    some = np.array([3, 77, 15])
    for rows in (None, some):
        for answer in ("mean", "variance", "joint_covariance"):
            found = getattr(by_weights, answer)(rows)
            np.testing.assert_allclose(found, getattr(by_functions, answer)(rows), atol=1e-8)
    for found, expected in zip(
        by_weights.leave_one_out(), by_functions.leave_one_out(), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-8)
    evidence = by_functions.log_marginal_likelihood()
    assert by_weights.log_marginal_likelihood() == pytest.approx(evidence, rel=1e-8)


def test_the_mean_is_ridge_regression_on_the_root(labels):
    covariance, (labelled, targets, _) = COVARIANCES["features"], labels
    root = covariance.root()
    ridge = np.linalg.solve(
        root[labelled].T @ root[labelled] + 0.1 * np.eye(9), root[labelled].T @ targets
    )
    posterior = WeightSpace(LabelledRoot.of(covariance, labelled, targets), 0.1)
    np.testing.assert_allclose(posterior.mean(), root @ ridge, atol=1e-10)


def test_the_cheaper_space_is_taken(labels):
    covariance, (labelled, targets, _) = COVARIANCES["broad"], labels
    level = np.array([0.1])
    assert isinstance(condition(covariance, labelled, targets, level), WeightSpace)
    few = labelled[:20]
    assert isinstance(condition(covariance, few, targets[:20], level), FunctionSpace)
    with pytest.warns(GPGCWarning, match="singular"):
        without = condition(covariance, labelled, targets, np.array([0.0]))
    assert isinstance(without, FunctionSpace)


def test_targets_of_different_noise(labels):
    covariance, (labelled, targets, _) = COVARIANCES["two views"], labels
    levels = np.array([0.1, 0.5, 0.1])
    for space in ("weight", "function"):
        both = condition(covariance, labelled, targets, levels, space=space)
        assert isinstance(both, Targetwise)
        for column, level in enumerate(levels):
            one = condition(covariance, labelled, targets[:, [column]], np.array([level]))
            np.testing.assert_allclose(both.mean()[:, [column]], one.mean(), atol=1e-8)
            np.testing.assert_allclose(both.variance()[:, column], one.variance(), atol=1e-8)


@pytest.mark.parametrize("noise", [0.0, -1.0, np.nan])
def test_weight_space_needs_noise(labels, noise):
    labelled, targets, _ = labels
    with pytest.raises(InputError, match="noise_variance must be finite and above 0"):
        WeightSpace(LabelledRoot.of(COVARIANCES["features"], labelled, targets), noise)


def test_a_classifier_with_more_labels_than_its_rank():
    """Joining nodes, probabilities and leave-one-out go on in weight space."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    features = rng.normal(size=(200, 5)) + 3 * np.eye(5)[truth]
    y = np.where(np.arange(200) % 2, truth, -1)
    model = Broad(exact_nodes=50, n_landmarks=20)
    fitted = GPGCClassifier(model, noise_variance=0.01, dtype="float64").fit(features, y)
    assert all(isinstance(view.posterior, WeightSpace) for view in fitted.posterior_.views)
    assert np.mean(fitted.predict() == truth) > 0.9
    new = fitted.predict_proba(features[:5] + 1e-9)
    np.testing.assert_allclose(new, fitted.predict_proba()[:5], atol=0.05)
    expected = sum(
        view.weight
        * condition(
            view.posterior.covariance,
            fitted.labelled_nodes_,
            fitted.posterior_.targets,
            fitted.noise_levels_[view.name],
            space="function",
        ).mean()
        for view in fitted.posterior_.views
    )
    np.testing.assert_allclose(fitted.predict_latent(), expected, atol=1e-8)
