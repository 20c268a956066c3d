"""Unbalanced classes: balanced decisions on request, and class fractions that do not run away."""

import numpy as np
import pytest

from gpgc import GPGCClassifier
from gpgc.errors import InputError


@pytest.fixture
def rare():
    """Two overlapping classes, one of them a tenth of the nodes, that links tell nothing of."""
    rng = np.random.default_rng(0)
    truth = (rng.random(600) < 0.1).astype(int)
    X = rng.normal(size=(600, 4)) + 1.3 * truth[:, None]
    links = rng.integers(0, 600, (2, 900))
    y = np.where(rng.random(600) < 0.4, truth, -1)
    return X, y, links[:, links[0] != links[1]], truth


def test_balanced_decisions_find_the_rare_class(rare):
    X, y, links, truth = rare
    probable = GPGCClassifier().fit(X, y, tuple(links))
    balanced = GPGCClassifier(decision="balanced").fit(X, y, tuple(links))
    test = y < 0

    def recalls(found):
        return [np.mean(found.predict()[test & (truth == c)] == c) for c in (0, 1)]

    assert recalls(balanced)[1] > recalls(probable)[1] + 0.15
    assert np.mean(recalls(balanced)) > np.mean(recalls(probable)) + 0.05
    np.testing.assert_array_equal(balanced.predict_proba(), probable.predict_proba())
    assert np.abs(balanced.predict_proba()[test, 1].mean() - truth[test].mean()) < 0.04
    assert (balanced.transduction_[test] == balanced.predict()[test]).all()


def test_decisions_must_be_known(rare):
    X, y, links, _ = rare
    with pytest.raises(InputError, match="decision must be one of probable, balanced, got 'fair'"):
        GPGCClassifier(decision="fair").fit(X, y, tuple(links))


def test_labels_that_nothing_explains_keep_their_own_fractions():
    rng = np.random.default_rng(0)
    truth = rng.choice(4, 2400, p=[0.4, 0.3, 0.2, 0.1])
    X, links = rng.normal(size=(2400, 20)), rng.integers(0, 2400, (2, 7200))
    y = np.where(np.arange(2400) < 1000, truth, -1)
    found = GPGCClassifier().fit(X, y, tuple(links[:, links[0] != links[1]]))
    fractions = np.bincount(truth[:1000]) / 1000
    np.testing.assert_allclose(found.class_prior_, fractions, atol=0.05)
    sure, right = found.predict_proba()[1000:].max(axis=1), found.predict()[1000:] == truth[1000:]
    assert right.mean() > np.mean(truth[1000:] == 0) - 0.02
    np.testing.assert_allclose(sure, fractions.max(), atol=0.02)
