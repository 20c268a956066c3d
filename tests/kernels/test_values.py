"""Known values, computed by hand or by loops over the paper's formulas."""

import numpy as np
import pytest
import scipy.sparse as sp

import gpgc
from gpgc.compute.primitives import NUMPY
from gpgc.errors import InputError
from gpgc.kernels import ArcCosine, Polynomial, SquaredExponential


def reference(adjacency, features, base, model, depth, weight, bias):
    """The paper's equations with loops, nothing shared with the package."""
    n = len(features)
    with_loops = adjacency + np.eye(n)
    degree = with_loops.sum(axis=1)
    propagation = np.array(
        [[with_loops[m, k] / np.sqrt(degree[m] * degree[k]) for k in range(n)] for m in range(n)]
    )
    rows = propagation @ features
    gamma = np.array([[bias + weight * base(x, y) for y in rows] for x in rows])
    for _ in range(depth - 1):
        kappa = np.zeros((n, n))
        for m in range(n):
            for k in range(n):
                product = gamma[m, m] * gamma[k, k]
                if product > 0:
                    angle = np.arccos(np.clip(gamma[m, k] / np.sqrt(product), -1, 1))
                    kappa[m, k] = (
                        np.sqrt(product) / np.pi * (np.sin(angle) + (np.pi - angle) * np.cos(angle))
                    )
        if model == "big":
            kappa = propagation @ kappa @ propagation.T
        gamma = bias + weight * kappa
    return gamma


def cosine(x, y):
    lengths = np.linalg.norm(x) * np.linalg.norm(y)
    return np.clip(x @ y / lengths, -1, 1) if lengths > 0 else 0.0


BASES = {
    "inner_product": lambda x, y: x @ y,
    "arc_cosine": lambda x, y: 1 - np.arccos(cosine(x, y)) / np.pi,
    "polynomial": lambda x, y: (cosine(x, y) + 0.5) ** 2,
    "squared_exponential": lambda x, y: np.exp(-((x - y) ** 2).sum() / 2),
}


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("model", ["small", "big"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_the_papers_formulas_by_loops(awkward, name, model, depth):
    graph, features = awkward
    symmetric = np.maximum(graph.toarray(), graph.toarray().T)
    np.fill_diagonal(symmetric, 0)
    for weight, bias in [(1.0, 0.0), (0.7, 0.3)]:
        expected = reference(symmetric, features, BASES[name], model, depth, weight, bias)
        covariance = gpgc.covariance(
            graph,
            features,
            model=model,
            base_kernel=name,
            depth=depth,
            weight_variance=weight,
            bias_variance=bias,
        )
        np.testing.assert_allclose(covariance.block(), expected, atol=1e-7)
        np.testing.assert_allclose(covariance.diag(), np.diagonal(expected), atol=1e-7)


def test_two_connected_nodes_by_hand():
    """Â is ½ everywhere, ÂX has two equal rows (½, ½), so K = ½ everywhere, and κ keeps it."""
    covariance = gpgc.covariance(([0], [1]), np.eye(2), weight_variance=3.0)
    np.testing.assert_allclose(covariance.block(), np.full((2, 2), 0.5 * 9), rtol=1e-12)


def test_two_separate_nodes_by_hand():
    """Â = I and orthogonal features: κ(0) = 1/π off the diagonal, 1 on it."""
    covariance = gpgc.covariance(sp.csr_array((2, 2)), np.eye(2), weight_variance=2.0)
    expected = 4.0 * np.array([[1, 1 / np.pi], [1 / np.pi, 1]])
    np.testing.assert_allclose(covariance.block(), expected, rtol=1e-12)


def test_relu_at_its_ends_and_middle():
    values = NUMPY.relu_correlation(np.array([1.0, 0.5, 0.0, -0.5, -1.0]))
    thirds = np.array([np.sqrt(3) / 2 + 2 * np.pi / 3 * 0.5, np.sqrt(3) / 2 - np.pi / 3 * 0.5])
    expected = np.array([np.pi, thirds[0], 1.0, thirds[1], 0.0]) / np.pi
    np.testing.assert_allclose(values, expected, atol=1e-15)


def test_relu_against_monte_carlo():
    rng = np.random.default_rng(0)
    for c in (-0.7, 0.2, 0.9):
        u = rng.normal(size=400_000)
        v = c * u + np.sqrt(1 - c**2) * rng.normal(size=400_000)
        twice = 2 * np.mean(np.maximum(u, 0) * np.maximum(v, 0))
        assert NUMPY.relu_correlation(np.array([c]))[0] == pytest.approx(twice, abs=5e-3)


def test_nodes_without_features_have_no_direction():
    """With themselves and all others: ½, offset^degree, 0; 1 with each other for the distance."""
    features = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    graph = sp.csr_array((3, 3))

    def base(kernel):
        return gpgc.covariance(graph, features, base_kernel=kernel, depth=1).block()

    assert base("arc_cosine")[0].tolist() == [0.5, 0.5, 0.5]
    assert base(Polynomial(offset=0.3, degree=2))[0] == pytest.approx([0.09, 0.09, 0.09])
    assert base("inner_product")[0].tolist() == [0, 0, 0]
    assert base("squared_exponential")[0] == pytest.approx([1, 1, np.exp(-2.5)])
    two_layers = gpgc.covariance(graph, features).block()
    assert two_layers[0].tolist() == [0, 0, 0]


def test_weight_variance_is_a_factor_without_bias(awkward):
    graph, features = awkward
    for depth in (1, 2, 3):
        one = gpgc.covariance(graph, features, depth=depth).block()
        half = gpgc.covariance(graph, features, depth=depth, weight_variance=0.5).block()
        np.testing.assert_allclose(half, 0.5**depth * one, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Polynomial(offset=-0.1), "offset"),
        (lambda: Polynomial(degree=0), "degree"),
        (lambda: Polynomial(degree=1.5), "degree"),
        (lambda: SquaredExponential(length_scale=0), "length_scale"),
        (
            lambda: gpgc.covariance(([0], [1]), np.eye(2), base_kernel="cubic"),
            "polynomial.*cubic",
        ),
        (lambda: gpgc.covariance(([0], [1]), np.eye(2), base_kernel=ArcCosine), "base_kernel"),
        (lambda: gpgc.covariance(([0], [1]), np.eye(2), model="huge"), "model.*big.*huge"),
        (lambda: gpgc.covariance(([0], [1]), np.eye(2), depth=0), "depth"),
        (lambda: gpgc.covariance(([0], [1]), np.eye(2), depth=1.5), "depth"),
        (lambda: gpgc.covariance(([0], [1]), np.eye(2), weight_variance=0), "weight_variance"),
        (lambda: gpgc.covariance(([0], [1]), np.eye(2), bias_variance=-1), "bias_variance"),
        (lambda: gpgc.covariance(([0], [1]), np.eye(2), n_jobs=0), "n_jobs"),
        (lambda: gpgc.covariance(([0], [1]), [[np.nan], [1]]), "features.*finite"),
        (lambda: gpgc.covariance(([0], [1]), [1.0, 2.0]), "features.*2-D"),
        (lambda: gpgc.covariance(([0], [1]), [["a"], ["b"]]), "features.*numbers"),
        (lambda: gpgc.covariance(None), "both be None"),
    ],
)
def test_wrong_arguments_are_named(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_a_kernel_of_ones_own(awkward):
    class ExponentialCosine:
        def evaluate(self, cosine, left, right):
            return np.exp(cosine)

        def variance(self, cosine, norms):
            return np.exp(cosine)

    graph, features = awkward
    covariance = gpgc.covariance(graph, features, base_kernel=ExponentialCosine())
    np.testing.assert_allclose(covariance.block(), covariance.dense(), atol=1e-12)


@pytest.mark.parametrize(("offset", "degree"), [(0.5, 1), (0.5, 2), (0.25, 3), (0.0, 4)])
def test_the_polynomial_has_the_degree_that_was_asked_for(offset, degree):
    kernel, c = Polynomial(offset, degree), np.array([[1.0, 0.5, 0.0]])
    expected = [[(value + offset) ** degree for value in (1.0, 0.5, 0.0)]]
    np.testing.assert_allclose(kernel.evaluate(c.copy(), np.ones((1, 1)), np.ones(3)), expected)
    np.testing.assert_allclose(kernel.variance(c, np.ones(3)), expected)
