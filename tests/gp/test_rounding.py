"""What is added to a covariance that rounding made indefinite: as little as needed, and said."""

import warnings

import numpy as np
import pytest

from gpgc.errors import GPGCWarning, InputError
from gpgc.gp import NoisePath, factorised

UNIT = float(np.finfo(np.float32).eps)


def rounded_gram(n_labels=30, seed=0):
    """A covariance of rank 2 whose zero eigenvalues float32 has made negative."""
    root = np.random.default_rng(seed).normal(size=(n_labels, 2))
    gamma = (root @ root.T).astype(np.float32)
    assert np.linalg.eigvalsh(gamma.astype(float)).min() < 0
    return gamma


def rounding_of(gamma):
    return len(gamma) * UNIT * float(np.mean(np.diagonal(gamma).astype(float)))


def test_noise_far_above_the_rounding_is_not_touched():
    gamma, y = rounded_gram(), np.eye(30)[:, :2]
    noise = 65 * rounding_of(gamma)
    exact = np.linalg.solve(gamma.astype(float) + noise * np.eye(30), y)
    factor = factorised(gamma, noise)
    assert factor.jitter == 0
    np.testing.assert_allclose(factor.solve(y), exact, rtol=1e-8)
    found = NoisePath(gamma, y).inverse(noise).solve(y)
    np.testing.assert_allclose(found, exact, rtol=1e-7)


def test_noise_near_the_rounding_gets_the_least_of_a_few_jitters():
    gamma, y = rounded_gram(), np.eye(30)[:, :2]
    noise, rounding = rounding_of(gamma), rounding_of(gamma)
    factor = factorised(gamma, noise)
    steps = np.log(factor.jitter / rounding) / np.log(4)
    assert steps == pytest.approx(round(steps), abs=1e-6)
    assert 0 <= steps <= 3
    plain = gamma.astype(float)
    lowest = -np.linalg.eigvalsh(plain).min()
    assert lowest < factor.jitter <= 4 * max(lowest, rounding)
    exact = np.linalg.solve(plain + (noise + factor.jitter) * np.eye(30), y)
    np.testing.assert_allclose(factor.solve(y), exact, rtol=1e-6)


def test_a_path_shifts_all_eigenvalues_by_the_rounding_of_all_entries():
    """Or by the most negative one where that is more; nobody is more certain than that."""
    gamma, y = rounded_gram(), np.eye(30)[:, :2]
    values = np.linalg.eigvalsh(gamma.astype(float))
    shift = max(-values.min(), rounding_of(gamma))
    for noise in (0.0, rounding_of(gamma), 63 * rounding_of(gamma)):
        exact = np.linalg.inv(gamma.astype(float) + (noise + shift) * np.eye(30))
        path = NoisePath(gamma, y)
        np.testing.assert_allclose(path.inverse(noise).solve(y), exact @ y, rtol=1e-4)
        np.testing.assert_allclose(path.at(noise).leave_one_out()[1], 1 / np.diagonal(exact))
        np.testing.assert_allclose(
            path.at(noise).log_marginal_likelihood(),
            -np.trace(y.T @ exact @ y) / 2 + np.linalg.slogdet(exact)[1] - 30 * np.log(2 * np.pi),
        )
    assert NoisePath(gamma, y).rounding == pytest.approx(-values.min())


def test_a_covariance_that_needs_no_shift_gets_none():
    path = NoisePath(np.eye(3, dtype=np.float32), np.eye(3))
    np.testing.assert_allclose(path.inverse(1e-9).solve(np.eye(3)), np.eye(3) / (1 + 1e-9))
    assert path.rounding == pytest.approx(3 * np.finfo(np.float64).eps)
    assert factorised(np.eye(3, dtype=np.float32), 1e-9).jitter == 0


def test_jitter_by_rounding_is_silent_and_more_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        factorised(np.eye(4), 0.0)
        factorised(np.full((4, 4), 1.0), 1e-3)
    off = np.eye(4)
    off[0, 1] = off[1, 0] = 1 + 2e-5
    with pytest.warns(GPGCWarning, match="singular at noise variance 1e-06"):
        factor = factorised(off, 1e-6)
    assert 2e-5 < factor.jitter <= 1e-4
    off[0, 1] = off[1, 0] = 1.001
    with pytest.raises(InputError, match=r"not positive semi-definite: adding 0\.0001"):
        factorised(off, 1e-6)
