"""Marks of the unlabelled, and labels that look like marks."""

import warnings

import numpy as np
import pytest

from gpgc import GPGCClassifier, GPGCRegressor
from gpgc.errors import GPGCWarning, InputError
from gpgc.estimators.given import encode_labels, is_unlabelled

PATH = ([0, 1, 2], [1, 2, 3])


def marks():
    yield from (-1, -1.0, None, float("nan"), np.nan, np.datetime64("NaT"), np.ma.masked)
    try:
        import pandas as pd
    except ImportError:
        return
    yield from (pd.NA, pd.NaT)


@pytest.mark.parametrize("mark", list(marks()), ids=repr)
def test_every_mark_is_unlabelled(mark):
    assert is_unlabelled(mark)
    y = np.array(["a", None, "b"], dtype=object)
    y[1] = mark
    assert encode_labels(y)[0].tolist() == [0, -1, 1]
    assert encode_labels(list(y))[0].tolist() == [0, -1, 1]


def test_masked_entries_are_unlabelled():
    y = np.ma.array([3, 4, 5, 4], mask=[0, 1, 0, 1])
    assert encode_labels(y)[0].tolist() == [0, -1, 1, -1]
    model = GPGCClassifier().fit(None, y, PATH)
    assert model.labelled_nodes_.tolist() == [0, 2]
    values = np.ma.array([1.0, 99.0, 2.0, 99.0], mask=[0, 1, 0, 1])
    assert GPGCRegressor().fit(None, values, PATH).labelled_nodes_.tolist() == [0, 2]


def test_columns_of_pandas_with_missing_values():
    pd = pytest.importorskip("pandas")
    for y in (
        pd.Series(["a", None, "b", pd.NA], dtype="string"),
        pd.Series([1, None, 0, None], dtype="Int64"),
        pd.Series(["a", None, "b", None], dtype="category"),
    ):
        assert GPGCClassifier().fit(None, y, PATH).labelled_nodes_.tolist() == [0, 2]
    values = pd.Series([1.5, None, 2.5, None], dtype="Float64")
    assert GPGCRegressor().fit(None, values, PATH).labelled_nodes_.tolist() == [0, 2]


def test_minus_one_and_one_alone_are_warned_of():
    with pytest.warns(GPGCWarning, match="only -1 and 1"):
        GPGCClassifier().fit(None, [1, -1, -1, 1], PATH)


@pytest.mark.parametrize("y", [["a", None, "a", None], [0, -1, -1, -1], [1, None, 1, 1]])
def test_one_class_is_warned_of(y):
    with pytest.warns(GPGCWarning, match="one class only"):
        GPGCClassifier().fit(None, y, PATH)


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="real numbers"):
        GPGCRegressor().fit(None, [1.0, "a", None, None], PATH)
    with pytest.raises(InputError, match="times"):
        encode_labels(np.array(["2020-01-01", "NaT"], dtype="M8[D]"))


def test_one_label_of_each_of_many_classes_is_no_warning():
    ring = (np.arange(40), (np.arange(40) + 1) % 40)
    y = np.where(np.arange(40) % 2 == 0, np.arange(40), -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(GPGCClassifier().fit(None, y, ring).classes_) == 20
