"""Tables of categories: many rows are equal, or equally near, and their order says nothing."""

import numpy as np
import pytest
import scipy.sparse as sp

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


def numbers(n_rows=300, seed=0):
    """Return rows of numbers, some of them twice, and labels of a few."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[200:220] = X[:20]
    y = np.full(n_rows, -1)
    y[rng.choice(n_rows, 20, replace=False)] = np.arange(20) % 2
    return X, y


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (numbers(), np.asarray),
        (numbers(), sp.csr_array),
        (table()[:2], np.asarray),
        (table()[:2], sp.csr_array),
    ],
    ids=["numbers", "numbers, sparse", "categories", "categories, sparse"],
)
def test_a_copy_of_a_fitted_row_gets_its_answer(data, form):
    X, y = data
    fitted = GPGCClassifier(dtype="float64").fit(form(X), y)
    np.testing.assert_allclose(fitted.predict_proba(form(X)), fitted.predict_proba(), atol=0.03)
    exact = GPGCClassifier("big", dtype="float64").fit(form(X), y)
    np.testing.assert_allclose(exact.predict_proba(form(X)), exact.predict_proba(), atol=1e-6)


def test_a_copy_in_another_number_format_gets_the_same_answer():
    X, y = numbers()
    single = X.astype(np.float32)
    fitted = GPGCClassifier(standardize=True).fit(single, y)
    expected = fitted.predict_proba(single)
    np.testing.assert_allclose(fitted.predict_proba(single.astype(float)), expected, atol=1e-6)
