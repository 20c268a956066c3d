"""What posteriors in weight space, over landmarks and of single targets answer about labels."""

import numpy as np
import pytest

import gpgc
from gpgc.gp import LabelledRoot, Targetwise, WeightSpace, condition
from gpgc.gp.nystrom_space import NystromSpace
from gpgc.kernels import Features, InnerProduct, Nystrom

LABELLED = np.array([1, 3, 4, 8, 13, 17, 21])
TARGETS = np.cos(np.arange(14.0)).reshape(7, 2)
RELATIVE = np.array([1.0, 0.25, 4.0, 1.0, 2.0, 0.5, 8.0])


@pytest.mark.parametrize("among", [None, np.array([5, 0, 6])])
def test_labels_that_landmarks_tell_little_of_are_uncertain_when_left_out(
    awkward, among, monkeypatch
):
    monkeypatch.setattr("gpgc.gp.nystrom_space.MOST_LANDMARKS", 2)
    covariance = gpgc.covariance(*awkward)
    posterior = NystromSpace(covariance, LABELLED, TARGETS, 0.1, RELATIVE)
    approximate = posterior.covariance
    assert isinstance(approximate, Nystrom)
    assert approximate.rank == 2
    nodes = LABELLED if among is None else LABELLED[among]
    untold = covariance.diag(nodes) - approximate.diag(nodes)
    plain = WeightSpace(LabelledRoot.of(approximate, LABELLED, TARGETS, RELATIVE), 0.1)
    found, expected = posterior.leave_one_out(among), plain.leave_one_out(among)
    np.testing.assert_allclose(found.mean, expected.mean)
    np.testing.assert_allclose(found.variance, expected.variance + untold)
    assert untold.max() > 0.1
    np.testing.assert_allclose(
        posterior.variance(nodes), plain.variance(nodes) + untold, atol=1e-12
    )


@pytest.mark.parametrize("space", ["function", "weight"])
def test_labels_at_which_a_target_is_not_known_say_nothing_of_it(awkward, space):
    covariance = Features.of(InnerProduct(), awkward[1])
    targets = TARGETS.copy()
    targets[[1, 4], 0] = np.nan
    both = condition(covariance, LABELLED, targets, np.array([0.2, 0.3]), space=space)
    assert isinstance(both, Targetwise)
    missing = np.isnan(targets)
    np.testing.assert_array_equal(np.isnan(both.targets), missing)
    np.testing.assert_array_equal(both.targets[~missing], targets[~missing])
    np.testing.assert_array_equal(both.influence()[:, [1, 4], 0], 0)
    for answer in both.leave_one_out():
        np.testing.assert_array_equal(np.isnan(answer), missing)
    some = both.leave_one_out(np.array([4, 2]))
    np.testing.assert_array_equal(np.isnan(some.mean), missing[[4, 2]])
    np.testing.assert_allclose(some.variance[1], both.leave_one_out().variance[2])
    for column, level in enumerate((0.2, 0.3)):
        known = ~missing[:, column]
        alone = condition(
            covariance, LABELLED[known], targets[known][:, [column]], np.array([level]), space=space
        )
        np.testing.assert_allclose(both.mean()[:, column], alone.mean()[:, 0])
        np.testing.assert_allclose(both.variance()[:, column], alone.variance(), atol=1e-12)
        np.testing.assert_allclose(
            both.leave_one_out().mean[known, column], alone.leave_one_out().mean[:, 0]
        )
