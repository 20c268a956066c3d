"""Temperature and class bias."""

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from gpgc.probability.calibration import BIAS_PENALTY, fit_scale_and_bias
from gpgc.probability.softmax import softmax
from gpgc.probability.temperature import (
    Sharpness,
    fit_temperature,
    fit_temperature_with_prior,
)


@pytest.fixture
def world():
    """Scores drawn so that softmax(3 · scores) is right under balanced classes."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    probability = softmax(3 * scores)
    codes = np.array([rng.choice(3, p=row) for row in probability])
    return scores, codes


def test_scale_and_bias_minimise_the_penalised_cross_entropy(world):
    scores, codes = world
    targets = np.eye(3)[codes]
    t, b = fit_scale_and_bias(scores, targets)

    def loss(parameters):
        logits = parameters[0] * scores + parameters[1:]
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        penalty = BIAS_PENALTY / len(scores) * np.sum(parameters[1:] ** 2)
        return -np.mean(log_p[np.arange(len(codes)), codes]) + penalty

    best = minimize(loss, np.array([1.0, 0, 0, 0]), method="BFGS")
    assert loss(np.concatenate([[t], b])) == pytest.approx(best.fun, abs=1e-6)
    assert t == pytest.approx(3, rel=0.1)
    assert b.sum() == pytest.approx(0, abs=1e-9)


def test_bias_of_a_class_that_held_out_labels_lack_stays_finite(world):
    scores, codes = world
    chosen = codes != 2
    t, b = fit_scale_and_bias(scores[chosen], np.eye(3)[codes[chosen]])
    assert np.isfinite([t, *b]).all()
    assert b[2] < min(b[:2])


def test_temperature_follows_many_labels_and_is_usual_without_any(world):
    scores, codes = world
    targets, even, usual = np.eye(3)[codes], np.full(3, 1 / 3), Sharpness(1.3, 0.5)
    many = fit_temperature_with_prior(scores, targets, np.ones(len(codes)), 1.7, usual, even)
    assert many == pytest.approx(float(fit_temperature(scores, targets)), rel=0.01)
    none = fit_temperature_with_prior(scores, targets, np.zeros(len(codes)), 0.5, usual, even)
    assert none * 0.5 == pytest.approx(np.exp(1.3), rel=1e-3)
    assert fit_temperature_with_prior(scores, targets, np.ones(len(codes)), 0, usual, even) == 1.0


def test_the_ridge_on_the_bias_counts_as_one_and_a_half():
    """Ten labels of the first class, scores of 0: n log(1 + exp(−d)) + 1.5 (d²/4 + d²/4)."""
    _, b = fit_scale_and_bias(np.zeros((10, 2)), np.eye(2)[np.zeros(10, dtype=int)])
    gap = minimize_scalar(lambda d: 10 * np.logaddexp(0, -d) + 0.75 * d**2).x
    assert b[0] - b[1] == pytest.approx(gap, rel=1e-3)
