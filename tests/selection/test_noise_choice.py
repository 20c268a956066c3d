"""What leaving each label out costs, by which noise is chosen."""

import numpy as np
from scipy.stats import norm

from gpgc.gp import LeaveOneOut
from gpgc.probability.softmax import cross_entropies
from gpgc.selection.noise_choice import left_out_losses

RNG = np.random.default_rng(0)
MEANS, VARIANCES = RNG.normal(size=(2, 5, 3)), RNG.uniform(0.2, 4, size=(2, 5))
RELATIVE = np.array([1.0, 2.0, 0.5, 1.0, 4.0])


def test_values_cost_the_log_density_of_what_is_left_out():
    targets = RNG.normal(size=(5, 3))
    found = left_out_losses(LeaveOneOut(MEANS, VARIANCES), targets, RELATIVE, "density")
    densities = norm(MEANS, np.sqrt(VARIANCES)[..., None]).logpdf(targets)
    np.testing.assert_allclose(found, -densities.sum(axis=-1))


def test_classes_cost_the_cross_entropy_at_the_sharpness_that_suits_the_trusted_ones_best():
    targets = np.eye(3)[[0, 1, 2, 1, 0]]
    means = MEANS + targets
    found = left_out_losses(LeaveOneOut(means, VARIANCES), targets, RELATIVE, "cross_entropy")
    totals = [
        cross_entropies(means, targets, np.full(2, t)) @ (1 / RELATIVE)
        for t in np.logspace(-2, 2, 400)
    ]
    np.testing.assert_allclose(found @ (1 / RELATIVE), np.min(totals, axis=0), rtol=1e-4)
