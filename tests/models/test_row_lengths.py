"""Features of any unit: probabilities are finite, and alike in float32 and float64."""

import numpy as np
import pytest

from gpgc import GPGCClassifier
from gpgc.errors import InputError
from gpgc.kernels import ACTIVATIONS
from gpgc.models import REGISTRY
from tests.pairwise import pairwise

NO_DERIVATIVE = ("step", "ntk")


@pytest.fixture
def ring():
    """Two halves of a ring whose features differ, with four labels each."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 20)
    features = rng.normal(size=(40, 4)) + np.array([[2.0, 0, 0, 0], [0, 2.0, 0, 0]])[truth]
    features /= np.linalg.norm(features, axis=1).mean()
    edges = np.arange(40), (np.arange(40) + 1) % 40
    return features, np.where(np.arange(40) % 5 == 0, truth, -1), edges


def probabilities(model, dtype, X, y, edges):
    estimator = GPGCClassifier(model, dtype=dtype, noise_variance="loo", class_prior="labels")
    return estimator.fit(X, y, edges).predict_proba()


@pytest.mark.parametrize(
    ("network", "activation", "kernel", "length"),
    pairwise(
        ["big", "small", "gcnii", "gin"],
        list(ACTIVATIONS),
        ["nngp", "ntk"],
        [1e-20, 1e-6, 1.0, 1e2, 1e4, 1e6],
        unless=lambda network, activation, kernel, length: (activation, kernel) == NO_DERIVATIVE,
    ),
)
def test_rows_of_any_length(ring, network, activation, kernel, length):
    features, y, edges = ring
    model = REGISTRY[network](activation=activation, kernel=kernel)
    exact = probabilities(model, "float64", length * features, y, edges)
    assert np.isfinite(exact).all()
    np.testing.assert_allclose(exact.sum(axis=1), 1)
    if length == 1e-20:
        with pytest.raises(InputError, match=r"float32, whose squares it can hold, .* scale X"):
            probabilities(model, "float32", length * features, y, edges)
        return
    fast = probabilities(model, "float32", length * features, y, edges)
    assert np.isfinite(fast).all()
    if activation not in ("sin", "cos") or length <= 1:  # long waves have nothing in common
        np.testing.assert_allclose(fast, exact, atol=1e-3)
