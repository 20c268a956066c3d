"""Dense features are seen as they come, and with standardized columns."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

import gpgc
from gpgc import GPGCClassifier
from gpgc.errors import GPGCWarning, InputError

WINE = load_wine().data
RNG = np.random.default_rng(0)
FINE = {
    "standardized": StandardScaler().fit_transform(WINE),
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
def test_no_warning_of_features(name):
    X = FINE[name]
    y = np.arange(X.shape[0]) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GPGCWarning)
        warnings.filterwarnings("error", "the features", GPGCWarning)
        GPGCClassifier().fit(X, y, sp.csr_array((len(y), len(y))))


def test_one_label_a_class_of_wine(tmp_path):
    truth = load_wine().target
    y = np.full(len(truth), -1)
    y[[10, 80, 150]] = [0, 1, 2]
    raw = GPGCClassifier(standardize=False).fit(WINE, y)
    fitted = GPGCClassifier().fit(WINE, y)
    assert np.mean(fitted.predict() == truth) > max(0.85, np.mean(raw.predict() == truth) + 0.2)
    assert fitted.standardization_ == "columns as they came, and standardized"
    assert fitted.view_weights_.keys() == {"graph", "standardized graph"}
    fitted.save(tmp_path / "wine.gpgc")
    again = gpgc.load(tmp_path / "wine.gpgc")
    assert again.standardization_ == fitted.standardization_
    joined = fitted.predict_proba(WINE[20:30])
    np.testing.assert_allclose(again.predict_proba(WINE[20:30]), joined, atol=1e-6)
    assert np.mean(joined.argmax(axis=1) == truth[20:30]) > 0.8


def test_standardized_features_stay():
    X = FINE["standardized"]
    fitted = GPGCClassifier().fit(X, np.arange(len(X)) % 2)
    assert fitted.prior_.nodes.standardized is None
    np.testing.assert_allclose(fitted.prior_.nodes.features, X, atol=1e-12)


def test_standardize_on_request():
    X = RNG.poisson(5, size=(40, 3)) * [1.0, 10.0, 100.0]
    y = np.arange(40) % 2
    asked = GPGCClassifier("small", standardize=True).fit(X, y)
    by_hand = GPGCClassifier("small", standardize=False).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(asked.predict_proba(), by_hand.predict_proba(), atol=1e-5)
    sparse = GPGCClassifier(standardize=True).fit(sp.csr_array(X), y)
    assert sparse.standardization_ == "columns scaled"
    with pytest.raises(InputError, match="standardize must be 'auto', True or False, got 'yes'"):
        GPGCClassifier(standardize="yes").fit(X, y)
