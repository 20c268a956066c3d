"""The package against the paper on one page, which shares no code with it."""

import ast
import itertools
from pathlib import Path

import numpy as np
import pytest

import gpgc
from gpgc import reference
from gpgc.gp.condition import condition
from gpgc.graph import as_adjacency
from gpgc.kernels import ArcCosine, InnerProduct, Polynomial, SquaredExponential
from gpgc.probability.calibration import Calibration
from gpgc.probability.score_curve import ScoreCurve

KERNELS = [
    (InnerProduct(), {"kernel": "inner_product"}),
    (ArcCosine(), {"kernel": "arc_cosine"}),
    (Polynomial(), {"kernel": "polynomial"}),
    (Polynomial(offset=0.1, degree=3), {"kernel": "polynomial", "offset": 0.1, "degree": 3}),
    (SquaredExponential(), {"kernel": "squared_exponential"}),
    (SquaredExponential(3.0), {"kernel": "squared_exponential", "length_scale": 3.0}),
]


@pytest.mark.parametrize(
    ("kernel", "model", "depth"), list(itertools.product(KERNELS, ["small", "big"], [1, 2, 3, 5]))
)
def test_covariances_are_those_of_the_paper(awkward, kernel, model, depth):
    graph, features = awkward
    chosen, named = kernel
    for bias_variance in (0.0, 0.4):
        numbers = {"depth": depth, "weight_variance": 1.7, "bias_variance": bias_variance}
        expected = reference.gamma(
            as_adjacency(graph).toarray(), features, model, **numbers, **named
        )
        found = gpgc.covariance(graph, features, model=model, base_kernel=chosen, **numbers)
        close = {"rtol": 0, "atol": 1e-6 * max(1.0, float(expected.max()))}
        np.testing.assert_allclose(found.block(), expected, **close)
        np.testing.assert_allclose(found.dense(), expected, **close)
        np.testing.assert_allclose(found.diag(), np.diagonal(expected), **close)


@pytest.mark.parametrize(("depth", "space"), [(1, "function"), (1, "weight"), (2, "function")])
def test_posterior_leave_one_out_and_evidence_are_those_of_the_paper(awkward, depth, space):
    graph, features = awkward
    labelled, targets = np.array([1, 3, 4, 8, 13, 21]), np.random.default_rng(0).normal(size=(6, 2))
    lazy = gpgc.covariance(graph, features, depth=depth)
    found = condition(lazy, labelled, targets, np.array([0.3]), space=space)
    K = reference.gamma(as_adjacency(graph).toarray(), features, depth=depth)
    mean, covariance = reference.posterior(K, labelled, targets, 0.3)
    np.testing.assert_allclose(found.mean(), mean, atol=1e-6)
    np.testing.assert_allclose(found.variance(), np.diagonal(covariance), atol=1e-6)
    np.testing.assert_allclose(found.joint_covariance(), covariance, atol=1e-6)
    left_out, variance = reference.leave_one_out(K, labelled, targets, 0.3)
    np.testing.assert_allclose(found.leave_one_out().mean, left_out, atol=1e-6)
    np.testing.assert_allclose(found.leave_one_out().variance, variance, atol=1e-6)
    evidence = reference.log_evidence(K, labelled, targets, 0.3)
    np.testing.assert_allclose(found.log_marginal_likelihood(), evidence, rtol=1e-6)


def test_probabilities_are_a_softmax_with_sharpness_and_bias():
    mean, bias = np.array([[0.2, -0.1, 0.4], [900.0, 0.0, 1.0]]), np.array([0.1, 0.0, -0.3])
    calibration = Calibration(ScoreCurve(2.5), bias, np.full(3, 1 / 3))
    expected = reference.probabilities(mean, 2.5, bias)
    np.testing.assert_allclose(calibration.probabilities(mean, np.ones(2, bool)), expected)


def test_leaving_out_is_conditioning_on_the_others():
    rng = np.random.default_rng(1)
    A = (rng.random((12, 12)) < 0.3).astype(float)
    A = np.triu(A, 1) + np.triu(A, 1).T
    K = reference.gamma(A, rng.normal(size=(12, 4)), "small", bias_variance=0.1)
    labelled, targets = np.arange(7), rng.normal(size=(7, 3))
    mean, variance = reference.leave_one_out(K, labelled, targets, 0.2)
    for i in range(7):
        others = np.delete(labelled, i)
        expected, covariance = reference.posterior(K, others, targets[others], 0.2)
        np.testing.assert_allclose(mean[i], expected[i], atol=1e-10)
        np.testing.assert_allclose(variance[i], covariance[i, i] + 0.2, atol=1e-10)


def test_the_page_uses_nothing_of_the_package():
    tree = ast.parse(Path(reference.__file__).read_text())
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= {"__future__", "typing", "gpgc._typing"}
