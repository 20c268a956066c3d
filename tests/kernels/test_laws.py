"""One law-suite for every kernel, model and depth."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc.compute import Context
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import (
    Activate,
    ArcCosine,
    Center,
    DenseLayer,
    Features,
    InnerProduct,
    Mix,
    Nystrom,
    Polynomial,
    Propagate,
    Square,
    SquaredExponential,
)
from gpgc.models import Broad
from gpgc.models.projection import WideFeatures, projection_for
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


def test_broad_with_landmarks_obeys_the_laws(awkward):
    graph, features = awkward
    model = Broad(exact_nodes=10, n_landmarks=12)
    check_laws(gpgc.covariance(graph, features, model=model))
    check_laws(gpgc.covariance(graph, model=model))
    check_laws(gpgc.covariance(graph, model=Broad(exact_nodes=0, n_landmarks=12, one_hot_nodes=0)))


def test_singular_vectors_keep_what_they_say():
    rng = np.random.default_rng(0)
    topics = sp.csr_array(rng.random((8, 400)) * (rng.random((8, 400)) < 0.1))
    features = sp.csr_array(sp.csr_array(rng.random((60, 8))) @ topics)
    keys, wide = np.arange(1.0, 61), WideFeatures(n_from=50, n_columns=8)
    projection = projection_for(features, keys, 0, Context(), wide)
    found = projection.apply(features)
    assert found.shape == (60, 8)
    np.testing.assert_allclose(found @ found.T, (features @ features.T).toarray(), rtol=1e-6)
    assert projection.approximations == ("400 columns by 8 singular vectors, which leave out 0%",)
    few = projection_for(features, keys, 0, Context(), WideFeatures(n_from=50, n_columns=2))
    lengths = np.linalg.norm(features.toarray(), axis=1)
    kept = np.linalg.norm(few.apply(features), axis=1) ** 2 / lengths**2
    assert 1 - kept.mean() == pytest.approx(few.left_out, abs=1e-6)
    stranger = sp.csr_array(([1.0], ([0], [int((topics.sum(axis=0) == 0).argmax())])), (1, 400))
    assert not projection.apply(stranger).any()
    assert projection_for(features, keys, 0, Context()) is None


def test_neighbor_graph_of_features(awkward):
    check_laws(gpgc.covariance(None, awkward[1]))


@pytest.mark.parametrize("n_nodes", [1, 2])
def test_tiny_graphs(n_nodes):
    for model in ("small", "big", "broad"):
        check_laws(gpgc.covariance(sp.csr_array((n_nodes, n_nodes)), model=model))


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_few_landmarks(awkward, model):
    inner = gpgc.covariance(*awkward, model=model)
    landmarks = np.array([1, 3, 8, 13, 21])
    few = Nystrom(inner, landmarks)
    check_laws(few)
    np.testing.assert_allclose(few.block(None, landmarks), inner.block(None, landmarks), atol=1e-6)
    assert np.linalg.eigvalsh(inner.dense() - few.dense()).min() > -1e-9


def test_roots_pass_through_the_algebra(awkward):
    graph, features = awkward
    leaf = Features.of(InnerProduct(), features)
    propagation = normalize(as_adjacency(graph))
    for part in (
        DenseLayer(leaf, 2.0, 0.3),
        Propagate(propagation, DenseLayer(leaf, 2.0, 0.3)),
        Mix([leaf, Square(Activate(leaf))], [0.2, 1.5]),
        Center(leaf, np.array([2, 3, 11])),
        Square(leaf, np.array([1, 5, 7])),
    ):
        assert part.rank is not None
        check_laws(part)


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
    leaf = Features.of(InnerProduct(), features)
    for part in (leaf, DenseLayer(leaf, 0.5, 0.25), Activate(leaf)):
        check_laws(part)
        check_laws(Propagate(normalize(as_adjacency(graph)), part))


@pytest.mark.parametrize("over", [None, np.array([1, 4, 7, 13])])
def test_centerd(awkward, over):
    graph, features = awkward
    for model in ("small", "big", "broad"):
        centered = Center(gpgc.covariance(graph, features, model=model), over)
        check_laws(centered)
        np.testing.assert_allclose(centered.block(None, over).mean(axis=1), 0, atol=1e-12)


def test_centring_takes_away_what_all_share(awkward):
    covariance = gpgc.covariance(*awkward)
    lifted = DenseLayer(covariance, bias_variance=3.0)
    np.testing.assert_allclose(Center(lifted).block(), Center(covariance).block(), atol=1e-12)


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


@pytest.mark.parametrize("elements", [1, 9, 20, 2**17])
def test_variances_of_nodes_of_equal_degree_in_batches_of_any_size(monkeypatch, elements):
    """On a ring all have three neighbors: batches of 1, 1, 2 and all nodes, the last one too."""
    monkeypatch.setattr("gpgc.kernels.propagate.GROUP_ELEMENTS", elements)
    ring = as_adjacency((np.arange(11), (np.arange(11) + 1) % 11))
    features = np.random.default_rng(0).normal(size=(11, 3))
    covariance = Propagate(normalize(ring), Features.of(InnerProduct(), features))
    np.testing.assert_allclose(covariance.diag(), np.diagonal(covariance.dense()), rtol=1e-12)
