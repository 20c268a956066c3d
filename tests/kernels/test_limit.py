"""A random finite GCN of growing width converges to the kernel at the Monte Carlo rate."""

import numpy as np
import pytest

import gpgc
from gpgc.graph import Nodes, as_adjacency
from gpgc.models import GCN, Broad, architecture_from


@pytest.mark.parametrize("model", ["small", "big"])
@pytest.mark.parametrize("bias_variance", [0.0, 0.5])
@pytest.mark.parametrize(("base_kernel", "depth"), [("inner_product", 2), ("polynomial", 3)])
def test_error_falls_as_one_over_root_width(awkward, model, bias_variance, base_kernel, depth):
    graph, features = awkward
    architecture = architecture_from(
        model,
        base_kernel=base_kernel,
        depth=depth,
        weight_variance=1.3,
        bias_variance=bias_variance,
    )
    nodes = Nodes(as_adjacency(graph), features)
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
        draws = [architecture.sample(nodes, width, rng) for _ in range(48)]
        squares = [np.mean((draw - limit) ** 2) for draw in draws]
        return float(np.sqrt(np.mean(squares)) / np.abs(limit).mean())

    narrow, wide = error(32), error(32 * 16)
    assert wide < 0.2
    assert narrow / wide == pytest.approx(4.0, rel=0.35)


@pytest.mark.parametrize("bias_variance", [0.0, 0.5])
def test_error_of_the_broad_model_falls_too(awkward, bias_variance):
    """Squaring adds errors of order 1/width, so the rate shows at larger widths."""
    graph, features = awkward
    nodes = Nodes(as_adjacency(graph), features)
    architecture = Broad(bias_variance=bias_variance)
    limit = gpgc.covariance(graph, features, model=architecture).block()
    rng = np.random.default_rng(0)

    def error(width: int) -> float:
        draws = [architecture.sample(nodes, width, rng) for _ in range(24)]
        return float(np.sqrt(np.mean([(draw - limit) ** 2 for draw in draws])))

    assert error(256) / error(256 * 16) == pytest.approx(4.0, rel=0.35)


@pytest.mark.parametrize("base_kernel", ["arc_cosine", "squared_exponential"])
def test_mean_over_networks_is_the_kernel(awkward, base_kernel):
    graph, features = awkward
    nodes = Nodes(as_adjacency(graph), features)
    limit = gpgc.covariance(graph, features, base_kernel=base_kernel).block()
    rng = np.random.default_rng(1)
    mean = GCN(base_kernel=base_kernel).sample(nodes, 40_000, rng)
    np.testing.assert_allclose(mean, limit, atol=0.04 * limit.max())


def test_one_layer_is_exact(awkward):
    graph, features = awkward
    architecture = GCN(depth=1, weight_variance=2.0, bias_variance=0.1)
    nodes = Nodes(as_adjacency(graph), features)
    drawn = architecture.sample(nodes, 1, np.random.default_rng(0))
    limit = gpgc.covariance(graph, features, model=architecture)
    np.testing.assert_allclose(drawn, limit.block(), atol=1e-12)
