"""Probabilities of several labels a node, and from which probability on a label is given."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from gpgc.probability.label_thresholds import fit_label_scale, label_thresholds


def test_without_labels_the_slope_is_the_usual_one():
    scale = fit_label_scale(np.zeros((3, 1)), np.array([[0.0], [1.0], [1.0]]), np.zeros(3))
    assert scale.slope == pytest.approx(6, rel=1e-4)


def test_the_slope_follows_the_labels_as_far_as_its_prior_lets_it():
    means, targets = np.array([[-0.5], [0.5]]).repeat(4, axis=0), np.zeros((8, 1))
    targets[4:] = 1

    def loss(log_slope):  # four labels each: Platt's targets are 5/6 and 1/6
        logit = 0.5 * np.exp(log_slope)
        own = np.logaddexp(0, logit) - 5 / 6 * logit
        return 8 * own + (log_slope - np.log(6)) ** 2 / 2

    best = minimize_scalar(loss, bounds=(-3, 5), method="bounded", options={"xatol": 1e-9}).x
    scale = fit_label_scale(means, targets, np.ones(8))
    assert scale.slope == pytest.approx(np.exp(best), rel=1e-3)
    assert scale.bias[0] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("with_it", [True, False])
def test_a_label_has_a_threshold_of_its_own_from_five_nodes_on(with_it):
    common = np.tile([0.2, 0.8], 50)
    for n_nodes, own in ((4, False), (5, True)):
        rare = np.full(100, 0.9 if not with_it else 0.05)
        rare[:n_nodes] = 0.1 if with_it else 0.7
        targets = np.column_stack([common > 0.5, (rare > 0.06) if with_it else (rare > 0.8)])
        found = label_thresholds(np.column_stack([common, rare]), targets.astype(float))
        expected = 0.075 if with_it else 0.8
        assert (found[1] == pytest.approx(expected)) == own
