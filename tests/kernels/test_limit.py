"""A random finite GCN of growing width converges to the kernel at the Monte Carlo rate."""

import numpy as np
import pytest

import gpgc
from gpgc.finite import finite_covariance
from gpgc.graph import as_adjacency, normalize
from gpgc.models import Architecture


@pytest.mark.parametrize("model", ["small", "big"])
@pytest.mark.parametrize("bias_variance", [0.0, 0.5])
@pytest.mark.parametrize(("base_kernel", "depth"), [("inner_product", 2), ("polynomial", 3)])
def test_error_falls_as_one_over_root_width(awkward, model, bias_variance, base_kernel, depth):
    graph, features = awkward
    architecture = Architecture(model, base_kernel, depth, 1.3, bias_variance)
    propagation = normalize(as_adjacency(graph))
    limit = gpgc.covariance(
        graph,
        features,
        model=model,
        base_kernel=base_kernel,
        depth=depth,
        weight_variance=1.3,
        bias_variance=bias_variance,
    ).block()
    rng = np.random.default_rng(0)

    def error(width: int) -> float:
        draws = [
            finite_covariance(architecture, propagation, features, width, rng) for _ in range(48)
        ]
        squares = [np.mean((draw - limit) ** 2) for draw in draws]
        return float(np.sqrt(np.mean(squares)) / np.abs(limit).mean())

    narrow, wide = error(32), error(32 * 16)
    assert wide < 0.2
    assert narrow / wide == pytest.approx(4.0, rel=0.35)


@pytest.mark.parametrize("base_kernel", ["arc_cosine", "squared_exponential"])
def test_mean_over_networks_is_the_kernel(awkward, base_kernel):
    graph, features = awkward
    architecture = Architecture("big", base_kernel, 2)
    propagation = normalize(as_adjacency(graph))
    limit = gpgc.covariance(graph, features, base_kernel=base_kernel).block()
    rng = np.random.default_rng(1)
    mean = finite_covariance(architecture, propagation, features, 40_000, rng)
    np.testing.assert_allclose(mean, limit, atol=0.04 * limit.max())


def test_one_layer_is_exact(awkward):
    graph, features = awkward
    propagation = normalize(as_adjacency(graph))
    drawn = finite_covariance(
        Architecture(depth=1, weight_variance=2.0, bias_variance=0.1),
        propagation,
        features,
        1,
        np.random.default_rng(0),
    )
    limit = gpgc.covariance(graph, features, depth=1, weight_variance=2.0, bias_variance=0.1)
    np.testing.assert_allclose(drawn, limit.block(), atol=1e-12)
