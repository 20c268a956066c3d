"""Labellings, their copies and the estimators that they begin from do not change each other."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from gpgc import GPGCClassifier, Labelling


@pytest.fixture
def unlike():
    """Features that tell the classes, links that mislead: the fraction of the features matters."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    features = rng.normal(size=(80, 4)) + 3 * np.eye(4)[truth]
    links = np.triu(rng.random((80, 80)) < np.where(truth[:, None] == truth, 0.01, 0.1), 1)
    return features, np.nonzero(links), truth


def answers(estimator, features):
    new = features[[5, 45]] + 0.1
    links = np.zeros((2, len(features)))
    links[0, [50, 60]] = links[1, [1, 2]] = 1
    return [
        estimator.predict_proba(),
        estimator.predict_proba(new, links),
        estimator.class_prior_.copy(),
        np.array([estimator.temperature_, estimator.noise_variance_]),
        np.array(sorted(estimator.view_weights_.values())),
        estimator.labelled_nodes_.copy(),
    ]


def assert_same(before, after):
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)


def test_copies_do_not_move_answers_for_joining_nodes(unlike):
    features, links, truth = unlike
    labelling = Labelling.on(features, None, links)
    labelling.add([0, 40], truth[[0, 40]])
    first = labelling.estimator()
    before = answers(first, features)
    other = labelling.copy()
    many = np.setdiff1d(np.arange(0, 80, 2), [0, 40])
    other.add(many, truth[many])
    other.predict_proba()
    second = other.estimator()
    assert second.view_weights_ != first.view_weights_
    assert_same(before, answers(first, features))
    assert_same(before, answers(labelling.estimator(), features))


def test_the_callers_classifier_stays_as_it_is(unlike):
    features, links, truth = unlike
    y = np.full(80, -1)
    y[[0, 1, 40, 41]] = truth[[0, 1, 40, 41]]
    classifier = GPGCClassifier().fit(features, y, links).calibrate([5, 6, 50], truth[[5, 6, 50]])
    before = answers(classifier, features)
    labelling = Labelling(classifier)
    assert labelling._posterior.temperature == classifier.temperature_
    labelling.add(np.arange(2, 40, 2), truth[2:40:2])
    labelling.predict_proba()
    labelling.estimator()
    assert_same(before, answers(classifier, features))


def test_estimators_of_a_labelling_are_the_callers(unlike):
    features, links, truth = unlike
    labelling = Labelling.on(features, None, links)
    labelling.add([0, 40], truth[[0, 40]])
    early = labelling.estimator()
    labelling.add([1, 41], truth[[1, 41]])
    late = labelling.estimator()
    assert early.labelled_nodes_.tolist() == [0, 40]
    assert late.labelled_nodes_.tolist() == [0, 1, 40, 41]


def test_a_labelling_needs_a_fitted_classifier():
    with pytest.raises(NotFittedError):
        Labelling(GPGCClassifier())
