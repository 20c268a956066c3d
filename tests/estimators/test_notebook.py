"""What a notebook shows of an estimator."""

import numpy as np

from gpgc import GPGCClassifier, GPGCRegressor


def test_a_fitted_classifier_shows_what_was_fitted(two_moons):
    features, labels, _ = two_moons
    shown = GPGCClassifier().fit(features, labels)._repr_html_()
    for said in ("80 nodes", "6 given of 2 classes", "graph 100%", "noise variance", "estimate"):
        assert said in shown


def test_a_fitted_regressor_shows_its_error(two_moons):
    features, _, truth = two_moons
    y = np.where(np.arange(80) % 4 == 0, truth.astype(float), np.nan)
    shown = GPGCRegressor().fit(features, y)._repr_mimebundle_()
    assert "by leave-one-out" in shown["text/html"]
    assert shown["text/plain"] == "GPGCRegressor()"


def test_an_estimator_that_is_not_fitted_shows_its_parameters():
    assert "GPGCClassifier" in GPGCClassifier(depth=3)._repr_html_()


def test_what_users_wrote_is_escaped(two_moons):
    features, labels, _ = two_moons
    model = GPGCClassifier().fit(features, labels)
    model.approximations_ = ("<script>",)
    model.set_params(class_prior="<b>")
    assert "<script>" not in model._repr_html_()
    assert "<b>" not in model._repr_html_()
