"""Dense features that are not centred or not scaled are named with the cure; others are not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import GPGCWarning

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
            r"not scaled: column 12 holds 99.\d% of the variance.*standardise X.*StandardScaler",
        ),
        (WINE - WINE.mean(axis=0), "not scaled: column 12"),
        (
            load_iris().data,
            r"not centred: the mean cosine of two rows is 0.95.*X - X.mean\(axis=0\)",
        ),
        (RNG.normal(size=(300, 5)) + 50, "not centred"),
        (-1e12 * (RNG.normal(size=(300, 5)) + 50), "not centred"),
    ],
)
def test_warned(X, words):
    y = np.arange(len(X)) % 2
    for estimator in (GPGCClassifier(), GPGCRegressor()):
        with pytest.warns(GPGCWarning, match=words):
            estimator.fit(X, y)
