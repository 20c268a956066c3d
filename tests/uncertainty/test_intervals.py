"""Intervals of a regressor: coverage, shapes, new nodes; values given anew."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

from gpgc import GPGCRegressor
from gpgc.errors import InputError


@pytest.mark.parametrize("n_labels", [20, 100])
def test_intervals_hold_new_values_as_often_as_they_say(n_labels):
    features, values = load_diabetes(return_X_y=True)
    features = StandardScaler().fit_transform(features)
    covered = {0.8: [], 0.9: []}
    for seed in range(6):
        known = np.random.default_rng(seed).choice(len(values), n_labels, replace=False)
        y = np.full(len(values), np.nan)
        y[known] = values[known]
        model = GPGCRegressor().fit(features, y)
        rest = np.isnan(y)
        for level, found in covered.items():
            low, high = model.predict_interval(level)
            found.append(np.mean((low <= values)[rest] & (values <= high)[rest]))
    for level, found in covered.items():
        assert np.mean(found) == pytest.approx(level, abs=0.07)


def test_shapes_and_new_nodes():
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    y[25:] = np.nan
    low, high = GPGCRegressor().fit(features, y).predict_interval(0.5)
    assert low.shape == high.shape == (40, 2)
    one = GPGCRegressor().fit(features, y[:, 0])
    joined = one.predict_interval(X=features[:4] + 0.01)
    assert joined.low.shape == (4,)
    wide, narrow = one.predict_interval(0.95), one.predict_interval(0.5)
    assert (wide.high - wide.low >= narrow.high - narrow.low).all()
    few = GPGCRegressor().fit(features, np.where(np.arange(40) < 3, y[:, 0], np.nan))
    assert np.isfinite(few.predict_interval(0.99)).all()
    for level in (0, 1, -1, 2, np.nan):
        with pytest.raises(InputError, match="level must"):
            one.predict_interval(level)


def test_relabel_is_a_fit_on_the_same_graph():
    rng = np.random.default_rng(1)
    features, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    other = np.where(np.arange(30) % 3 == 0, np.nan, 5 * y)
    weights = rng.uniform(0.5, 2, 30)
    model = GPGCRegressor(dtype="float64").fit(features, y)
    prior = model.prior_
    again = model.relabel(other, sample_weight=weights)
    assert again is model
    assert model.prior_ is prior
    fresh = GPGCRegressor(dtype="float64").fit(features, other, sample_weight=weights)
    np.testing.assert_allclose(model.predict(), fresh.predict(), rtol=1e-9)
    with pytest.raises(InputError, match="each of the 30 nodes"):
        model.relabel(y[:10])


def test_values_that_are_constant_within_what_is_linked_are_held():
    held = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        features = rng.uniform(0, 10, (300, 1))
        values = (features[:, 0] > 5) * 1.0
        y = np.where(np.isin(np.arange(300), rng.choice(300, 60, replace=False)), values, np.nan)
        low, high = GPGCRegressor().fit(features, y).predict_interval(0.9)
        held.append(((low <= values) & (values <= high))[np.isnan(y)].mean())
    assert np.mean(held) > 0.85
