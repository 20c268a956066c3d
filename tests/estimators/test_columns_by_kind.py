"""What "auto" does with columns of each kind: 0 and 1, words, numbers of one unit or several."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor

RNG = np.random.default_rng(1)
TRUTH = RNG.integers(2, size=400)
FEW = RNG.normal(size=(400, 3)) + np.outer(TRUTH, [0.0, 2.0, 2.0])
LABELS = np.full(400, -1)
LABELS[:40] = TRUTH[:40]


def accuracy(X, **options):
    return np.mean(GPGCClassifier(**options).fit(X, LABELS).predict()[40:] == TRUTH[40:])


@pytest.mark.parametrize("unit", [10.0, 1e6])
@pytest.mark.parametrize("n_columns", [2, 3])
def test_one_column_of_few_in_another_unit_hides_nothing(n_columns, unit):
    X = FEW[:, :n_columns] * np.array([unit, 1.0, 1.0])[:n_columns]
    assert accuracy(X) == accuracy(X, standardise=True) > 0.75


def houses(unit=1.0, centred=False):
    """Return rooms and area in a unit, beside one-hot codes, and what they cost."""
    rng = np.random.default_rng(2)
    area, rooms = rng.gamma(9, 12, size=300), rng.integers(1, 9, size=300)
    place = rng.integers(6, size=300)
    price = np.log(area) + 0.1 * rooms + 0.2 * rng.normal(size=6)[place]
    numbers = np.column_stack([area, rooms])
    if centred:
        numbers = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    return np.column_stack([numbers * unit, np.eye(6)[place], np.eye(40)[place * 5]]), price


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("centred", [False, True])
def test_numbers_beside_one_hot_columns_count_in_any_unit(unit, centred):
    X, price = houses(unit, centred)
    y = np.where(np.arange(300) < 60, price, np.nan)
    model = GPGCRegressor().fit(X, y)
    left = 1 - np.mean((model.predict()[60:] - price[60:]) ** 2) / price[60:].var()
    assert left > 0.6
    if (unit, centred) != (1.0, True):
        seen = model.prior_.nodes.features
        np.testing.assert_allclose(seen[:, :2].std(axis=0), 1, rtol=1e-5)
        np.testing.assert_array_equal(seen[:, 2:], X[:, 2:])
        assert "columns centred and scaled but 12 of 0 and 1" in model.standardisation_


def test_a_number_beside_words_is_scaled_and_the_words_stay():
    words = RNG.poisson(0.2, size=(400, 60)) * RNG.random(60)
    X = np.column_stack([RNG.normal(2000, 10, size=400), words])
    model = GPGCClassifier().fit(X, LABELS)
    np.testing.assert_array_equal(model.prior_.nodes.features[:, 1:], words)
    assert abs(model.prior_.nodes.features[:, 0].std() - 1) < 1e-6
    assert GPGCClassifier().fit(words, LABELS).standardisation_ is None


TABLES = {
    "one in another unit": FEW * [1e4, 1.0, 1.0],
    "far from 0": FEW + 50,
    "one unit": FEW * 1e-5,
    "beside 0 and 1": np.column_stack([FEW * 1e3, TRUTH, RNG.integers(2, size=400)]),
}


@pytest.mark.parametrize("standardise", ["auto", True, False])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.filterwarnings("ignore:the features are not")
def test_one_empty_cell_changes_its_own_row_alone(tmp_path, name, standardise):
    X = TABLES[name]
    columns = [f"c{column}" for column in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=columns)
    estimator = GPGCClassifier(standardise=standardise, dtype="float64")
    whole = estimator.fit(frame, LABELS)
    features, said, table = whole.prior_.nodes.features, whole.standardisation_, whole.predict()
    from_array = GPGCClassifier(standardise=standardise, dtype="float64").fit(X, LABELS)
    size = features.std(axis=0)
    np.testing.assert_allclose(from_array.prior_.nodes.features / size, features / size, rtol=1e-9)
    gap = frame.copy()
    gap.iloc[300, 1] = np.nan
    gap.iloc[301, X.shape[1] - 1] = np.nan
    others = np.setdiff1d(np.arange(400), [300, 301])
    for given in (gap, pl.from_pandas(gap)):
        model = GPGCClassifier(standardise=standardise, dtype="float64").fit(given, LABELS)
        seen = model.prior_.nodes.features
        flags = [column for column in range(seen.shape[1]) if not seen[others, column].any()]
        assert len(flags) == 2
        numbers = np.delete(seen, flags, axis=1)
        np.testing.assert_allclose(numbers[others] / size, features[others] / size, atol=0.02)
        assert (model.standardisation_ is None) == (said is None)
        assert np.mean(model.predict()[others] == table[others]) > 0.97
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
    rows = model.prior_.nodes.features.toarray()
    np.testing.assert_array_equal(rows[:, 0], frame["rare"])
    assert "rare: 0 and 1" in "; ".join(model.encoder_.said)
