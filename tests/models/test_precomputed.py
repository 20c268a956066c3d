"""A covariance from outside, and architectures of one's own."""

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import InputError


@pytest.fixture
def gamma(two_moons):
    features, labels, truth = two_moons
    return gpgc.covariance(None, features).block(), features, labels, truth


def test_equals_the_model_that_the_matrix_came_from(gamma, tmp_path):
    matrix, features, labels, truth = gamma
    options = {"noise_variance": 0.1, "dtype": "float64"}
    given = GPGCClassifier("precomputed", **options).fit(matrix, labels)
    big = GPGCClassifier("big", **options).fit(features, labels)
    np.testing.assert_allclose(given.predict_latent(), big.predict_latent(), atol=1e-9)
    std = given.predict_latent(return_std=True)[1]
    np.testing.assert_allclose(std, big.predict_latent(return_std=True)[1], atol=1e-7)
    assert (given.predict() == truth).all()
    given.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    np.testing.assert_array_equal(again.predict_proba(), given.predict_proba())
    sparse = GPGCClassifier("precomputed", **options).fit(sp.csr_array(matrix), labels)
    np.testing.assert_allclose(sparse.predict_proba(), given.predict_proba())


def test_new_nodes_join_by_their_covariances_with_the_fitted_ones(gamma):
    matrix, _, labels, truth = gamma
    known = np.r_[0:35, 40:75]
    estimator = GPGCClassifier("precomputed", noise_variance=0.1, dtype="float64")
    estimator.fit(matrix[np.ix_(known, known)], labels[known])
    rest = np.setdiff1d(np.arange(80), known)
    assert (estimator.predict(matrix[np.ix_(rest, known)]) == truth[rest]).all()
    whole = GPGCClassifier("precomputed", noise_variance=0.1, dtype="float64").fit(matrix, labels)
    mean = estimator.predict_latent(X=matrix[np.ix_(rest, known)])
    np.testing.assert_allclose(mean, whole.predict_latent(rest), atol=1e-9)
    with pytest.raises(InputError, match="X must hold the variances of new nodes"):
        estimator.predict_latent(X=matrix[np.ix_(rest, known)], return_std=True)


def test_regression_on_a_matrix(gamma):
    matrix, features, labels, truth = gamma
    values = np.where(labels < 0, np.nan, truth.astype(float))
    found = GPGCRegressor("precomputed").fit(matrix, values).predict()
    np.testing.assert_allclose(
        found, GPGCRegressor("big").fit(features, values).predict(), atol=1e-3
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: (m[:, :-1], None), r"X must be an N x N covariance"),
        (lambda m: (m + np.triu(np.ones_like(m), 1), None), r"X must be symmetric"),
        (lambda m: (-m, None), r"X must have no negative variances"),
        (lambda m: (m, ([0], [1])), r"adjacency None for model='precomputed', got an adjacency"),
    ],
)
def test_wrong_matrices_are_named(gamma, change, message):
    matrix, _, labels, _ = gamma
    X, adjacency = change(matrix)
    with pytest.raises(InputError, match=message):
        GPGCClassifier("precomputed").fit(X, labels, adjacency=adjacency)
