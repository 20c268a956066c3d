"""The two estimators: scikit-learn's rules, transduction, latent answers, awkward graphs."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import gpgc
import gpgc.kernels
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError
from gpgc.selection.constants import RELATIVE_NOISE

NEIGHBORS = {
    f"check_sample_weight_equivalence_on_{kind}_data": (
        "compares weights with repeated and left out rows, which are other nodes of the "
        "neighbor graph: a node that is not labelled still has neighbors"
    )
    for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore:the features are not")  # as many of the checks' are
@parametrize_with_checks(
    [GPGCClassifier(), GPGCRegressor()],
    expected_failed_checks=lambda estimator: (
        NEIGHBORS | {"check_classifiers_classes": "uses -1 as a class: here the unlabelled"}
        if isinstance(estimator, GPGCClassifier)
        else NEIGHBORS
    ),
)
@pytest.mark.filterwarnings("ignore::gpgc.GPGCWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_labels_two_clouds(two_moons):
    features, labels, truth = two_moons
    estimator = GPGCClassifier().fit(features, labels)
    assert (estimator.predict() == truth).all()
    assert (estimator.predict_proba().argmax(axis=1) == truth).all()
    np.testing.assert_allclose(estimator.predict_proba().sum(axis=1), 1)


def test_transduction_keeps_given_labels_and_predict_does_not(two_moons):
    features, labels, truth = two_moons
    labels[1:40] = 0
    labels[0] = 1
    estimator = GPGCClassifier("big", noise_variance=5.0, class_prior="labels").fit(
        features, labels
    )
    assert estimator.predict()[0] == 0
    assert estimator.transduction_[0] == 1
    assert (estimator.transduction_[3:] == truth[3:]).all()


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_string_labels(two_moons, missing):
    features, labels, truth = two_moons
    names = np.array(["no", "yes"], dtype=object)
    y = [names[label] if label >= 0 else missing for label in labels]
    for given in (y, np.array(y, dtype=object)):
        estimator = GPGCClassifier().fit(features, given)
        assert estimator.classes_.tolist() == ["no", "yes"]
        assert (estimator.predict() == names[truth]).all()


def test_float_labels_with_nan_and_gaps(two_moons):
    features, labels, truth = two_moons
    y = np.where(labels < 0, np.nan, labels * 7.0)
    assert GPGCClassifier().fit(features, y).predict().tolist() == (truth * 7).tolist()


@pytest.mark.filterwarnings("ignore:y names one class")
def test_one_class_one_label_one_node():
    path = ([0, 1], [1, 2])
    one_class = GPGCClassifier().fit(None, [4, -1, 4], adjacency=path)
    assert one_class.predict().tolist() == [4, 4, 4]
    assert one_class.predict_proba().tolist() == [[1.0]] * 3
    one_label = GPGCClassifier().fit(None, [-1, 2, -1], adjacency=path)
    assert one_label.predict().tolist() == [2, 2, 2]
    for model, usual in [("small", 0.2), ("big", 0.2), ("broad", 10**-2.25)]:
        one_each = GPGCClassifier(model).fit(None, [0, -1, 1], adjacency=path)
        scale = one_each.covariance_.diag([0, 2]).mean()
        assert one_each.noise_variance_ == pytest.approx(usual * scale)
    alone = GPGCClassifier().fit([[1.0]], [3])
    assert alone.predict().tolist() == [3]


def test_every_answer_is_finite_on_an_awkward_graph(awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[[0, 1, 2, 21, 3, 5]] = [0, 1, 0, 1, 2, 2]
    for model in ("small", "big", "broad"):
        for kernel in gpgc.kernels.BASE_KERNELS:
            for noise in ("loo", "evidence", 0.1):
                estimator = GPGCClassifier(model=model, base_kernel=kernel, noise_variance=noise)
                estimator.fit(features, y, adjacency=graph)
                mean, std = estimator.predict_latent(return_std=True)
                assert np.isfinite(mean).all()
                assert np.isfinite(std).all()
                np.testing.assert_allclose(estimator.predict_proba().sum(axis=1), 1)


def test_answers_do_not_depend_on_the_order_of_nodes(awkward):
    graph, features = awkward
    y = np.full(24, -1)
    y[[1, 2, 3, 21, 6, 7]] = [0, 1, 0, 1, 0, 1]
    order = np.random.default_rng(0).permutation(24)
    for model in ("small", "big", "broad"):
        plain, moved = (GPGCClassifier(model=model, dtype="float64") for _ in range(2))
        plain.fit(features, y, adjacency=graph)
        moved.fit(features[order], y[order], adjacency=graph[order][:, order])
        np.testing.assert_allclose(moved.predict_proba(), plain.predict_proba()[order], atol=1e-7)


def test_posterior_equals_the_papers_formula_on_dense_matrices(awkward):
    graph, features = awkward
    y = np.full(24, -1)
    labelled = np.array([1, 2, 3, 21])
    y[labelled] = [0, 1, 0, 1]
    estimator = GPGCClassifier("big", noise_variance=0.2, dtype="float64")
    estimator.fit(features, y, adjacency=graph)
    gamma = gpgc.covariance(graph, features).dense()
    inverse = np.linalg.inv(gamma[np.ix_(labelled, labelled)] + 0.2 * np.eye(4))
    cross = gamma[:, labelled]
    nodes = np.array([5, 4, 20])
    mean, std, cov = estimator.predict_latent(nodes, return_std=True, return_cov=True)
    np.testing.assert_allclose(mean, (cross @ inverse @ np.eye(2)[[0, 1, 0, 1]])[nodes], atol=1e-10)
    Lambda = gamma - cross @ inverse @ cross.T
    assert gamma[5, 5] == 0  # nothing is known of it; the formula would be sure of that
    Lambda[5, 5] = np.diagonal(gamma)[labelled].mean()
    np.testing.assert_allclose(cov, Lambda[np.ix_(nodes, nodes)], atol=1e-10)
    np.testing.assert_allclose(std, np.sqrt(np.diagonal(Lambda)[nodes]), atol=1e-7)


def test_latent_shapes_are_never_squeezed(two_moons):
    features, labels, _ = two_moons
    regressor = GPGCRegressor().fit(features, np.where(labels < 0, np.nan, labels))
    mean, std, cov = regressor.predict_latent([3], return_std=True, return_cov=True)
    assert mean.shape == (1, 1)
    assert std.shape == (1,)
    assert cov.shape == (1, 1)
    assert regressor.predict_latent([]).shape == (0, 1)
    assert regressor.predict_latent().shape == (80, 1)


def test_regressor_follows_the_dimension_of_y(two_moons):
    features, labels, truth = two_moons
    y = np.where(labels < 0, np.nan, 3.0 + labels)
    one = GPGCRegressor().fit(features, y)
    assert one.predict().shape == (80,)
    assert ((one.predict() > 3.5) == truth).all()
    two = GPGCRegressor().fit(features, np.column_stack([y, -y]))
    assert two.predict().shape == (80, 2)
    np.testing.assert_allclose(two.predict()[:, 0], -two.predict()[:, 1], atol=1e-9)
    mean, std = one.predict(return_std=True)
    assert mean.shape == std.shape == (80,)


def test_leave_one_out_of_the_regressor_by_refitting():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 2))
    y = np.full(30, np.nan)
    y[:6] = rng.normal(size=6)
    y[:6] -= y[:6].mean()
    fixed = GPGCRegressor("big", noise_variance=0.3, dtype="float64")
    mean, std = fixed.fit(features, y).leave_one_out()
    gamma = fixed.covariance_.block(np.arange(6), np.arange(6))
    gamma *= y[:6].var() / np.diagonal(gamma).mean()
    for out in range(6):
        kept = np.delete(np.arange(6), out)
        solve = np.linalg.inv(gamma[np.ix_(kept, kept)] + 0.3 * np.eye(5))
        assert mean[out, 0] == pytest.approx(gamma[out, kept] @ solve @ y[kept], abs=1e-9)
        variance = gamma[out, out] + 0.3 - gamma[out, kept] @ solve @ gamma[kept, out]
        assert std[out] == pytest.approx(np.sqrt(variance))


def test_noise_choices(two_moons):
    features, labels, _ = two_moons
    assert GPGCClassifier(noise_variance=0.7).fit(features, labels).noise_variance_ == 0.7
    by_evidence = GPGCClassifier("big", noise_variance="evidence").fit(features, labels)
    for noise in by_evidence.covariance_.diag(by_evidence.labelled_nodes_).mean() * RELATIVE_NOISE:
        other = GPGCClassifier("big", noise_variance=noise).fit(features, labels)
        assert by_evidence.log_marginal_likelihood_ >= other.log_marginal_likelihood_ - 1e-4


def test_float32_agrees_with_float64(two_moons):
    features, labels, _ = two_moons
    for model in ("small", "big", "broad"):
        fast, exact = (
            GPGCClassifier(model, dtype=dtype, noise_variance=0.1).fit(features, labels)
            for dtype in ("float32", "float64")
        )
        np.testing.assert_allclose(fast.predict_latent(), exact.predict_latent(), atol=1e-5)
        np.testing.assert_allclose(fast.predict_proba(), exact.predict_proba(), atol=1e-4)


def test_graph_forms_give_the_same_answer():
    graph = nx.karate_club_graph()
    y = np.full(34, -1)
    y[[0, 33, 1, 32]] = [0, 1, 0, 1]
    source, target, weight = zip(*graph.edges(data="weight"), strict=True)
    answers = [
        GPGCClassifier().fit(None, y, adjacency=form).predict_proba()
        for form in (graph, nx.to_numpy_array(graph), (list(source), list(target), list(weight)))
    ]
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-12)
    np.testing.assert_allclose(answers[0], answers[2], atol=1e-12)


def test_clone_grid_search_and_pipeline(two_moons):
    features, _, truth = two_moons
    assert clone(GPGCClassifier(depth=3)).depth == 3
    search = GridSearchCV(GPGCClassifier(), {"model": ["small", "big"]}, cv=3).fit(features, truth)
    assert search.best_score_ > 0.95
    pipeline = make_pipeline(StandardScaler(), GPGCClassifier()).fit(features, truth)
    assert pipeline.score(features, truth) > 0.95


def test_cross_validation_with_a_sliced_graph_says_what_to_do(two_moons):
    features, _, truth = two_moons
    graph = sp.csr_array(np.ones((80, 80)))
    with pytest.raises(InputError, match=r"N x N.*sliced.*-1"):
        GPGCClassifier().fit(features[:50], truth[:50], adjacency=graph[:50])


@pytest.mark.parametrize(
    ("settings", "data", "words"),
    [
        ({}, (np.full((3, 2), np.nan), [0, 1, -1], None), "X contains NaN"),
        ({}, (np.ones((3, 2)), [-1, -1, -1], None), "y must have at least one label"),
        ({}, (np.ones((3, 2)), [0, 1], None), "y must have one entry.*3 rows of X.*2"),
        ({}, (None, [0, 1], None), "X and adjacency"),
        ({}, (None, [0, 1, -1], np.zeros((2, 2))), "2 nodes.*3 were expected"),
        ({}, (None, [0, 1.5], np.zeros((2, 2))), "Unknown label type"),
        ({}, (None, [0, "a"], np.zeros((2, 2))), "one type.*int.*str"),
        ({}, (None, [0, np.inf], np.zeros((2, 2))), "y contains infinity"),
        ({}, (None, None, np.zeros((2, 2))), "y must be given"),
        ({"noise_variance": "guess"}, (None, [0, 1], np.zeros((2, 2))), "noise_variance.*guess"),
        ({"noise_variance": -1}, (None, [0, 1], np.zeros((2, 2))), "noise_variance"),
        ({"dtype": "int8"}, (None, [0, 1], np.zeros((2, 2))), "dtype.*int8"),
        ({"n_neighbors": 0}, (np.ones((3, 2)), [0, 1, -1], None), "n_neighbors"),
        ({"model": "tiny"}, (None, [0, 1], np.zeros((2, 2))), "model"),
    ],
)
def test_wrong_input_is_named(settings, data, words):
    X, y, adjacency = data
    with pytest.raises(ValueError, match=words):
        GPGCClassifier(**settings).fit(X, y, adjacency=adjacency)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([np.nan, np.nan], "y must have at least one value"),
        ([[1.0, np.nan], [np.nan, np.nan]], "at least one value in each column"),
        ([np.inf, 0.0], "y contains infinity"),
        (None, "y must be given"),
    ],
)
def test_wrong_targets_are_named(y, words):
    with pytest.raises(InputError, match=words):
        GPGCRegressor().fit(None, y, adjacency=np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([80], "between 0 and 79"),
        ([-1], "between"),
        ([0.5], "whole numbers"),
        ([[0]], "in one dimension"),
    ],
)
def test_wrong_nodes_are_named(two_moons, nodes, words):
    estimator = GPGCClassifier().fit(*two_moons[:2])
    with pytest.raises(InputError, match=words):
        estimator.predict_latent(nodes)
