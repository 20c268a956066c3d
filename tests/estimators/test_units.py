"""Regression does not depend on the unit of y, and its intervals cover what they promise."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from gpgc import GPGCRegressor, load
from gpgc.errors import InputError
from gpgc.gp import NoisePath
from gpgc.selection.constants import RELATIVE_NOISE
from gpgc.selection.noise_choice import choose_noise, noise_bounds


def some_labels(y, seed):
    given = np.full(y.shape, np.nan)
    labelled = np.random.default_rng(seed).choice(len(y), int(0.3 * len(y)), replace=False)
    given[labelled] = y[labelled]
    return given


def quality(estimator, y, given):
    """Coverage of the 95 % intervals of new observations, and R² of the unlabelled nodes."""
    mean, std = estimator.predict(return_std=True)
    rest = np.isnan(given)
    inside = np.abs(y - mean) < 1.96 * np.sqrt(std**2 + estimator.noise_variance_)
    return inside[rest].mean(), 1 - np.mean((y - mean)[rest] ** 2) / y[rest].var()


@pytest.mark.parametrize("model", ["broad", "big"])
def test_units_of_diabetes_do_not_matter(model):
    X, y = load_diabetes(return_X_y=True)
    found = []
    for seed in range(5):
        given = some_labels(y, seed)
        plain = GPGCRegressor(model).fit(X, given)
        found.append(quality(plain, y, given))
        for factor, shift in ((1000.0, 0.0), (1.0, 1e6)):
            moved = GPGCRegressor(model).fit(X, factor * given + shift)
            same = quality(moved, factor * y + shift, factor * given + shift)
            assert same == pytest.approx(found[-1], abs=1e-6)
            assert moved.noise_variance_ == pytest.approx(factor**2 * plain.noise_variance_)
    coverage, r2 = np.mean(found, axis=0)
    assert 0.92 < coverage < 0.98
    assert r2 > 0.42


def test_the_unit_of_the_features_of_big_does_not_matter():
    X, y = load_diabetes(return_X_y=True)
    given = some_labels(y, 0)
    small, large = (GPGCRegressor("big", dtype="float64").fit(c * X, given) for c in (0.01, 100))
    np.testing.assert_allclose(small.predict(), large.predict(), rtol=1e-6)
    assert small.noise_variance_ == pytest.approx(large.noise_variance_)


def test_shapes_and_units_of_one_and_of_several_targets(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    both = np.column_stack([y, 1e-3 * (X[:, 2] + 0.001 * rng.normal(size=len(y))), 0 * y + 7])
    given = some_labels(both, 0)
    one = GPGCRegressor("big").fit(X, given[:, 0])
    assert isinstance(one.noise_variance_, float)
    assert one.predict(return_std=True)[1].shape == (len(y),)
    assert one.predict_latent([3, 4], return_cov=True)[1].shape == (2, 2)
    several = GPGCRegressor("big").fit(X, given)
    mean, std, cov = several.predict_latent(return_std=True, return_cov=True)
    assert several.noise_variance_.shape == (3,)
    assert mean.shape == std.shape == (len(y), 3)
    assert cov.shape == (len(y), len(y), 3)
    np.testing.assert_allclose(np.einsum("iik->ik", cov), std**2, rtol=1e-4)
    np.testing.assert_allclose(mean[:, 0], one.predict(), rtol=1e-5)
    assert several.noise_variance_[0] == pytest.approx(one.noise_variance_)
    assert several.noise_variance_[1] < 0.2 * both[:, 1].var()
    assert several.noise_variance_[0] > 0.4 * both[:, 0].var()
    np.testing.assert_allclose(mean[:, 2], 7)
    assert several.target_scale_[2] == pytest.approx(
        several.target_scale_[0] * 7 / np.nanstd(given[:, 0])
    )
    left_out, spread = several.leave_one_out()
    assert left_out.shape == spread.shape == (len(several.labelled_nodes_), 3)
    several.save(tmp_path / "several.gpgc")
    again = load(tmp_path / "several.gpgc")
    np.testing.assert_allclose(again.predict(), several.predict(), rtol=1e-8)
    np.testing.assert_allclose(again.noise_variance_, several.noise_variance_)
    np.testing.assert_allclose(again.predict_latent(return_std=True)[1], std, rtol=1e-6)


def test_a_given_noise_is_in_the_unit_of_y():
    X, y = load_diabetes(return_X_y=True)
    given = some_labels(y, 0)
    plain = GPGCRegressor(noise_variance=2000.0).fit(X, given)
    assert plain.noise_variance_ == pytest.approx(2000)
    moved = GPGCRegressor(noise_variance=2000.0 * 1e6).fit(X, 1000 * given)
    np.testing.assert_allclose(moved.predict(), 1000 * plain.predict())
    pair = np.column_stack([given, 1000 * given])
    two = GPGCRegressor(noise_variance=[2000.0, 2000.0 * 1e6]).fit(X, pair)
    np.testing.assert_allclose(two.predict()[:, 1], moved.predict(), rtol=1e-5)
    for wrong in ([1.0, 2.0, 3.0], [1.0, -1.0], None):
        with pytest.raises(InputError, match="noise_variance must be"):
            GPGCRegressor(noise_variance=wrong).fit(X, pair)


def test_evidence_is_that_of_the_values_themselves():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), 5 + 3 * rng.normal(size=12)
    fitted = GPGCRegressor("big", dtype="float64", noise_variance=1.5).fit(X, y)
    total = fitted.target_scale_**2 * fitted.covariance_.dense() + 1.5 * np.eye(12)
    error = y - y.mean()
    expected = -0.5 * (
        error @ np.linalg.solve(total, error) + np.linalg.slogdet(total)[1] + 12 * np.log(2 * np.pi)
    )
    assert fitted.log_marginal_likelihood_ == pytest.approx(expected)


def test_one_value_and_equal_values_have_usual_noise():
    path = (np.arange(4), np.arange(1, 5))
    for values in ([1e6, np.nan, np.nan, np.nan, np.nan], [3.0, np.nan, 3.0, np.nan, 3.0]):
        fitted = GPGCRegressor().fit(None, values, adjacency=path)
        assert fitted.noise_variance_ == pytest.approx(10**-2.25 * values[0] ** 2)
        np.testing.assert_allclose(fitted.predict(), values[0])


@pytest.mark.parametrize("criterion", ["density", "evidence"])
@pytest.mark.parametrize("size", [1e-4, 1e4])
def test_the_grid_of_noise_goes_on_until_the_best_level_lies_inside(criterion, size):
    """Noise far above and far below the prior variance, where the first grid ends."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(40, 3))
    gamma = root @ root.T / 3 + 1e-12 * np.eye(40)
    signal = root @ rng.normal(size=(3, 1)) / np.sqrt(3)
    choice = choose_noise(NoisePath(gamma, signal + size * rng.normal(size=(40, 1))), criterion)
    assert choice.grid[0] < choice.noise_variance < choice.grid[-1]
    assert choice.noise_variance == pytest.approx(size**2, rel=1)
    assert len(choice.grid) > len(RELATIVE_NOISE)


def test_the_grid_ends_where_more_or_less_noise_changes_nothing():
    gamma = np.eye(6)
    targets = np.eye(2)[[0, 1, 0, 1, 0, 1]]
    path = NoisePath(gamma, targets)
    low, high = noise_bounds(targets, path.scale, path.rounding)
    for criterion in ("cross_entropy", "evidence", "density"):
        choice = choose_noise(NoisePath(gamma, targets), criterion)
        assert low / 2 < choice.noise_variance <= high


@pytest.mark.parametrize("value", [7.0, -0.003, 0.0])
def test_the_spread_of_equal_values_follows_their_unit(value):
    chain = (np.arange(9), np.arange(1, 10))
    y = np.where(np.arange(10) < 4, value, np.nan)
    found = [GPGCRegressor("big").fit(None, unit * y, chain) for unit in (1.0, 1000.0)]
    (mean, std), (large, large_std) = (model.predict(return_std=True) for model in found)
    np.testing.assert_allclose(large, 1000 * mean)
    unit = 1000.0 if value else 1.0  # zeros have no unit
    np.testing.assert_allclose(large_std, unit * std)
    np.testing.assert_allclose(found[1].noise_variance_, unit**2 * found[0].noise_variance_)
    low = [model.predict_interval(0.8).low - model.predict() for model in found]
    np.testing.assert_allclose(low[1], unit * low[0], rtol=1e-6, atol=1e-9)
