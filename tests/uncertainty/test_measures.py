"""Measures against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import log_loss as sklearn_log_loss

from gpgc.errors import InputError
from gpgc.probability.softmax import softmax
from gpgc.uncertainty import measures


@pytest.fixture
def forecast():
    rng = np.random.default_rng(0)
    probabilities = softmax(2 * rng.normal(size=(5000, 4)))
    drawn = (probabilities.cumsum(axis=1) < rng.random((5000, 1))).sum(axis=1)
    return probabilities, drawn


def test_labels_drawn_from_the_probabilities_are_calibrated(forecast):
    probabilities, labels = forecast
    assert measures.expected_calibration_error(probabilities, labels) < 0.03
    sharper = probabilities**3 / (probabilities**3).sum(axis=1, keepdims=True)
    assert measures.expected_calibration_error(sharper, labels) > 0.1
    assert measures.log_loss(sharper, labels) > measures.log_loss(probabilities, labels)


def test_calibration_error_bin_by_bin(forecast):
    probabilities, labels = forecast
    confidence = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == labels
    total = 0.0
    for low in np.arange(15) / 15:
        inside = (confidence > low) & (confidence <= low + 1 / 15)
        if inside.any():
            total += inside.sum() * abs(confidence[inside].mean() - right[inside].mean())
    assert measures.expected_calibration_error(probabilities, labels) == pytest.approx(total / 5000)
    assert measures.reliability(probabilities, labels).size.sum() == 5000


def test_scores_agree_with_scikit_learn(forecast):
    probabilities, labels = forecast
    assert measures.log_loss(probabilities, labels) == pytest.approx(
        sklearn_log_loss(labels, probabilities)
    )
    assert np.isfinite(measures.log_loss([[1.0, 0.0]], [1]))


@pytest.mark.parametrize(
    ("probabilities", "labels"),
    [([0.5, 0.5], [0]), ([[0.5, 0.5]], [2]), ([[0.5, 0.5]], [0, 1]), (np.empty((0, 2)), [])],
)
def test_wrong_shapes_and_labels_are_refused(probabilities, labels):
    with pytest.raises(InputError):
        measures.log_loss(probabilities, labels)
