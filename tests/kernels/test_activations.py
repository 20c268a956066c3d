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
from gpgc.kernels.activations import ERF_GAIN, GELU_GAIN
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


LENGTHS = [1e-20, 1e-10, 1e-3, 0.3, 1.0, 20.0, 1e2, 1e4, 1e6]


def long_terms(c, s, t):
    """k, d and √(d − k²) of GELU with 11 more bits than float64, enough for what cancels."""
    c, s, t = (np.asarray(value, dtype=np.longdouble) for value in (c, s, t))
    k, d = c * s * t, (1 + s**2) * (1 + t**2)
    return k, (s * t) ** 2, d, np.sqrt(d - k**2)


def textbook_gelu(c, s, t):
    k, p, d, e = long_terms(c, s, t)
    pi = np.longdouble(np.pi)
    return GELU_GAIN**2 * (
        k / 4 + ((k**2 + p * e**2) / (d * e) + k * np.arcsin(k / np.sqrt(d))) / (2 * pi)
    )


def textbook_gelu_slopes(c, s, t):
    k, p, d, e = long_terms(c, s, t)
    rational = (1 / e**2 + (1 - p) / d + 1) * k / e
    return GELU_GAIN**2 * (0.25 + (rational + np.arcsin(k / np.sqrt(d))) / (2 * np.pi))


def textbook_erf(c, s, t):
    root = 2**0.5
    k, _, d, _ = long_terms(c, root * s, root * t)
    return ERF_GAIN**2 * 2 / np.pi * np.arcsin(k / np.sqrt(d))


def textbook_erf_slopes(c, s, t):
    root = 2**0.5
    return ERF_GAIN**2 * 4 / np.pi / long_terms(c, root * s, root * t)[3]


def in_float64(name):
    """The package's own formula in float64, for activations whose formula does not cancel."""
    activation = activation_from(name)

    def covariance(c, s, t):
        s, t = np.asarray(s, dtype=float), np.asarray(t, dtype=float)
        return activation.correlation(np.array(c), s, t) * activation.std(s) * activation.std(t)

    return covariance, activation.derivative


TEXTBOOK = {
    "gelu": (textbook_gelu, textbook_gelu_slopes),
    "erf": (textbook_erf, textbook_erf_slopes),
    **{name: in_float64(name) for name in ACTIVATIONS if name not in ("gelu", "erf")},
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_rows_of_any_length_are_finite_and_right(name, dtype):
    """Against the formulas of the papers in long floats: neither NaN, nor what has cancelled."""
    activation, (textbook, slopes) = activation_from(name), TEXTBOOK[name]
    c = np.array([-1.0, -0.5, 0.0, 0.25, 0.75, 1.0])
    s, t = np.array(LENGTHS)[:, None, None], np.array(LENGTHS)[:, None]
    left, right = s.astype(dtype), t.astype(dtype)
    shape = np.broadcast_shapes(c.shape, s.shape, t.shape)
    given = np.broadcast_to(c, shape).astype(dtype)
    found = activation.correlation(given.copy(), left, right)
    after = activation.std(left), activation.std(right)
    one = np.ones_like(s)
    variances = [np.asarray(textbook(np.ones_like(at), at, at), dtype=float) for at in (s, t)]
    scale = np.sqrt(variances[0]) * np.sqrt(variances[1])
    expected = np.asarray(textbook(np.broadcast_to(c, shape), s, t), dtype=float)
    few = 3e-5 if dtype == np.float32 else 1e-7  # float32 holds 1e-20² to five digits
    assert np.isfinite(found).all()
    np.testing.assert_allclose(after[0] * one, np.sqrt(variances[0]) * one, rtol=few)
    np.testing.assert_allclose(found * (scale > 0), expected / scale, atol=few)
    if name != "step":
        found = activation.derivative(given, left, right)
        assert np.isfinite(found).all()
        wanted = np.asarray(slopes(np.broadcast_to(c, shape), s, t), dtype=float)
        np.testing.assert_allclose(found, wanted, atol=few, rtol=few)
        if name == "erf":  # small, but multiplied with large variances
            np.testing.assert_allclose(found, wanted, rtol=few)


def test_bad_activations_are_named():
    with pytest.raises(InputError, match=r"activation must be one of relu, leaky_relu.*'tanh'"):
        activation_from("tanh")
    with pytest.raises(InputError, match="slope must be finite, got nan"):
        LeakyReLU(np.nan)
    with pytest.raises(InputError, match="kernel must be 'nngp' for activation='step'"):
        activation_from("step").derivative(np.ones(1), np.ones(1), np.ones(1))
