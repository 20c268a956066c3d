"""Tables of categories: many rows are equal, or equally near, and their order says nothing."""

import numpy as np
import pytest

from gpgc import GPGCClassifier


def table(n_rows=400, seed=0):
    """Return one-hot codes of four columns of categories, labels of every fifth row, and groups."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=(n_rows, 4))
    y = np.full(n_rows, -1)
    y[::5] = ((codes[:, 0] + (codes[:, 1] > 0)) % 3)[::5]
    groups = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    return np.hstack([np.eye(3)[column] for column in codes.T]), y, groups


@pytest.mark.parametrize("model", ["broad", "big", "small"])
def test_shuffled_rows_of_a_table_have_the_same_answers(model):
    X, y, _ = table()
    shuffled = np.random.default_rng(1).permutation(len(X))
    one = GPGCClassifier(model, dtype="float64").fit(X, y)
    other = GPGCClassifier(model, dtype="float64").fit(X[shuffled], y[shuffled])
    np.testing.assert_allclose(other.predict_proba(), one.predict_proba()[shuffled], atol=1e-6)
    new = X[:20] + 0.25
    np.testing.assert_allclose(other.predict_proba(new), one.predict_proba(new), atol=1e-6)


@pytest.mark.parametrize("model", ["broad", "big", "small"])
def test_equal_rows_without_labels_have_equal_answers(model):
    X, y, groups = table()
    fitted = GPGCClassifier(model, dtype="float64").fit(X, y)
    found, unlabelled = fitted.predict_proba(), y < 0
    for group in np.unique(groups[unlabelled]):
        same = found[unlabelled & (groups == group)]
        np.testing.assert_allclose(same, np.broadcast_to(same[0], same.shape), atol=1e-9)
    joined = fitted.predict_proba(np.vstack([X[:3], X[:3]]))
    np.testing.assert_allclose(joined[:3], joined[3:], atol=1e-9)
