"""Temperature, class bias and class prior."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gpgc.probability.calibration import BIAS_PENALTY, fit_scale_and_bias
from gpgc.probability.class_prior import estimate_prior
from gpgc.probability.softmax import softmax
from gpgc.probability.temperature import fit_temperature, fit_temperature_with_prior


@pytest.fixture
def world():
    """Scores drawn so that softmax(3 · scores) is right under balanced classes."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4000, 3))
    probability = softmax(3 * scores)
    codes = np.array([rng.choice(3, p=row) for row in probability])
    return scores, codes


def test_prior_of_a_shifted_world_is_found_up_to_the_pull(world):
    scores, codes = world
    rng = np.random.default_rng(1)
    keep = rng.random(len(codes)) < np.array([1.0, 0.5, 0.2])[codes]
    true = np.bincount(codes[keep]) / keep.sum()
    found = estimate_prior(softmax(3 * scores[keep]), np.full(3, 1 / 3), n_labels=600)
    assert found.sum() == pytest.approx(1)
    assert found.argsort().tolist() == true.argsort().tolist()
    np.testing.assert_allclose(found, true, atol=0.03)
    few = estimate_prior(softmax(3 * scores[keep]), np.full(3, 1 / 3), n_labels=3)
    np.testing.assert_allclose(few, 1 / 3, atol=0.02)


def test_prior_without_unlabelled_nodes_is_that_of_the_labels():
    shares = np.array([0.25, 0.75])
    assert estimate_prior(np.empty((0, 2)), shares, 4).tolist() == shares.tolist()


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


def test_temperature_follows_the_labels_where_there_are_many_and_the_prior_where_there_are_none(
    world,
):
    scores, codes = world
    targets = np.eye(3)[codes]
    many = fit_temperature_with_prior(scores, targets, np.ones(len(codes)), spread=1.7)
    assert many == pytest.approx(float(fit_temperature(scores, targets)), rel=0.01)
    none = fit_temperature_with_prior(scores, targets, np.zeros(len(codes)), spread=0.5)
    assert none * 0.5 == pytest.approx(np.exp(1.3), rel=1e-3)
    assert fit_temperature_with_prior(scores, targets, np.ones(len(codes)), spread=0.0) == 1.0
