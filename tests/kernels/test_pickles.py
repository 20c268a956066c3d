"""Pickles hold what a covariance is made of, not what it has computed."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier


@pytest.mark.parametrize("compiled_from", [10_000, 10])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_answers_do_not_travel(model, depth, sparse, compiled_from, monkeypatch):
    monkeypatch.setattr("gpgc.compute.primitives.LARGE", compiled_from)
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 6))
    if sparse:
        features = sp.csr_array(np.where(features > 1, features, 0.0))
    graph = sp.random_array((200, 200), density=0.02, rng=rng)
    covariance = gpgc.covariance(graph, features, model=model, depth=depth, dtype=np.float32)
    before = len(pickle.dumps(covariance))
    answers = covariance.block(), covariance.diag(), covariance.matmul(None, None, np.eye(200))
    covariance.correlation(np.arange(50))(None)
    content = pickle.dumps(covariance)
    assert len(content) <= before + 100
    np.testing.assert_allclose(pickle.loads(content).block(), answers[0], atol=1e-6)


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_a_pickled_estimator_answers_alike_and_is_small(model):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1000, 6)).astype(np.float32)
    y = np.where(np.arange(1000) < 20, np.arange(1000) % 2, -1)
    estimator = GPGCClassifier(model, depth=3).fit(features, y)
    mean, std = estimator.predict_latent(return_std=True)
    content = pickle.dumps(estimator)
    assert len(content) < 1000 * 1000 * 4 / 2
    again, again_std = pickle.loads(content).predict_latent(return_std=True)
    np.testing.assert_array_equal(again, mean)
    np.testing.assert_allclose(again_std, std, atol=1e-5)
