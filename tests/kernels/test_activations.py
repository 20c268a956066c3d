"""Closed forms of activations, against quadrature and wide random networks."""

import numpy as np
import pytest

from gpgc.errors import InputError
from gpgc.graph import as_adjacency, normalize
from gpgc.kernels import (
    ACTIVATIONS,
    Activate,
    Features,
    InnerProduct,
    LeakyReLU,
    Propagate,
    Step,
    activation_from,
)
from tests.laws import check_laws

ALL = [*(kind() for kind in ACTIVATIONS.values()), LeakyReLU(-0.5)]
DIFFERENTIABLE = [one for one in ALL if not isinstance(one, Step)]
PAIRS = [(1.0, 1.0, 0.3), (0.4, 2.0, -0.7), (3.0, 0.2, 0.95), (1.5, 1.5, 1.0)]


def expectation(function, left, right, correlation):
    """Return E[function(u, v)] by quadrature in polar coordinates."""
    nodes, weights = np.polynomial.laguerre.laggauss(60)
    radius = np.sqrt(2 * nodes)[:, None]
    angle = (np.arange(8000) + 0.5) * 2 * np.pi / 8000
    u = left * radius * np.cos(angle)
    v = right * radius * np.cos(angle - np.arccos(correlation))
    return float(weights @ function(u, v).mean(axis=1))


def slope_of(activation, values):
    step = 1e-6
    return (activation(values + step) - activation(values - step)) / (2 * step)


@pytest.mark.parametrize("activation", ALL, ids=repr)
@pytest.mark.parametrize(("left", "right", "c"), PAIRS)
def test_closed_forms_are_the_expectations(activation, left, right, c):
    s, t = np.array([left]), np.array([right])
    found = activation.correlation(np.array([[c]]), s[:, None], t)[0, 0]
    found *= activation.std(s)[0] * activation.std(t)[0]
    expected = expectation(lambda u, v: activation(u) * activation(v), left, right, c)
    assert found == pytest.approx(expected, abs=5e-4)
    mean = expectation(lambda u, v: activation(u), left, right, c)
    assert activation.mean(s)[0] == pytest.approx(mean, abs=5e-4 * max(1.0, left))


@pytest.mark.parametrize("activation", DIFFERENTIABLE, ids=repr)
@pytest.mark.parametrize(("left", "right", "c"), PAIRS)
def test_derivatives_are_the_expectations(activation, left, right, c):
    found = activation.derivative(np.array([[c]]), np.array([[left]]), np.array([right]))[0, 0]
    expected = expectation(
        lambda u, v: slope_of(activation, u) * slope_of(activation, v), left, right, c
    )
    assert found == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("activation", DIFFERENTIABLE, ids=repr)
def test_derivative_by_the_covariance_is_the_expected_product_of_slopes(activation):
    """∂E[φ(u) φ(v)] / ∂cov(u, v) = E[φ′(u) φ′(v)] (Price's theorem)."""
    c, s, t, step = np.linspace(-0.9, 0.9, 7), np.full(7, 0.8), np.full(7, 1.7), 1e-6

    def covariance(at):
        return activation.correlation(at.copy(), s, t) * activation.std(s) * activation.std(t)

    slope = (covariance(c + step) - covariance(c - step)) / (2 * step * 0.8 * 1.7)
    np.testing.assert_allclose(activation.derivative(c, s, t), slope, atol=1e-7)


@pytest.mark.parametrize("activation", ALL, ids=repr)
def test_unit_variance_stays_unit_variance(activation):
    one = np.ones(1)
    assert activation.std(one)[0] == pytest.approx(1)
    assert activation.correlation(np.ones((1, 1)), one[:, None], one)[0, 0] == pytest.approx(1)


@pytest.mark.parametrize("activation", ALL, ids=repr)
def test_activated_covariances_obey_the_laws(awkward, activation):
    graph, features = awkward
    layer = Activate(Features.of(InnerProduct(), features), activation)
    check_laws(layer)
    # two steps one after the other: twice the square root of the rounding
    atol = 1e-4 if isinstance(activation, Step) else 1e-7
    check_laws(Activate(Propagate(normalize(as_adjacency(graph)), layer), activation), atol)


@pytest.mark.parametrize("activation", ALL, ids=repr)
def test_wide_random_layers_have_this_covariance(awkward, activation):
    features = awkward[1]
    limit = Activate(Features.of(InnerProduct(), features), activation).block()
    rng = np.random.default_rng(0)
    values = activation(features @ rng.normal(size=(5, 40_000)))
    np.testing.assert_allclose(values @ values.T / 40_000, limit, atol=0.04 * limit.max())


@pytest.mark.parametrize("activation", ALL, ids=repr)
def test_float32_stays_float32(activation):
    c, s = np.full((2, 3), 0.4, dtype=np.float32), np.ones(3, dtype=np.float32)
    assert activation.correlation(c, s[:2, None], s).dtype == np.float32
    assert activation.std(s).dtype == activation.mean(s).dtype == np.float32


def test_bad_activations_are_named():
    with pytest.raises(InputError, match=r"activation must be one of relu, leaky_relu.*'tanh'"):
        activation_from("tanh")
    with pytest.raises(InputError, match="slope must be finite, got nan"):
        LeakyReLU(np.nan)
    with pytest.raises(InputError, match="kernel must be 'nngp' for activation='step'"):
        activation_from("step").derivative(np.ones(1), np.ones(1), np.ones(1))
