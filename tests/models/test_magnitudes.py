"""Extreme inputs: an answer that is right, or one error that names the argument."""

import numpy as np
import pytest

import gpgc
from gpgc import GPGCClassifier
from gpgc.errors import InputError

MODELS = ["small", "big", "broad"]


def problem():
    rng = np.random.default_rng(0)
    side = np.arange(40) % 2
    features = rng.normal(size=(40, 3)) + 2 * side[:, None]
    features -= features.mean(axis=0)
    graph = np.zeros((40, 40))
    for node in range(38):
        graph[node, node + 2] = 1
    return features, np.where(np.arange(40) < 8, side, -1), graph


def answer_or_error(name, features, y, graph, **settings):
    """Return probabilities, or None after an error that names the argument."""
    try:
        probabilities = GPGCClassifier(**settings).fit(features, y, adjacency=graph).predict_proba()
    except InputError as error:
        if name not in str(error):
            raise
        return None
    assert np.isfinite(probabilities).all()
    return probabilities


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("factor", [1e-200, 1e-30, 1e-12, 1e12, 1e30, 1e200])
def test_scale_of_the_features(model, dtype, factor):
    features, y, graph = problem()
    plain = GPGCClassifier(model, dtype=dtype).fit(features, y, adjacency=graph).predict_proba()
    found = answer_or_error("X", factor * features, y, graph, model=model, dtype=dtype)
    assert found is not None or not 1e-15 < factor < 1e15
    if found is not None:
        np.testing.assert_allclose(found, plain, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("weight_variance", [1e-300, 1e-50, 1e-40, 1e-8, 1e8, 1e40, 1e300])
def test_weight_variance_is_a_mere_factor(model, dtype, weight_variance):
    features, y, graph = problem()
    plain = GPGCClassifier(model, dtype=dtype).fit(features, y, adjacency=graph).predict_proba()
    settings = {"model": model, "dtype": dtype, "weight_variance": weight_variance}
    found = answer_or_error("weight_variance", features, y, graph, **settings)
    assert found is not None or not 1e-10 < weight_variance < 1e10
    if found is not None:
        np.testing.assert_allclose(found, plain, atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("bias_variance", [1.0, 1e20, 1e60])
def test_a_bias_that_drowns_the_features_is_refused(model, dtype, bias_variance):
    features, y, graph = problem()
    settings = {"model": model, "dtype": dtype, "bias_variance": bias_variance}
    found = answer_or_error("bias_variance", features, y, graph, **settings)
    assert (found is None) == (bias_variance > 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("weight", [1e20, 1e60, 1e300, 1.7e308])
def test_weights_of_edges(model, dtype, weight):
    features, y, graph = problem()
    settings = {"model": model, "dtype": dtype}
    found = answer_or_error("adjacency", features, y, weight * graph, **settings)
    if found is not None:
        expected = answer_or_error("adjacency", features, y, 1e12 * graph, **settings)
        np.testing.assert_allclose(found, expected, atol=1e-3)


def test_joining_by_extreme_weights():
    features, y, graph = problem()
    fitted = GPGCClassifier("big").fit(features, y, adjacency=graph)
    links = np.zeros((1, 40))
    links[0, :3] = 1.7e308
    with pytest.raises(InputError, match="adjacency"):
        fitted.predict(features[:1], links)


@pytest.mark.parametrize("model", MODELS)
def test_a_covariance_that_overflows_by_depth_is_refused(model):
    features, _, graph = problem()
    if model == "broad":
        covariance = gpgc.covariance(graph, features, model=model, depth=9, weight_variance=1e5)
        assert np.isfinite(covariance.block()).all()
        return
    with pytest.raises(InputError, match="weight_variance"):
        gpgc.covariance(
            graph, features, model=model, depth=9, weight_variance=1e5, dtype=np.float32
        )


@pytest.mark.parametrize("factor", [1e-300, 1e-100, 1e100, 1e300])
def test_scale_of_the_values(factor):
    features, _, graph = problem()
    y = np.full(40, np.nan)
    y[:8] = np.arange(8.0) - 3
    usual = gpgc.GPGCRegressor().fit(features, y, graph).predict()
    if factor > 1e150:
        with pytest.raises(InputError, match=r"y must hold numbers of size 1e\+150 at most"):
            gpgc.GPGCRegressor().fit(features, y * factor, graph)
        return
    found = gpgc.GPGCRegressor().fit(features, y * factor, graph).predict()
    np.testing.assert_allclose(found / factor, usual, atol=1e-4)
