"""Dense features that are not centred or not scaled are standardised, or named with the cure."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import gpgc
from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import GPGCWarning, InputError

WINE = load_wine().data
RNG = np.random.default_rng(0)
FINE = {
    "standardised": StandardScaler().fit_transform(WINE),
    "digits": load_digits().data[:300],
    "digits from 0 to 1": load_digits().data[:300] / 16,
    "counts": RNG.poisson(5, size=(300, 20)),
    "words": RNG.poisson(0.1, size=(300, 200)),
    "one-hot": np.eye(4)[RNG.integers(4, size=300)],
    "sparse": sp.csr_array(WINE),
    "one row": WINE[:1],
    "equal rows": np.full((30, 5), 3.7),
    "zeros": np.zeros((30, 5)),
}


@pytest.mark.parametrize("name", FINE)
def test_silent(name):
    X = FINE[name]
    y = np.arange(X.shape[0]) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GPGCWarning)
        warnings.filterwarnings("error", "the features", GPGCWarning)
        estimator = GPGCClassifier("small", feature_norm="l2", noise_variance=1.0)
        estimator.fit(X, y, sp.csr_array((len(y), len(y))))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (
            WINE,
            r"not scaled: column 12 holds 99.\d% of the variance.*standardise X",
        ),
        (WINE - WINE.mean(axis=0), "not scaled: column 12"),
        (
            load_iris().data,
            r"not centred: the mean cosine of two rows is 0.95.*centre X",
        ),
        (RNG.normal(size=(300, 5)) + 50, "not centred"),
        (-1e12 * (RNG.normal(size=(300, 5)) + 50), "not centred"),
    ],
)
def test_warned(X, words):
    y = np.arange(len(X)) % 2
    for kind in (GPGCClassifier, GPGCRegressor):
        with pytest.warns(GPGCWarning, match=words):
            kind(standardise=False).fit(X, y)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "the features", GPGCWarning)
            fitted = kind().fit(X, y)
        assert words.split(":")[0] in fitted.standardisation_


def test_one_label_a_class_of_wine(tmp_path):
    truth = load_wine().target
    y = np.full(len(truth), -1)
    y[[10, 80, 150]] = [0, 1, 2]
    raw = GPGCClassifier(standardise=False)
    with pytest.warns(GPGCWarning, match="not scaled"):
        raw.fit(WINE, y)
    fitted = GPGCClassifier().fit(WINE, y)
    assert np.mean(fitted.predict() == truth) > max(0.85, np.mean(raw.predict() == truth) + 0.2)
    assert "centred and scaled" in fitted.standardisation_
    fitted.save(tmp_path / "wine.gpgc")
    again = gpgc.load(tmp_path / "wine.gpgc")
    assert again.standardisation_ == fitted.standardisation_
    joined = fitted.predict_proba(WINE[20:30])
    np.testing.assert_allclose(again.predict_proba(WINE[20:30]), joined, atol=1e-6)
    assert np.mean(joined.argmax(axis=1) == truth[20:30]) > 0.8


def test_standardised_features_stay():
    X = FINE["standardised"]
    assert GPGCClassifier().fit(X, np.arange(len(X)) % 2).standardisation_ is None


def test_standardise_on_request():
    X = RNG.poisson(5, size=(40, 3)) * [1.0, 10.0, 100.0]
    y = np.arange(40) % 2
    asked = GPGCClassifier("small", standardise=True).fit(X, y)
    by_hand = GPGCClassifier("small", standardise=False).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(asked.predict_proba(), by_hand.predict_proba(), atol=1e-5)
    sparse = GPGCClassifier(standardise=True).fit(sp.csr_array(X), y)
    assert sparse.standardisation_ == "columns scaled: as asked for"
    with pytest.raises(InputError, match="standardise must be 'auto', True or False, got 'yes'"):
        GPGCClassifier(standardise="yes").fit(X, y)
