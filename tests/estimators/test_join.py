"""Nodes that join a fitted graph."""

import numpy as np
import pytest
import scipy.sparse as sp

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph.nodes import NodeSubset
from gpgc.models import Broad, architecture_from
from tests.conftest import random_graph


def joined_by_hand(graph, features, links, new_features):
    """Return Â and X of all nodes, where the fitted ones keep their degrees, as dense arrays."""
    n, m = len(features), len(new_features)
    symmetric = np.maximum(graph.toarray(), graph.toarray().T)
    np.fill_diagonal(symmetric, 0)
    degrees = symmetric.sum(axis=1) + 1
    among = np.zeros((m, m))
    if links.shape[1] > n:
        among = np.maximum(links[:, n:], links[:, n:].T)
        np.fill_diagonal(among, 0)
    new_degrees = links[:, :n].sum(axis=1) + among.sum(axis=1) + 1
    every = np.concatenate([degrees, new_degrees])
    matrix = np.zeros((n + m, n + m))
    matrix[:n, :n] = symmetric + np.eye(n)
    matrix[n:, :n] = links[:, :n]
    matrix[n:, n:] = among + np.eye(m)
    return matrix / np.sqrt(np.outer(every, every)), np.vstack([features, new_features])


@pytest.mark.parametrize("among", [False, True])
@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("model", ["small", "big"])
def test_joining_equals_the_formula_on_all_nodes(among, depth, model):
    rng = np.random.default_rng(0)
    graph, features = random_graph(20, seed=1, weighted=True), rng.normal(size=(20, 3))
    y = np.full(20, -1)
    y[:6] = [0, 1, 0, 1, 0, 1]
    links = (rng.random((4, 24 if among else 20)) < 0.2).astype(float)
    new = rng.normal(size=(4, 3))
    estimator = GPGCClassifier(model=model, depth=depth, noise_variance=0.2, dtype="float64")
    estimator.fit(features, y, adjacency=graph)

    propagation, X = joined_by_hand(graph, features, links, new)
    architecture, matrix = architecture_from(model, depth=depth), sp.csr_array(propagation)
    inputs = architecture.inputs(NodeSubset(matrix, matrix, X, matrix, np.arange(24)), Context())
    gamma = architecture.covariance(inputs).dense()
    inverse = np.linalg.inv(gamma[:6, :6] + 0.2 * np.eye(6))
    expected = gamma[20:, :6] @ inverse @ np.eye(2)[y[:6]]
    mean, std, cov = estimator.predict_latent(
        X=new, adjacency=links, return_std=True, return_cov=True
    )
    np.testing.assert_allclose(mean, expected, atol=1e-10)
    Lambda = gamma[20:, 20:] - gamma[20:, :6] @ inverse @ gamma[:6, 20:]
    np.testing.assert_allclose(cov, Lambda, atol=1e-10)
    np.testing.assert_allclose(std**2, np.diagonal(Lambda), atol=1e-9)
    proba = estimator.predict_proba(new, adjacency=sp.csr_array(links))
    assert proba.shape == (4, 2)
    assert (estimator.predict(new, adjacency=links) == proba.argmax(axis=1)).all()


@pytest.mark.parametrize("landmarks", [False, True])
def test_joining_the_broad_model_is_a_fixed_point_over_the_fitted_nodes(landmarks):
    model = Broad(exact_nodes=10, n_landmarks=15) if landmarks else "broad"
    rng = np.random.default_rng(0)
    graph, features = random_graph(30, seed=2), rng.normal(size=(30, 4))
    y = np.where(np.arange(30) < 8, np.arange(30) % 2, -1)
    estimator = GPGCClassifier(model, noise_variance=0.1, dtype="float64")
    estimator.fit(features, y, adjacency=graph)
    node = int(np.flatnonzero(np.diff(estimator.adjacency_.indptr) > 2)[0])
    links = estimator.adjacency_[[node]]
    twin = estimator.predict_latent(X=features[[node]], adjacency=links)
    assert np.abs(twin - estimator.predict_latent([node])).max() < 0.1
    both = estimator.predict_latent(X=features[[node, node]], adjacency=sp.vstack([links, links]))
    np.testing.assert_allclose(both, np.vstack([twin, twin]), atol=1e-9)


def test_fitted_nodes_are_untouched():
    features = np.random.default_rng(0).normal(size=(30, 2))
    y = np.where(np.arange(30) < 8, np.arange(30) % 2, -1)
    estimator = GPGCClassifier().fit(features, y)
    before = estimator.predict_proba()
    estimator.predict(features[:3] + 0.1)
    assert (estimator.predict_proba() == before).all()


def test_without_links_the_nearest_fitted_rows(two_moons):
    features, labels, truth = two_moons
    estimator = GPGCClassifier().fit(features, labels)
    assert (estimator.predict(features + 0.01) == truth).all()
    assert (estimator.predict(sp.csr_array(features)) == truth).all()
    one_by_one = [estimator.predict_proba(row[None])[0] for row in features[:5]]
    np.testing.assert_allclose(one_by_one, estimator.predict_proba(features[:5]), atol=1e-5)


def test_joining_a_graph_without_features():
    estimator = GPGCClassifier().fit(None, [0, 0, 1, 1], adjacency=([0, 2], [1, 3]))
    links = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    assert estimator.predict(adjacency=links).tolist() == [0, 1]
    regressor = GPGCRegressor().fit(None, [0.0, 0.0, 1.0, 1.0], adjacency=([0, 2], [1, 3]))
    assert regressor.predict(adjacency=links).shape == (2,)


def test_wrong_joins_are_named(two_moons):
    features, labels, _ = two_moons
    given = GPGCClassifier().fit(features, labels, adjacency=([0], [1]))
    with pytest.raises(InputError, match=r"adjacency of new nodes must be given.*\(M, N\)"):
        given.predict(features)
    with pytest.raises(InputError, match=r"\(2, 80\).*\(2, 82\).*got \(2, 3\)"):
        given.predict(features[:2], adjacency=np.ones((2, 3)))
    with pytest.raises(InputError, match="X must hold the features"):
        given.predict(adjacency=np.ones((2, 80)))
    with pytest.raises(ValueError, match="3 features"):
        given.predict(np.ones((2, 5)), adjacency=np.ones((2, 80)))
    with pytest.raises(InputError, match="nodes cannot be combined"):
        given.predict_latent([0], X=features[:2])
    bare = GPGCClassifier().fit(None, [0, 1], adjacency=([0], [1]))
    with pytest.raises(InputError, match="X=None"):
        bare.predict(np.ones((1, 2)), adjacency=np.ones((1, 2)))
