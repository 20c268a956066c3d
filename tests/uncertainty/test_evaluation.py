"""gpgc.evaluate: hidden labels on one graph."""

import numpy as np
import pytest

import gpgc
from gpgc.errors import InputError


def test_every_label_is_predicted_while_it_is_hidden(two_moons):
    features, _, truth = two_moons
    y = np.where(np.arange(80) % 2 == 0, truth, -1)
    found = gpgc.evaluate(features, y, n_splits=4, dtype="float64")
    assert found.confusion.sum() == 40
    assert found.accuracy == np.trace(found.confusion) / 40
    assert found.accuracies.shape == (4,)
    assert found.accuracy > 0.95
    assert 0 <= found.calibration_error < 0.2


@pytest.mark.parametrize("n_splits", [1, 0, 9, 2.5])
def test_bad_splits_are_refused(n_splits):
    with pytest.raises(InputError, match="n_splits must"):
        gpgc.evaluate(None, [0, 0, 1, 1], ([0, 2], [1, 3]), n_splits=n_splits)


def test_a_class_with_one_label_is_named():
    with pytest.raises(InputError, match="class 'b' has 1 label; evaluation needs at least 2"):
        gpgc.evaluate(None, ["a", "a", "b", None], ([0, 2], [1, 3]))
