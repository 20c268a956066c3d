"""Several targets that are known at different nodes."""

import pickle

import numpy as np
import pytest

from gpgc import GPGCRegressor, load
from gpgc.errors import InputError


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4))
    links = rng.random((40, 40)) < 0.1
    y = np.stack([X[:, 0], 50 * X[:, 1] + 7, X[:, 2], 3 * X[:, 3]], axis=1)
    for column, n_known in enumerate((20, 11, 20, 1)):
        hidden = rng.permutation(40)[n_known:]
        y[hidden, column] = np.nan
    y[np.isnan(y[:, 0]), 2] = np.nan  # the third is known where the first is, and less often
    return X, y, links | links.T


SETTINGS = [
    {"model": "big", "dtype": "float64"},
    {"model": "small", "noise_variance": "evidence", "dtype": "float64"},
    {"model": "big", "noise_variance": 0.2, "dtype": "float64"},
    {"model": "big", "space": "weight", "dtype": "float64"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_each_target_is_what_it_would_be_alone(problem, settings):
    X, y, links = problem
    model = GPGCRegressor(**settings).fit(X, y, links)
    mean, std = model.predict(return_std=True)
    low, high = model.predict_interval(0.8)
    left_out, spread = model.leave_one_out()
    evidence = 0.0
    for column in range(y.shape[1]):
        alone = GPGCRegressor(**settings).fit(X, y[:, column], links)
        one, one_std = alone.predict(return_std=True)
        np.testing.assert_allclose(mean[:, column], one, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(std[:, column], one_std, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(low[:, column], alone.predict_interval(0.8).low, rtol=1e-6)
        np.testing.assert_allclose(high[:, column], alone.predict_interval(0.8).high, rtol=1e-6)
        known = ~np.isnan(y[model.labelled_nodes_, column])
        assert model.labelled_nodes_[known].tolist() == alone.labelled_nodes_.tolist()
        own_left_out, own_spread = alone.leave_one_out()
        np.testing.assert_allclose(left_out[known, column], own_left_out[:, 0], rtol=1e-6)
        np.testing.assert_allclose(spread[known, column], own_spread, rtol=1e-6)
        assert np.isnan(left_out[~known, column]).all()
        evidence += alone.log_marginal_likelihood_
    assert model.log_marginal_likelihood_ == pytest.approx(evidence)


def test_contributions_add_up_and_gaps_add_nothing(problem):
    X, y, links = problem
    model = GPGCRegressor(dtype="float64").fit(X, y, links)
    why = model.explain(5)
    np.testing.assert_allclose(why.total, model.predict()[5], rtol=1e-4)
    np.testing.assert_allclose(why.offset + sum(why.views.values()), why.total, rtol=1e-5)
    assert (why.contributions[np.isnan(why.given)] == 0).all()


@pytest.mark.parametrize("learn", [False, True])
def test_views_are_chosen_and_numbers_learned_with_gaps(problem, learn):
    X, y, links = problem
    model = GPGCRegressor("big" if learn else "broad", learn=learn).fit(X, y, links)
    assert np.isfinite(model.predict()).all()
    assert (model.noise_variance_ > 0).all()
    assert "root mean square error" in model.facts()["estimate"]


def test_gaps_are_saved_pickled_joined_and_relabelled(problem, tmp_path):
    X, y, links = problem
    model = GPGCRegressor().fit(X, y, links)
    model.save(tmp_path / "model.gpgc")
    for again in (load(tmp_path / "model.gpgc"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_allclose(again.predict(), model.predict(), rtol=1e-9)
        np.testing.assert_allclose(again.given_values(), model.given_values())
        new = again.predict(X[:2], links[:2].astype(float))
        np.testing.assert_allclose(new, model.predict(X[:2], links[:2].astype(float)))
    before = model.predict()
    assert not np.allclose(model.relabel(y * 2).predict(), before)
    assert list(model.to_frame().columns)[:3] == ["id", "value_0", "std_0"]


def test_a_target_without_any_value_is_refused(problem):
    X, y, links = problem
    y[:, 1] = np.nan
    with pytest.raises(InputError, match="y must have at least one value in each column, got none"):
        GPGCRegressor().fit(X, y, links)
