"""One law-suite for every kernel, model and depth."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import (
    Activate,
    Affine,
    ArcCosine,
    Centre,
    Features,
    InnerProduct,
    Mix,
    Polynomial,
    Propagate,
    SquaredExponential,
)
from tests.laws import check_laws

KERNELS = [
    InnerProduct(),
    ArcCosine(),
    Polynomial(),
    Polynomial(offset=0.0, degree=3),
    SquaredExponential(),
    SquaredExponential(length_scale=3.0),
]


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize(
    ("kernel", "model"), list(itertools.product(KERNELS, ["small", "big", "broad"])), ids=repr
)
def test_every_model(awkward, kernel, model, depth):
    graph, features = awkward
    for bias_variance in (0.0, 0.4):
        check_laws(
            gpgc.covariance(
                graph,
                features,
                model=model,
                base_kernel=kernel,
                depth=depth,
                weight_variance=1.7,
                bias_variance=bias_variance,
            )
        )


@pytest.mark.parametrize("normalization", ["symmetric", "row"])
@pytest.mark.parametrize("sparse", [False, True])
def test_normalizations_and_sparse_features(awkward, normalization, sparse):
    graph, features = awkward
    features = np.where(np.abs(features) > 1.2, features, 0.0)
    chosen = sp.csr_array(features) if sparse else features
    check_laws(gpgc.covariance(graph, chosen, normalization=normalization))


def test_sparse_and_dense_features_agree(awkward):
    graph, features = awkward
    features = np.hstack([np.where(np.abs(features) > 1.5, features, 0.0), np.zeros((24, 40))])
    sparse = gpgc.covariance(graph, sp.csr_array(features))
    np.testing.assert_allclose(sparse.block(), gpgc.covariance(graph, features).block(), atol=1e-14)


def test_products_of_sparse_matrices_where_dense_would_not_fit(awkward, monkeypatch):
    graph, _ = awkward
    expected = gpgc.covariance(graph).block()
    monkeypatch.setattr("gpgc.kernels.rows.DENSE_LIMIT", 0)
    np.testing.assert_allclose(gpgc.covariance(graph).block(), expected, atol=1e-14)


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_one_hot_features(awkward, model):
    check_laws(gpgc.covariance(awkward[0], model=model))


def test_broad_with_landmarks_and_a_sketch_obeys_the_laws(awkward, monkeypatch):
    graph, features = awkward
    monkeypatch.setattr("gpgc.models.broad.EXACT_NODES", 10)
    monkeypatch.setattr("gpgc.models.broad.N_LANDMARKS", 12)
    check_laws(gpgc.covariance(graph, features, model="broad"))
    monkeypatch.setattr("gpgc.models.broad.SKETCH_BYTES", 0)
    monkeypatch.setattr("gpgc.models.broad.SKETCH_COLUMNS", 4)
    check_laws(gpgc.covariance(graph, features, model="broad"))
    check_laws(gpgc.covariance(graph, model="broad"))


def test_a_sketch_keeps_the_covariance(monkeypatch):
    graph = sp.random_array((300, 300), density=0.02, rng=np.random.default_rng(0))
    exact = gpgc.covariance(graph, model="broad").block()
    monkeypatch.setattr("gpgc.models.broad.SKETCH_BYTES", 0)
    monkeypatch.setattr("gpgc.models.broad.SKETCH_COLUMNS", 256)
    assert np.abs(gpgc.covariance(graph, model="broad").block() - exact).max() < 0.1


def test_neighbour_graph_of_features(awkward):
    check_laws(gpgc.covariance(None, awkward[1]))


@pytest.mark.parametrize("n_nodes", [1, 2])
def test_tiny_graphs(n_nodes):
    for model in ("small", "big", "broad"):
        check_laws(gpgc.covariance(sp.csr_array((n_nodes, n_nodes)), model=model))


def test_mixtures(awkward):
    graph, features = awkward
    parts = [
        gpgc.covariance(graph, features, model=model, base_kernel=kernel)
        for model, kernel in [("small", "arc_cosine"), ("big", "polynomial")]
    ]
    check_laws(Mix(parts))
    check_laws(Mix(parts, weights=[0.3, 2.0]))
    check_laws(Activate(Mix(parts)))


def test_parts_on_their_own(awkward):
    graph, features = awkward
    leaf = Features(InnerProduct(), features)
    for part in (leaf, Affine(leaf, 0.5, 0.25), Activate(leaf)):
        check_laws(part)
        check_laws(Propagate(normalize(as_adjacency(graph)), part))


@pytest.mark.parametrize("over", [None, np.array([1, 4, 7, 13])])
def test_centred(awkward, over):
    graph, features = awkward
    for model in ("small", "big", "broad"):
        centred = Centre(gpgc.covariance(graph, features, model=model), over)
        check_laws(centred)
        np.testing.assert_allclose(centred.block(None, over).mean(axis=1), 0, atol=1e-12)


def test_centring_takes_away_what_all_share(awkward):
    covariance = gpgc.covariance(*awkward)
    lifted = Affine(covariance, bias_variance=3.0)
    np.testing.assert_allclose(Centre(lifted).block(), Centre(covariance).block(), atol=1e-12)


def test_float32_follows_float64(awkward):
    graph, features = awkward
    for kernel in ("inner_product", "polynomial", "squared_exponential"):
        exact = gpgc.covariance(graph, features, base_kernel=kernel, depth=3)
        fast = gpgc.covariance(graph, features, base_kernel=kernel, depth=3, dtype=np.float32)
        assert fast.block().dtype == np.float32
        np.testing.assert_allclose(fast.block(), exact.block(), atol=3e-6)
        check_laws(fast, atol=1e-5)


def test_relabelling_the_nodes_permutes_the_answer(awkward):
    graph, features = awkward
    order = np.random.default_rng(1).permutation(24)
    for kernel in KERNELS:
        plain = gpgc.covariance(graph, features, base_kernel=kernel, depth=3).block()
        moved = gpgc.covariance(
            graph[order][:, order], features[order], base_kernel=kernel, depth=3
        ).block()
        np.testing.assert_allclose(moved, plain[np.ix_(order, order)], atol=1e-7)


def test_hubs_are_streamed_to_the_same_variance(monkeypatch):
    star = (np.zeros(400, dtype=int), np.arange(1, 401))
    features = np.random.default_rng(0).normal(size=(401, 4))
    covariance = gpgc.covariance(star, features)
    np.testing.assert_allclose(covariance.diag([0])[0], covariance.dense()[0, 0], rtol=1e-12)
    monkeypatch.setattr("gpgc.kernels.propagate.HUB", 10_000)
    stored = gpgc.covariance(star, features)
    np.testing.assert_allclose(stored.diag(), covariance.diag(), rtol=1e-12)


def test_deep_covariances_stream_columns_to_the_same_product(awkward, monkeypatch):
    graph, features = awkward
    covariance = gpgc.covariance(graph, features, depth=3)
    V = np.random.default_rng(0).normal(size=(24, 2))
    whole = covariance.matmul(None, None, V)
    monkeypatch.setattr("gpgc.kernels.covariance.CHUNK_BYTES", 8 * 24 * 5)
    np.testing.assert_allclose(covariance.matmul(None, None, V), whole, atol=1e-12)
