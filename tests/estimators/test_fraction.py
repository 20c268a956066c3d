"""The fraction of the features is chosen however the noise is, and searched by select."""

import numpy as np
import pytest

import gpgc
from gpgc import GPGCClassifier
from gpgc.errors import GPGCWarning


@pytest.fixture
def unlike():
    """A graph whose links join unlike nodes at random, with features that tell the classes."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 60)
    features = rng.normal(size=(180, 6)) + 2.5 * np.eye(6)[truth]
    links = np.triu(rng.random((180, 180)) < np.where(truth[:, None] == truth, 0.01, 0.06), 1)
    y = np.full(180, -1)
    labelled = rng.choice(180, 45, replace=False)
    y[labelled] = truth[labelled]
    return features, y, np.nonzero(links), truth


def test_the_noise_does_not_change_the_model(unlike):
    features, y, links, truth = unlike
    chosen = GPGCClassifier().fit(features, y, links)
    assert chosen.view_weights_["features"] > 0
    accuracy = np.mean(chosen.predict() == truth)
    for noise in (chosen.noise_variance_, 0.01, "evidence"):
        other = GPGCClassifier(noise_variance=noise).fit(features, y, links)
        assert other.view_weights_["features"] > 0
        assert np.mean(other.predict() == truth) > accuracy - 0.02


@pytest.mark.filterwarnings("ignore:the best noise is")
@pytest.mark.parametrize("criterion", ["loo", "validation"])
def test_select_searches_the_default_model(unlike, criterion):
    features, y, links, truth = unlike
    validation = np.flatnonzero(y >= 0)[::3] if criterion == "validation" else None
    found = gpgc.select(
        features, y, links, validation=validation, criterion=criterion, models=["broad"]
    )
    assert {row.view_weights.get("features", 0.0) for row in found.table} == {0.0, 1 / 3, 1.0}
    assert found.best.view_weights["features"] > 0
    assert found.estimator.view_weights_ == found.best.view_weights
    assert found.estimator.noise_variance_ == found.best.noise_variance
    plain = GPGCClassifier().fit(features, y, links)
    assert np.mean(found.estimator.predict() == truth) > np.mean(plain.predict() == truth) - 0.03


def test_a_best_noise_at_the_end_of_what_was_tried_is_said(unlike):
    features, y, links, _ = unlike
    with pytest.warns(GPGCWarning, match="largest that was tried"):
        gpgc.select(
            features, y, links, models=["big"], criterion="evidence", feature_norms=["none"],
            base_kernels=["inner_product"], relative_noise=np.array([1e-6, 1e-5, 1e-4]),
        )  # fmt: skip
