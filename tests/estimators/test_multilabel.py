"""Several labels a node."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from gpgc import GPGCRegressor, MultilabelClassifier
from gpgc.errors import InputError
from gpgc.probability.label_thresholds import label_thresholds


@pytest.fixture
def problem():
    """Nodes in two overlapping circles of friends, some in neither."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    truth = np.stack([X[:, 0] > 0, X[:, 1] > 0.3], axis=1)
    return X, truth, rng.permutation(300)[:90]


def test_labels_are_found_and_probabilities_are_right(problem):
    X, truth, known = problem
    y = [None] * 300
    for node in known:
        y[node] = tuple(np.array(["east", "north"])[truth[node]])
    model = MultilabelClassifier(GPGCRegressor(base_kernel="squared_exponential")).fit(X, y)
    hidden = np.setdiff1d(np.arange(300), known)
    assert model.classes_.tolist() == ["east", "north"]
    assert (model.predict()[hidden] == truth[hidden]).mean() > 0.9
    for label in range(2):
        promised = model.predict_proba()[hidden, label].mean()
        assert promised == pytest.approx(truth[hidden, label].mean(), abs=0.06)
    assert () in model.predict_labels()
    assert ("east", "north") in model.predict_labels()
    assert model.to_frame().columns.tolist() == ["id", "east", "north", "given"]


def test_every_form_of_labels_means_the_same(problem):
    X, truth, known = problem
    table = np.full((300, 2), np.nan)
    table[known] = truth[known]
    expected = MultilabelClassifier().fit(X, table).predict_proba()
    names = np.array(["east", "north"])
    by_name = {int(node): set(names[truth[node]].tolist()) for node in known}
    for y in (by_name, pd.DataFrame(table, columns=names)):
        model = MultilabelClassifier().fit(X, y)
        np.testing.assert_allclose(model.predict_proba(), expected)
        assert model.classes_.tolist() == ["east", "north"]


def test_one_label_may_be_known_where_another_is_not(problem):
    X, truth, known = problem
    table = np.full((300, 2), np.nan)
    table[known[:60], 0] = truth[known[:60], 0]
    table[known[30:], 1] = truth[known[30:], 1]
    model = MultilabelClassifier().fit(X, table)
    assert len(model.estimator_.labelled_nodes_) == 90
    assert (model.predict() == truth).mean() > 0.8


def test_a_threshold_may_be_given(problem):
    X, truth, known = problem
    table = np.full((300, 2), np.nan)
    table[known] = truth[known]
    model = clone(MultilabelClassifier(threshold=0.9)).fit(X, table)
    assert model.thresholds_.tolist() == [0.9, 0.9]
    assert (model.predict() == (model.predict_proba() >= 0.9)).all()


def test_rare_labels_take_the_common_threshold():
    probability = np.linspace(0, 1, 40)[:, None].repeat(2, axis=1)
    targets = np.zeros((40, 2))
    targets[30:, 0] = 1
    targets[39, 1] = 1
    own, common = label_thresholds(probability, targets)
    assert own == pytest.approx((probability[29, 0] + probability[30, 0]) / 2)
    assert common < 0.9  # its own best one lies between the last two, at .987


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (["a", None], "collections of labels"),
        ([None, None], "at least one label"),
        ([("a", 1), None], "of one type"),
        (np.array([[2.0], [0.0]]), "0 and 1"),
    ],
)
def test_wrong_labels_are_refused(y, said):
    with pytest.raises(InputError, match=said):
        MultilabelClassifier().fit(None, y, np.ones((2, 2)))
    with pytest.raises(InputError, match="threshold must be"):
        MultilabelClassifier(threshold=2).fit(None, [("a",), None], np.ones((2, 2)))
