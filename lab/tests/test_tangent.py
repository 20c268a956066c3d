"""Tangent kernels against the gradients of finite networks, and against neural-tangents."""

from __future__ import annotations

import numpy as np
import pytest

from gpgc.graph import Nodes, as_adjacency
from gpgc.kernels import Activate, DenseLayer, Features, InnerProduct, Propagate, tangent
from gpgc.models import GCNII, Prior, architecture_from
from gpgc.models.finite import rows_with_kernel

VARIANCES = {"weight_variance": 1.2, "bias_variance": 0.3}


def small_graph() -> Nodes:
    rng = np.random.default_rng(0)
    edges = (np.array([0, 1, 2, 3, 0, 5]), np.array([1, 2, 3, 4, 4, 6]))
    return Nodes(as_adjacency(edges), rng.normal(size=(7, 3)))


class TorchLayers:
    """The layers of finite networks in PyTorch: weights are standard normal, scaled after."""

    def __init__(self, torch, width: int, activation: str, seed: int) -> None:
        self.torch, self.width, self.weights = torch, width, []
        self.random = torch.Generator().manual_seed(seed)
        self.function = {
            "relu": lambda z: 2**0.5 * torch.relu(z),
            "erf": lambda z: torch.erf(z) * float((2 / np.pi * np.arcsin(2 / 3)) ** -0.5),
        }[activation]

    def normal(self, *size: int, trained: bool = True):
        drawn = self.torch.randn(*size, generator=self.random, dtype=self.torch.float64)
        if trained:
            self.weights.append(drawn.requires_grad_())
        return drawn

    def input(self, rows, factor=1.0, *, bias=True):
        values = self.torch.tensor(rows_with_kernel(InnerProduct(), rows))
        return self._times_weights(values, factor, bias)

    def dense(self, values, factor=1.0, *, bias=True):
        return self._times_weights(values, factor / values.shape[1], bias)

    def _times_weights(self, values, factor, bias):
        variance = factor * VARIANCES["weight_variance"]
        outputs = values @ self.normal(values.shape[1], self.width) * variance**0.5
        offset = self.normal(self.width) * VARIANCES["bias_variance"] ** 0.5
        return outputs + offset if bias else outputs

    def activate(self, values):
        return self.function(values)

    def aggregate(self, matrix, values):
        dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        return self.torch.tensor(np.asarray(dense)) @ values

    def rotate(self, values):
        size = values.shape[1]
        rotation, upper = self.torch.linalg.qr(self.normal(size, size, trained=False))
        return values @ (rotation * upper.diagonal().sign())


def empirical(torch, network, nodes: Nodes, width: int, seed: int, activation: str) -> np.ndarray:
    """Return the inner products of the gradients of one output at all nodes."""
    layers = TorchLayers(torch, width, activation, seed)
    outputs = network.network(nodes, layers)[:, 0]
    gradients = [
        torch.cat(
            [
                part.reshape(-1)
                for part in torch.autograd.grad(
                    output,
                    layers.weights,
                    retain_graph=True,
                    allow_unused=True,
                    materialize_grads=True,
                )
            ]
        )
        for output in outputs
    ]
    jacobian = torch.stack(gradients)
    return (jacobian @ jacobian.T).numpy()


@pytest.mark.parametrize("activation", ["relu", "erf"])
@pytest.mark.parametrize("model", ["sgc", "appnp", "gcnii", "sage", "gin"])
def test_gradients_of_finite_networks_tend_to_the_tangent_kernel(model, activation):
    torch = pytest.importorskip("torch")
    nodes = small_graph()
    network = architecture_from(model, activation=activation, kernel="ntk", **VARIANCES)
    limit = Prior(network, nodes).covariance().block()
    draws = [empirical(torch, network, nodes, 256, seed, activation) for seed in range(16)]
    np.testing.assert_allclose(np.mean(draws, axis=0), limit, atol=0.1 * np.abs(limit).max())
    spread = [np.linalg.norm(draw - limit) / np.linalg.norm(limit) for draw in draws]
    assert np.mean(spread) < 0.6


def test_deeper_networks_too():
    torch = pytest.importorskip("torch")
    network, nodes = GCNII(depth=3, teleport=0.3, kernel="ntk", **VARIANCES), small_graph()
    limit = Prior(network, nodes).covariance().block()
    draws = [empirical(torch, network, nodes, 256, seed, "relu") for seed in range(12)]
    np.testing.assert_allclose(np.mean(draws, axis=0), limit, atol=0.1 * np.abs(limit).max())


@pytest.mark.parametrize("activation", ["Relu", "Erf", "Gelu"])
def test_equal_to_neural_tangents(activation):
    stax = pytest.importorskip("neural_tangents", exc_type=ImportError).stax
    jnp = pytest.importorskip("jax.numpy")
    from gpgc.kernels import ACTIVATIONS
    from gpgc.kernels.activations import ERF_GAIN, GELU_GAIN

    nodes = small_graph()
    gain = {"Relu": 2**0.5, "Erf": ERF_GAIN, "Gelu": GELU_GAIN}[activation]
    axes = {"aggregate_axis": 1, "batch_axis": 0, "channel_axis": 2}
    function = getattr(stax, activation)()
    _, _, kernel = stax.serial(
        stax.Aggregate(**axes),
        stax.Dense(1, W_std=3**0.5, b_std=None),
        function,
        stax.Aggregate(**axes),
        stax.Dense(1, W_std=gain, b_std=None),
    )
    pattern = jnp.asarray(nodes.propagation.toarray())[None]
    theirs = kernel(
        jnp.asarray(nodes.features)[None], None, ("nngp", "ntk"), pattern=(pattern, pattern)
    )
    rows = nodes.propagation @ nodes.features
    hidden = Activate(
        DenseLayer(Features.of(InnerProduct(), rows)), ACTIVATIONS[activation.lower()]()
    )
    gamma = DenseLayer(Propagate(nodes.propagation, hidden))
    np.testing.assert_allclose(gamma.block(), np.asarray(theirs.nngp)[0, 0], atol=1e-5)
    np.testing.assert_allclose(tangent(gamma).block(), np.asarray(theirs.ntk)[0, 0], atol=1e-4)
