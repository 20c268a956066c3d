"""Tangent kernels, by formulas that share nothing with the package, and where there is none."""

import numpy as np
import pytest

import gpgc
from gpgc.compute import Context
from gpgc.errors import InputError
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import (
    Activate,
    Center,
    Chain,
    Covariance,
    Cross,
    Deep,
    DenseLayer,
    Diffuse,
    Features,
    Given,
    InnerProduct,
    LowRank,
    Mix,
    Nystrom,
    Propagate,
    Square,
    tangent,
)
from gpgc.kernels.diffuse import PageRank
from gpgc.models.precomputed import Precomputed
from tests.laws import check_laws

WEIGHT, BIAS = 1.7, 0.4
LANDMARKS = np.array([1, 3, 8])


def network_of(features, matrix):
    """A dense layer, an activation, an aggregation and a dense layer."""
    first = DenseLayer(Features.of(InnerProduct(), features), WEIGHT, BIAS)
    return DenseLayer(Propagate(matrix, Activate(first)), WEIGHT, BIAS)


def tangent_by_hand(features, matrix):
    """The same network from the gradients of each of its layers."""
    first = BIAS + WEIGHT * features @ features.T
    gradient_of_first = first  # of σ_b b + √δ_W w·x by b and w
    std = np.sqrt(np.diagonal(first))
    angle = np.arccos(np.clip(first / np.outer(std, std), -1, 1))
    hidden = np.outer(std, std) / np.pi * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
    S = matrix.toarray()
    below = S @ (gradient_of_first * (1 - angle / np.pi)) @ S.T
    return BIAS + WEIGHT * (S @ hidden @ S.T + below)


QUESTIONS = {
    "block": lambda covariance: covariance.block(),
    "diag": lambda covariance: covariance.diag(),
    "matmul": lambda covariance: covariance.matmul(None, None, np.eye(covariance.n_nodes)),
    "local": lambda covariance: covariance.local(np.array([[0, 1], [2, 3]])),
    "dense": lambda covariance: covariance.dense(),
}


def test_tangent_kernels_are_those_of_the_layers_gradients(awkward):
    graph, features = awkward
    matrix = normalize(as_adjacency(graph))
    kernel = tangent(network_of(features, matrix))
    np.testing.assert_allclose(kernel.block(), tangent_by_hand(features, matrix), atol=1e-7)
    check_laws(kernel)


def test_the_gradients_of_a_dense_layer_are_its_inputs_and_one(awkward):
    """By the weights √δ_W x, by the bias σ_b, whichever way it is asked."""
    features = awkward[1]
    inputs = np.hstack([WEIGHT**0.5 * features, np.full((24, 1), BIAS**0.5)])
    kernel = tangent(DenseLayer(Features.of(InnerProduct(), features), WEIGHT, BIAS))
    expected = inputs @ inputs.T
    V = np.random.default_rng(0).normal(size=(24, 2))
    np.testing.assert_allclose(kernel.block(), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(), np.diagonal(expected), atol=1e-12)
    np.testing.assert_allclose(kernel.dense(), expected, atol=1e-12)
    np.testing.assert_allclose(kernel.matmul(None, None, V), expected @ V, atol=1e-12)
    np.testing.assert_allclose(kernel.local(np.array([[4, 2]])), [expected[[4, 2]][:, [4, 2]]])


def test_tangent_kernels_stream_columns_to_the_same_product(awkward, monkeypatch):
    graph, features = awkward
    matrix = normalize(as_adjacency(graph))
    kernel = tangent(Activate(network_of(features, matrix)))
    V = np.random.default_rng(0).normal(size=(24, 2))
    whole = kernel.block() @ V
    for chunk in (8 * 24 * 2 * 5, 8 * 24 * 2, 1):
        monkeypatch.setattr("gpgc.kernels.covariance.CHUNK_BYTES", chunk)
        np.testing.assert_allclose(kernel.matmul(None, None, V), whole, atol=1e-9)
        groups = np.arange(24).reshape(6, 4)
        expected = kernel.block()[groups[:, :, None], groups[:, None, :]]
        np.testing.assert_allclose(kernel.local(groups), expected, atol=1e-12)


def test_a_node_meets_itself_exactly_also_in_blocks(awkward):
    """The derivative of a ReLU turns a rounding e of a correlation into √(2e)/π."""
    graph, features = awkward
    kernel = tangent(Activate(network_of(features, normalize(as_adjacency(graph)))))
    np.testing.assert_allclose(np.diagonal(kernel.block()), kernel.diag(), rtol=1e-12)


WITHOUT_TANGENT = {
    "Center": Center,
    "Square": Square,
    "Nystrom": lambda inner: Nystrom(inner, LANDMARKS),
    "Chain": lambda inner: Chain(Activate(inner), inner, 1.0),
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", WITHOUT_TANGENT)
def test_what_has_no_tangent_kernel_refuses(awkward, name, question):
    graph, features = awkward
    network = network_of(features, normalize(as_adjacency(graph)))
    for part in (
        WITHOUT_TANGENT[name](network),
        DenseLayer(WITHOUT_TANGENT[name](network)),
        Mix([network, Activate(WITHOUT_TANGENT[name](network))]),
    ):
        with pytest.raises(InputError, match=rf"got {name}, which is no layer.*nngp"):
            QUESTIONS[question](tangent(part))


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_layer_without_tangent_kernel_refuses_inside_deep(awkward, question):
    graph, features = awkward
    network = network_of(features, normalize(as_adjacency(graph)))
    for landmarks in (None, LANDMARKS):
        deep = Deep(network, lambda layer, K: DenseLayer(Square(K)), 2, landmarks)
        with pytest.raises(InputError, match="got Square, which is no layer"):
            QUESTIONS[question](tangent(deep))


@pytest.mark.parametrize("wrap", [Square, Center, lambda inner: Nystrom(inner, LANDMARKS)])
def test_around_a_tangent_kernel_they_answer(awkward, wrap):
    graph, features = awkward
    kernel = tangent(network_of(features, normalize(as_adjacency(graph))))
    expected = wrap(Given(kernel.block())).block()
    np.testing.assert_allclose(wrap(kernel).block(), expected, atol=1e-6)


def test_a_part_of_ones_own_that_says_nothing_of_its_tangent_kernel_refuses():
    class Own(Covariance):
        def block(self, rows=None, cols=None):
            return np.eye(3)[np.ix_(self.indices(rows), self.indices(cols))]

        def diag(self, rows=None):
            return np.ones(self.count(rows))

        def dense(self):
            return np.eye(3)

    with pytest.raises(InputError, match="got Own, which is no layer"):
        tangent(DenseLayer(Own(3, Context()))).block()


def test_every_part_says_what_its_tangent_kernel_is(awkward):
    """Each part of the algebra either refuses or obeys the laws: none is 0 by an oversight."""
    graph, features = awkward
    matrix = normalize(as_adjacency(graph))
    inner = network_of(features, matrix)
    parts = {
        Activate: Activate(inner),
        Deep: Deep(inner, lambda layer, K: DenseLayer(Activate(K)), 2),
        DenseLayer: DenseLayer(inner, 2.0, 0.1),
        Diffuse: Diffuse(PageRank(matrix), inner),
        Mix: Mix([inner, DenseLayer(Features.of(InnerProduct(), features))], [0.3, 0.7]),
        Propagate: Propagate(matrix, inner),
    }
    inputs = {
        Cross: Cross(features[:, 0], features[:, 1], Context()),
        Features: Features.of(InnerProduct(), features),
        Given: Given(np.eye(24)),
        LowRank: LowRank(features),
    }
    refusing = {Center, Square, Nystrom, Chain}
    public = {
        value
        for value in vars(gpgc.kernels).values()
        if isinstance(value, type) and issubclass(value, Covariance)
    } - {Covariance}
    assert public == {*parts, *inputs, *refusing}
    for part in parts.values():
        kernel = tangent(part)
        check_laws(kernel)
        assert kernel.diag().max() > 0.1
    for part in inputs.values():
        assert not tangent(part).block().any()


def test_a_matrix_that_is_given_is_no_network():
    with pytest.raises(InputError, match="kernel must be 'nngp' for model='precomputed'"):
        Precomputed(kernel="ntk")
