"""Deep networks: each layer is computed once, and no depth is too deep for Python."""

import pickle

import numpy as np
import pytest

import gpgc
from gpgc.compute import Context
from gpgc.compute.primitives import Primitives
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import (
    Activate,
    Deep,
    DenseLayer,
    Features,
    Given,
    InnerProduct,
    Propagate,
    tangent,
)
from tests.laws import check_laws


@pytest.fixture
def activated(monkeypatch):
    """Count the entries that pass the activation."""
    counts = []
    plain = Primitives.relu_correlation

    def counting(self, correlation):
        counts.append(correlation.size)
        return plain(self, correlation)

    monkeypatch.setattr(Primitives, "relu_correlation", counting)
    return counts


@pytest.mark.parametrize("model", ["small", "big"])
@pytest.mark.parametrize("depth", [3, 10, 30])
def test_each_layer_is_computed_once(awkward, activated, model, depth):
    """Of N x N entries, for the covariance of some nodes, all columns of others, all variances."""
    graph, features = awkward
    covariance = gpgc.covariance(graph, features, model=model, depth=depth, bias_variance=0.1)
    covariance.block(np.arange(3), np.arange(3))
    covariance.matmul(None, np.arange(3), np.ones((3, 1)))
    covariance.diag()
    assert sum(activated) <= (depth - 1) * 24**2


@pytest.mark.parametrize("bias_variance", [0.0, 0.3])
def test_many_layers_are_what_single_ones_are(awkward, bias_variance):
    graph, features = awkward
    matrix = normalize(as_adjacency(graph))
    first = DenseLayer(Features.of(InnerProduct(), features), 1.3, bias_variance)

    def dense(number, below):
        return DenseLayer(Activate(below), 1.3, bias_variance)

    def aggregated(number, below):
        return DenseLayer(Propagate(matrix, Activate(below)), 1.3, bias_variance)

    for step in (dense, aggregated):
        many, single = Deep(first, step, 3), step(2, step(1, step(0, first)))
        np.testing.assert_allclose(many.block(), single.block(), atol=1e-12)
        np.testing.assert_allclose(many.diag(), single.diag(), atol=1e-12)
        check_laws(many)
        check_laws(Activate(many))


@pytest.mark.parametrize("model", ["small", "big", "broad"])
def test_five_hundred_layers(awkward, model):
    graph, features = awkward
    covariance = gpgc.covariance(graph, features, model=model, depth=500)
    assert np.isfinite(covariance.block()).all()
    np.testing.assert_allclose(covariance.block(), covariance.dense(), atol=1e-9)
    again = pickle.loads(pickle.dumps(covariance))
    np.testing.assert_array_equal(again.diag(), covariance.diag())


def test_a_matrix_that_is_given_obeys_the_laws(awkward):
    check_laws(Given(gpgc.covariance(*awkward).dense()))


def test_three_layers_are_streamed_where_they_would_not_fit(awkward, monkeypatch):
    graph, features = awkward
    stored = gpgc.covariance(graph, features, depth=3)
    monkeypatch.setattr("gpgc.models.gcn.STORED_BYTES", 0)
    streamed = gpgc.covariance(graph, features, depth=3)
    assert isinstance(stored, Deep)
    assert not isinstance(streamed, Deep)
    np.testing.assert_allclose(streamed.block(), stored.block(), atol=1e-12)
    np.testing.assert_allclose(streamed.diag(), stored.diag(), atol=1e-12)
    check_laws(streamed)
    monkeypatch.setattr("gpgc.kernels.covariance.CHUNK_BYTES", 8)
    fresh = gpgc.covariance(graph, features, depth=3)
    np.testing.assert_allclose(fresh.diag(), stored.diag(), atol=1e-12)


@pytest.mark.parametrize("n_layers", [1, 3])
def test_variances_of_tangent_kernels_are_exact_not_those_of_a_block(awkward, n_layers):
    """In float32 the diagonal of a block is off by rounding, which grows with each layer."""
    graph, features = awkward
    matrix, context = normalize(as_adjacency(graph)), Context(np.dtype(np.float32))
    first = DenseLayer(Features.of(InnerProduct(), features, context), 1.3, 0.2)

    def step(number, below):
        return DenseLayer(Propagate(matrix, Activate(below)), 1.3, 0.2)

    kernel = tangent(Deep(first, step, n_layers))
    np.testing.assert_array_equal(np.diagonal(kernel.block()), kernel.diag())
    below = first, tangent(first)
    for number in range(n_layers):
        output = step(number, below[0])
        layers = output, tangent(output, known=below)
        below = tuple(Given(layer.block(), context) for layer in layers)
        for found, layer in zip(below, layers, strict=True):
            np.fill_diagonal(found.matrix, layer.diag())
    np.testing.assert_array_equal(kernel.diag(), layers[1].diag())
