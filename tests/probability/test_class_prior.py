"""The class prior follows the unlabelled nodes where labels show it, and stays with them else."""

import numpy as np
import pytest

from gpgc.errors import InputError
from gpgc.probability.calibration import Calibration, calibrate_left_out
from gpgc.probability.class_prior import class_prior, prior_ratios
from gpgc.probability.score_curve import ScoreCurve
from gpgc.probability.softmax import softmax
from gpgc.probability.temperature import root_mean_square, square_sums


def drawn_world(rng, fractions, n_nodes, strength=2.0):
    """Return scores whose softmax with the log of the fractions is right, and classes."""
    codes = rng.choice(len(fractions), p=fractions, size=n_nodes)
    means = strength * np.eye(len(fractions))[codes] + rng.normal(size=(n_nodes, len(fractions)))
    return strength * means, codes


def ratios(rng, label_fractions, fractions, n_labels, strength=2.0):
    scores, codes = drawn_world(rng, label_fractions, n_labels, strength)
    codes[: len(label_fractions)] = np.arange(len(label_fractions))
    targets = np.eye(len(label_fractions))[codes]
    shown = targets.mean(axis=0)
    nodes, _ = drawn_world(rng, fractions, 20_000, strength)
    left_out, found = softmax(scores + np.log(shown)), softmax(nodes + np.log(shown)).mean(axis=0)
    return prior_ratios(left_out, targets, shown, found), shown


def test_ratios_of_a_shifted_world_are_found_from_many_labels():
    rng = np.random.default_rng(0)
    even, world = np.full(4, 0.25), np.array([0.6, 0.2, 0.15, 0.05])
    found, shown = ratios(rng, even, world, 800)
    assert found @ shown == pytest.approx(1)
    np.testing.assert_allclose(found * shown, world, atol=0.04)
    few, shown = ratios(rng, even, world, 12)
    np.testing.assert_allclose(few, 1)


@pytest.mark.parametrize("world", [[0.5, 0.25, 0.15, 0.06, 0.04], [0.88, 0.12], [0.25] * 4])
def test_of_labels_drawn_at_random_the_fractions_are_no_worse_for_the_estimate(world):
    rng = np.random.default_rng(1)
    found = []
    for n_labels in (30, 100, 300, 1000) * 3:
        ratio, shown = ratios(rng, world, world, n_labels)
        off = [np.abs(one - world).sum() / 2 for one in (shown, shown * ratio)]
        found.append(off)
        assert off[1] < off[0] + 0.06
    assert np.mean(found, axis=0)[1] < np.mean(found, axis=0)[0] + 0.002


def test_probabilities_that_say_nothing_keep_the_fractions():
    rng = np.random.default_rng(2)
    even, world = np.full(4, 0.25), np.array([0.6, 0.2, 0.15, 0.05])
    for n_labels in (20, 200, 2000):
        np.testing.assert_allclose(ratios(rng, even, world, n_labels, 0.01)[0], 1, atol=0.02)


def shifted(n_each, found=(0.7, 0.3)):
    """Return the first ratio of two classes of n labels each, of which nine in ten are known."""
    rows = np.repeat([[0.9, 0.1], [0.1, 0.9]], n_each, axis=0)
    rows[::10] = rows[::10, ::-1]
    targets = np.repeat(np.eye(2), n_each, axis=0)
    return prior_ratios(rows, targets, np.full(2, 0.5), np.array(found))[0]


def test_the_estimate_is_bolder_the_more_labels_there_are():
    by_number = [shifted(n) for n in (3, 5, 10, 20, 1000)]
    assert by_number == sorted(by_number)
    assert by_number[0] == 1
    assert by_number[1] == pytest.approx(1.28, abs=0.05)  # 1.4 with PSEUDO_LABELS = 5
    assert by_number[3] == pytest.approx(1.49, abs=0.03)
    assert by_number[4] == pytest.approx(1.625, abs=0.03)  # (.7 − .18) / (.82 − .18) · 2
    smaller = [shifted(n, (0.6, 0.4)) for n in (3, 5, 10, 20, 1000)]
    assert smaller[:3] == [1, 1, 1]
    assert smaller[3] == pytest.approx(1.15, abs=0.04)


def test_a_difference_within_the_systematic_error_is_none():
    assert shifted(100_000, (0.53, 0.47)) == 1
    assert 1.09 < shifted(100_000, (0.55, 0.45)) < 1.125


def test_classes_of_one_label_keep_their_fraction():
    rng = np.random.default_rng(3)
    codes = np.array([0] * 40 + [1] * 40 + [2])
    targets = np.eye(3)[codes]
    means = targets + 0.2 * rng.normal(size=targets.shape)
    world = np.eye(3)[rng.choice(3, p=[0.8, 0.15, 0.05], size=4000)]
    nodes = world + 0.2 * rng.normal(size=world.shape)
    spread = root_mean_square(square_sums(nodes))
    weights = np.r_[np.full(80, 1 - 1 / 40), 0.0]
    fractions = targets.mean(axis=0)
    known = means, targets, weights, fractions, spread
    found = calibrate_left_out(*known, lambda said: said(nodes).mean(axis=0)).class_prior
    assert found[2] == pytest.approx(fractions[2])
    assert found[0] > 0.75
    np.testing.assert_allclose(calibrate_left_out(*known).class_prior, fractions)


def test_what_was_asked_for_is_taken():
    fractions = np.array([0.7, 0.3])
    assert class_prior("labels", fractions) is fractions
    assert class_prior([1, 3], fractions).tolist() == [0.25, 0.75]
    for wrong in ("guess", [1.0], [1.0, 0.0], [np.inf, 1.0]):
        with pytest.raises(InputError, match="class_prior must"):
            class_prior(wrong, fractions)


def test_flat_probabilities_are_the_class_prior():
    fractions = np.array([0.7, 0.2, 0.1])
    bias = np.log([2.0, 0.5, 1.0])
    flat = Calibration(ScoreCurve(0.0), bias, fractions, 1.0)
    found = flat.probabilities(np.random.default_rng(0).normal(size=(3, 3)), np.ones(3, bool))
    np.testing.assert_allclose(found, np.tile(flat.class_prior, (3, 1)))
    sharp = Calibration(ScoreCurve(2.0), bias, fractions, 0.0)
    np.testing.assert_allclose(sharp.logits(np.eye(3), np.ones(3, bool)), 2 * np.eye(3) + bias)
