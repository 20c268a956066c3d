"""Closed forms equal brute force."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gpgc.errors import GPGCWarning, InputError
from gpgc.gp import FunctionSpace, NoisePath, factorised
from gpgc.kernels import Given
from gpgc.probability.softmax import cross_entropies
from gpgc.probability.temperature import fit_temperature
from gpgc.selection.constants import RELATIVE_NOISE
from gpgc.selection.noise_choice import choose_noise


def conditioned(gamma, targets, noise):
    """Condition an N x N matrix on its first nodes."""
    gamma, labelled = np.asarray(gamma), np.arange(len(targets))
    factor = factorised(gamma[np.ix_(labelled, labelled)], noise)
    return FunctionSpace(Given(gamma), labelled, targets, factor)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(12, 12))
    gamma = factor @ factor.T / 12
    targets = rng.normal(size=(8, 3))
    return gamma, targets, 0.3


def test_posterior_by_matrix_inverse(problem):
    gamma, targets, noise = problem
    observed, rest = slice(0, 8), np.arange(8, 12)
    inverse = np.linalg.inv(gamma[observed, observed] + noise * np.eye(8))
    cross = gamma[rest, observed]
    Lambda = gamma[np.ix_(rest, rest)] - cross @ inverse @ cross.T
    path = NoisePath(gamma[observed, observed], targets)
    by_cholesky = conditioned(gamma, targets, noise)
    assert by_cholesky.factor.inverse.jitter == 0
    for factor in (by_cholesky.factor.inverse, path.inverse(noise)):
        posterior = FunctionSpace(Given(gamma), np.arange(8), targets, factor)
        np.testing.assert_allclose(posterior.mean(rest), cross @ inverse @ targets, atol=1e-12)
        np.testing.assert_allclose(posterior.joint_covariance(rest), Lambda, atol=1e-12)
        np.testing.assert_allclose(posterior.variance(rest), np.diagonal(Lambda), atol=1e-12)


def test_evidence_is_the_density_of_the_targets(problem):
    gamma, targets, noise = problem
    K = gamma[:8, :8] + noise * np.eye(8)
    expected = sum(multivariate_normal(np.zeros(8), K).logpdf(column) for column in targets.T)
    posterior = conditioned(gamma, targets, noise)
    assert posterior.log_marginal_likelihood() == pytest.approx(expected, rel=1e-10)
    path = NoisePath(gamma[:8, :8], targets)
    spectral = FunctionSpace(Given(gamma), np.arange(8), targets, path.inverse(noise))
    assert spectral.log_marginal_likelihood() == pytest.approx(expected, rel=1e-10)
    assert path.at(np.array([1.0, noise])).log_marginal_likelihood()[1] == pytest.approx(expected)


def test_leave_one_out_by_leaving_one_out(problem):
    gamma, targets, noise = problem
    gamma = gamma[:8, :8]
    mean, variance = np.empty((8, 3)), np.empty(8)
    for out in range(8):
        kept = np.delete(np.arange(8), out)
        order = np.append(kept, out)
        rest = conditioned(gamma[np.ix_(order, order)], targets[kept], noise)
        mean[out] = rest.mean(np.array([7]))[0]
        variance[out] = rest.variance(np.array([7]))[0] + noise
    path_mean, path_variance = NoisePath(gamma, targets).at(np.array([noise, 9.0])).leave_one_out()
    for source in (
        conditioned(gamma, targets, noise).leave_one_out(),
        (path_mean[0], path_variance[0]),
    ):
        np.testing.assert_allclose(source[0], mean, atol=1e-11)
        np.testing.assert_allclose(source[1], variance, atol=1e-11)


def test_noise_of_each_node(problem):
    gamma, targets, _ = problem
    noise = np.linspace(0.1, 0.8, 8)
    expected = np.linalg.solve(gamma[:8, :8] + np.diag(noise), targets)
    np.testing.assert_allclose(conditioned(gamma, targets, noise).factor.weights, expected)
    path = NoisePath(gamma[:8, :8], targets, relative_noise=noise / 0.1)
    np.testing.assert_allclose(path.inverse(0.1).solve(targets), expected)
    np.testing.assert_allclose(path.inverse(np.array([0.1])).solve(targets)[0], expected)
    posterior = conditioned(gamma, targets, noise)
    left_out, variance = path.at(np.array([0.1])).leave_one_out()
    np.testing.assert_allclose(left_out[0], posterior.leave_one_out().mean, atol=1e-10)
    np.testing.assert_allclose(variance[0], posterior.leave_one_out().variance, atol=1e-10)
    evidence = path.at(0.1).log_marginal_likelihood()
    assert evidence == pytest.approx(posterior.log_marginal_likelihood())


def test_path_gives_the_weights_of_every_noise_level(problem):
    gamma, targets, _ = problem
    path = NoisePath(gamma[:8, :8], targets)
    levels = np.array([1e-4, 0.1, 10.0])
    for noise, weights in zip(levels, path.inverse(levels).solve(targets), strict=True):
        expected = conditioned(gamma, targets, noise).factor.weights
        np.testing.assert_allclose(weights, expected, rtol=1e-6)


def test_interpolation_without_noise(problem):
    gamma, targets, _ = problem
    posterior = conditioned(gamma, targets, 0.0)
    np.testing.assert_allclose(posterior.mean(np.arange(8)), targets, atol=1e-8)
    variance = posterior.variance(np.arange(8))
    np.testing.assert_allclose(variance, 0, atol=1e-8)


def test_singular_covariance_reports_its_jitter():
    with pytest.warns(GPGCWarning, match="singular.*was added"):
        posterior = conditioned(np.ones((3, 3)), np.ones((3, 1)), 0.0)
    assert posterior.factor.inverse.jitter > 0
    assert np.isfinite(posterior.factor.weights).all()


def test_indefinite_covariance_is_refused():
    with pytest.raises(InputError, match="positive semi-definite"):
        conditioned(np.array([[1.0, 3.0], [3.0, 1.0]]), np.ones((2, 1)), 0.0)


@pytest.mark.parametrize("noise", [-1.0, np.nan, np.inf])
def test_wrong_noise(noise):
    with pytest.raises(InputError, match="noise_variance"):
        conditioned(np.eye(2), np.ones((2, 1)), noise)


def test_wrong_shapes():
    with pytest.raises(InputError, match=r"\(D, D\)"):
        factorised(np.ones((3, 2)), 1.0)
    with pytest.raises(InputError, match=r"targets must be of shape \(3, k\)"):
        FunctionSpace(Given(np.eye(3)), np.arange(3), np.ones((2, 1)), factorised(np.eye(3), 1.0))


def test_evidence_choice_is_the_best_of_its_grid_and_finds_the_truth():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 10, 150)
    gamma = np.exp(-0.5 * (x[:, None] - x) ** 2)
    latent = np.linalg.cholesky(gamma + 1e-9 * np.eye(150)) @ rng.normal(size=(150, 4))
    targets = latent + np.sqrt(0.1) * rng.normal(size=latent.shape)
    for criterion in ("evidence", "density"):
        choice = choose_noise(NoisePath(gamma, targets), criterion)
        assert choice.noise_variance == pytest.approx(0.1, rel=0.3)
        assert choice.scores.max() == choice.scores[choice.grid == choice.noise_variance][0]


def test_cross_entropy_choice_by_brute_force(problem):
    gamma, _, _ = problem
    targets = np.eye(2)[[0, 0, 1, 1, 0, 1, 0, 1]]
    choice = choose_noise(NoisePath(gamma[:8, :8], targets), "cross_entropy")
    best = min(
        (
            cross_entropies(mean, targets, fit_temperature(mean, targets)).mean(),
            -noise,
        )
        for noise in RELATIVE_NOISE * np.diagonal(gamma)[:8].mean()
        for mean in [conditioned(gamma, targets, noise).leave_one_out()[0]]
    )
    assert choice.noise_variance == pytest.approx(-best[1])


def test_fitted_temperature_is_where_the_slope_of_the_cross_entropy_is_zero():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(200, 3))
    codes = [rng.choice(3, p=np.exp(2 * s) / np.exp(2 * s).sum()) for s in scores]
    targets = np.eye(3)[codes]
    t = fit_temperature(scores, targets)
    above, below = (cross_entropies(scores, targets, t + step) for step in (1e-4, -1e-4))
    assert abs((above - below).mean()) < 1e-8
    assert t == pytest.approx(2, rel=0.3)


def test_temperature_of_perfect_and_hopeless_scores_stays_finite():
    targets = np.eye(2)[[0, 1]]
    assert 30 < fit_temperature(targets, targets) <= 1e3
    assert fit_temperature(1 - targets, targets) == pytest.approx(1e-2, rel=1e-3)


def few_distinct_rows(n_labels, seed=0):
    """A float32 Gram matrix of rank 7 with the rounding of sums, and the true one."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(7, size=n_labels)
    center = rng.normal(size=(7, 7))
    center /= np.linalg.norm(center, axis=1, keepdims=True)
    true = (0.9 + 0.1 * center @ center.T)[np.ix_(kinds, kinds)]
    unit = np.finfo(np.float32).eps
    error = unit * rng.integers(-3, 4, size=true.shape)
    return (true + np.tril(error) + np.tril(error, -1).T).astype(np.float32), true, kinds


@pytest.mark.parametrize("noise", [1e-7, 1e-6, 1e-5, 1e-4])
def test_negative_eigenvalues_of_float32_are_rounding(noise):
    """Noise on either side of the lowest eigenvalue: finite weights near the true ones' means."""
    rounded, true, kinds = few_distinct_rows(600)
    lowest = np.linalg.eigvalsh(rounded.astype(float))[0]
    assert lowest < -1e-6
    targets = np.eye(7)[kinds]
    posterior, exact = conditioned(rounded, targets, noise), conditioned(true, targets, 1e-4)
    assert posterior.factor.inverse.jitter <= 600 * np.finfo(np.float32).eps
    np.testing.assert_allclose(posterior.mean(), exact.mean(), atol=0.02)
    assert np.abs(posterior.factor.weights).max() < 1 / 1e-6


def test_all_noise_levels_see_the_rounding_of_float32_alike():
    rounded, _, kinds = few_distinct_rows(600)
    targets = np.eye(7)[kinds]
    path = NoisePath(rounded, targets)
    for noise in (1e-6, 1e-5):
        posterior = conditioned(rounded, targets, noise)
        left_out, _ = path.at(np.array([noise])).leave_one_out()
        np.testing.assert_allclose(left_out[0], posterior.leave_one_out()[0], atol=0.02)


def test_identical_rows_in_float32():
    gamma = np.ones((3000, 3000), dtype=np.float32)
    posterior = conditioned(gamma, np.eye(2)[np.arange(3000) % 2], 1e-6)
    mean = gamma[:1].astype(np.float64) @ posterior.factor.weights
    np.testing.assert_allclose(mean, [[0.5, 0.5]], atol=1e-4)


def test_what_is_more_than_rounding_is_refused_in_float32_too():
    gamma = np.eye(50, dtype=np.float32)
    gamma[0, 1] = gamma[1, 0] = 1.1
    with pytest.raises(InputError, match="positive semi-definite"):
        conditioned(gamma, np.ones((50, 1)), 1e-3)


@pytest.mark.parametrize("value", [np.inf, np.nan, 1e-40])
def test_a_covariance_out_of_range_is_refused(value):
    gamma = np.full((2, 2), value, dtype=np.float32)
    for solve in (
        lambda: conditioned(gamma, np.ones((2, 1)), 1.0),
        lambda: NoisePath(gamma, [[1], [1]]),
    ):
        with pytest.raises(InputError, match="weight_variance"):
            solve()


@pytest.mark.parametrize("n_some", [2, 15])
def test_leaving_some_out_is_part_of_leaving_all_out(n_some):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(20, 30))
    given, targets = Given(rows @ rows.T), rng.normal(size=(20, 2))
    labelled, some = np.arange(20), rng.permutation(20)[:n_some]
    path = NoisePath(given.block(), targets)
    for factor in (factorised(given.block(), 0.1), path.inverse(0.1)):
        posterior = FunctionSpace(given, labelled, targets, factor)
        inverse = np.linalg.inv(given.block() + 0.1 * np.eye(20))
        expected = targets - inverse @ targets / np.diagonal(inverse)[:, None]
        np.testing.assert_allclose(posterior.leave_one_out(some).mean, expected[some], atol=1e-8)
        np.testing.assert_allclose(posterior.leave_one_out().mean, expected, atol=1e-8)
