"""Tables of awkward columns: what is saved is loaded, and answers the same."""

import numpy as np
import pytest

from gpgc import GPGCClassifier, GPGCRegressor, load
from gpgc.errors import InputError

pd = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore:X has values that fit did not encode")

N = 24


def all_different(rng):
    return np.array([f"{rng.integers(10**9)}-{row}@example.org" for row in range(N)], dtype=object)


def with_gaps(values, rng, part=0.3):
    values = np.asarray(values, dtype=object)
    values[rng.random(N) < part] = None
    return values


COLUMNS = {
    "numbers": lambda rng: rng.normal(size=N),
    "numbers with gaps": lambda rng: np.where(rng.random(N) < 0.3, np.nan, rng.normal(size=N)),
    "one number": lambda rng: np.full(N, 3.0),
    "huge numbers": lambda rng: rng.normal(size=N) * 1e200,
    "tiny numbers": lambda rng: rng.normal(size=N) * 1e-200,
    "no number": lambda rng: np.full(N, np.nan),
    "whole numbers": lambda rng: rng.integers(0, 9, N),
    "flags": lambda rng: rng.random(N) < 0.5,
    "flags with gaps": lambda rng: with_gaps(rng.random(N) < 0.5, rng),
    "categories": lambda rng: rng.choice([*"abc"], N).astype(object),
    "categories with gaps": lambda rng: with_gaps(rng.choice([*"abc"], N), rng),
    "one category": lambda rng: np.full(N, "a", dtype=object),
    "one category with gaps": lambda rng: with_gaps(np.full(N, "a"), rng),
    "all different": all_different,
    "all different with gaps": lambda rng: with_gaps(all_different(rng), rng),
    "all different with many gaps": lambda rng: with_gaps(all_different(rng), rng, 0.9),
    "no string": lambda rng: np.full(N, None, dtype=object),
    "texts": lambda rng: np.array(
        [" ".join(rng.choice(["red", "Blue", "ßtraße", "a-b"], 5)) for _ in range(N)], dtype=object
    ),
    "texts with gaps": lambda rng: with_gaps(
        [" ".join(rng.choice(["red", "blue", "green thing"], 6)) for _ in range(N)], rng
    ),
    "signs": lambda rng: rng.choice(["", " ", "\x00", "a\x00", "é", "日本", "\n", "NA"], N).astype(
        object
    ),
    "times": lambda rng: pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, N), "D"),
    "pandas categories": lambda rng: pd.Categorical(rng.choice([*"xyz"], N)),
    "long strings": lambda rng: np.array(
        [letter * 300 for letter in rng.choice([*"ab"], N)], dtype=object
    ),
}

NAMES = ["a", "b", "is missing", "a is missing", "a = b", "", "日本", "a: b", "0", "x\x00"]


@pytest.mark.parametrize("seed", range(40))
def test_a_model_of_an_awkward_table_comes_back_the_same(tmp_path, seed):
    rng = np.random.default_rng(seed)
    kinds = rng.choice(list(COLUMNS), rng.integers(1, 5), replace=False)
    names = rng.choice(NAMES, len(kinds), replace=False)
    table = pd.DataFrame(
        {name: COLUMNS[kind](rng) for name, kind in zip(names, kinds, strict=True)}
    )
    check_saved(table, tmp_path / "model.gpgc", seed % 2)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_model_of_each_kind_of_column_comes_back_the_same(tmp_path, kind):
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"number": rng.normal(size=N), "it": COLUMNS[kind](rng)})
    check_saved(table, tmp_path / "model.gpgc", 0)


def check_saved(table, path, kind):
    rng = np.random.default_rng(0)
    classes = np.where(np.arange(N) < 12, np.arange(N) % 2, -1)
    links = (np.arange(N - 1), np.arange(1, N))
    try:
        if kind:
            fitted = GPGCRegressor().fit(table, np.where(classes < 0, np.nan, classes), links)
        else:
            fitted = GPGCClassifier().fit(table, classes, links)
    except InputError:  # such as a table without any column that tells something
        return
    fitted.save(path)
    again = load(path)
    np.testing.assert_allclose(again.predict_latent(), fitted.predict_latent(), atol=2e-5)
    assert again.n_features_in_ == fitted.n_features_in_
    if fitted.encoder_ is not None:
        assert again.encoder_.said == fitted.encoder_.said
        assert again.encoder_.feature_names == fitted.encoder_.feature_names
        assert len(fitted.encoder_.feature_names) == fitted.prior_.nodes.features.shape[1]
    new, links = table.iloc[:5], (rng.random((5, N)) < 0.3).astype(float)
    np.testing.assert_allclose(
        again.predict_latent(X=new, adjacency=links),
        fitted.predict_latent(X=new, adjacency=links),
        atol=2e-5,
    )
