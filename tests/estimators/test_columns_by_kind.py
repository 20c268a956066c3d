"""What "auto" does with columns of each kind: 0 and 1, words, numbers of one unit or several."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor

RNG = np.random.default_rng(1)
TRUTH = RNG.integers(2, size=400)
FEW = RNG.normal(size=(400, 3)) + np.outer(TRUTH, [0.0, 2.0, 2.0])
LABELS = np.full(400, -1)
LABELS[:40] = TRUTH[:40]


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_several_columns_in_larger_units_hide_nothing(as_given):
    """Three of eight columns a thousand times as large, and units from 1 to 10 over all columns."""
    rng = np.random.default_rng(5)
    truth = rng.integers(2, size=400)
    X = rng.normal(size=(400, 8)) + np.outer(truth, [0, 0, 0, 2, 2, 2, 2, 2.0])
    y = np.where(np.arange(400) < 40, truth, -1)
    found = GPGCClassifier().fit(as_given(X * ([1e3] * 3 + [1.0] * 5)), y).predict()
    assert np.mean(found[40:] == truth[40:]) > 0.9
    columns = rng.normal(size=(400, 30))
    values = columns @ rng.normal(size=30)
    known = np.where(np.arange(400) < 120, values, np.nan)
    model = GPGCRegressor().fit(as_given(columns * np.linspace(1, 10, 30)), known)
    left = 1 - np.mean((model.predict()[120:] - values[120:]) ** 2) / values[120:].var()
    assert left > 0.9


def accuracy(X, **options):
    return np.mean(GPGCClassifier(**options).fit(X, LABELS).predict()[40:] == TRUTH[40:])


@pytest.mark.parametrize("unit", [10.0, 1e6])
@pytest.mark.parametrize("n_columns", [2, 3])
def test_one_column_of_few_in_another_unit_hides_nothing(n_columns, unit):
    X = FEW[:, :n_columns] * np.array([unit, 1.0, 1.0])[:n_columns]
    assert accuracy(X) > 0.75
    assert accuracy(X) > accuracy(X, standardize=True) - 0.03


def houses(unit=1.0, centered=False):
    """Return rooms and area in a unit, beside one-hot codes, and what they cost."""
    rng = np.random.default_rng(2)
    area, rooms = rng.gamma(9, 12, size=300), rng.integers(1, 9, size=300)
    place = rng.integers(6, size=300)
    price = np.log(area) + 0.1 * rooms + 0.2 * rng.normal(size=6)[place]
    numbers = np.column_stack([area, rooms])
    if centered:
        numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    return np.column_stack([numbers * unit, np.eye(6)[place], np.eye(40)[place * 5]]), price


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("centered", [False, True])
def test_numbers_beside_one_hot_columns_count_in_any_unit(unit, centered):
    X, price = houses(unit, centered)
    y = np.where(np.arange(300) < 60, price, np.nan)
    model = GPGCRegressor().fit(X, y)
    left = 1 - np.mean((model.predict()[60:] - price[60:]) ** 2) / price[60:].var()
    assert left > 0.6


def test_a_number_beside_words_is_scaled_and_the_words_stay():
    words = RNG.poisson(0.2, size=(400, 60)) * RNG.random(60)
    X = np.column_stack([RNG.normal(2000, 10, size=400), words])
    model = GPGCClassifier().fit(X, LABELS)
    scaled = model.prior_.nodes.standardized.features
    np.testing.assert_array_equal(scaled[:, 1:], words)
    assert abs(scaled[:, 0].std() - 1) < 1e-6
    np.testing.assert_array_equal(model.prior_.nodes.features, X)
    assert GPGCClassifier().fit(words, LABELS).standardization_ is None


TABLES = {
    "one in another unit": FEW * [1e4, 1.0, 1.0],
    "far from 0": FEW + 50,
    "one unit": FEW * 1e-5,
    "beside 0 and 1": np.column_stack([FEW * 1e3, TRUTH, RNG.integers(2, size=400)]),
}


@pytest.mark.parametrize("standardize", ["auto", True, False])
@pytest.mark.parametrize("name", TABLES)
def test_one_empty_cell_changes_its_own_row_alone(tmp_path, name, standardize):
    X = TABLES[name]
    columns = [f"c{column}" for column in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns)
    estimator = GPGCClassifier(standardize=standardize, dtype="float64")
    whole = estimator.fit(frame, LABELS)
    features, said, table = whole.prior_.nodes.features, whole.standardization_, whole.predict()
    from_array = GPGCClassifier(standardize=standardize, dtype="float64").fit(X, LABELS)
    size = features.std(axis=0)
    np.testing.assert_allclose(from_array.prior_.nodes.features / size, features / size, rtol=1e-9)
    gap = frame.copy()
    gap.iloc[300, 1] = np.nan
    gap.iloc[301, X.shape[1] - 1] = np.nan
    others = np.setdiff1d(np.arange(400), [300, 301])
    for given in (gap, pl.from_pandas(gap)):
        model = GPGCClassifier(standardize=standardize, dtype="float64").fit(given, LABELS)
        seen = model.prior_.nodes.features
        flags = [column for column in range(seen.shape[1]) if not seen[others, column].any()]
        assert len(flags) == 2
        numbers = np.delete(seen, flags, axis=1)
        np.testing.assert_allclose(numbers[others] / size, features[others] / size, atol=0.02)
        assert (model.standardization_ is None) == (said is None)
        assert np.mean(model.predict()[others] == table[others]) > 0.95
        unit = np.median(size)
        assert unit / 10 < seen[:, flags].max() < 10 * unit
    model.save(tmp_path / "model.gpgc")
    again = gpgc.load(tmp_path / "model.gpgc")
    rows = gap.iloc[298:304]
    expected = model.predict_proba(rows)
    np.testing.assert_allclose(again.predict_proba(rows), expected, atol=1e-9)


def test_columns_of_0_and_1_stay_in_a_table_with_categories():
    frame = pd.DataFrame(
        {"rare": (np.arange(400) % 50 == 0) * 1.0, "size": FEW[:, 1], "kind": list("abcd") * 100}
    )
    model = GPGCClassifier().fit(frame, LABELS)
    rows = model.prior_.nodes.features
    np.testing.assert_array_equal(rows[:, 0], frame["rare"])
    assert "rare: 0 and 1" in "; ".join(model.encoder_.said)
