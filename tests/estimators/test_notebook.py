"""What a notebook shows of an estimator."""

from dataclasses import replace

import numpy as np

from gpgc import GPGCClassifier, GPGCRegressor, evaluate


def test_a_fitted_classifier_shows_what_was_fitted(two_moons):
    features, labels, _ = two_moons
    shown = GPGCClassifier().fit(features, labels)._repr_html_()
    for said in (
        "80 nodes",
        "6 given of 2 classes",
        "standardized graph",
        "noise variance",
        "estimate",
    ):
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
    model.fit_ = replace(model.fit_, approximations=("<script>",))
    model.set_params(class_prior="<b>")
    assert "<script>" not in model._repr_html_()
    assert "<b>" not in model._repr_html_()


def test_answers_are_tables_in_a_notebook_and_short_in_a_console(two_moons):
    features, labels, truth = two_moons
    nasty = np.array(["<b>left", "right"], dtype=object)
    y = np.where(np.asarray(labels) < 0, None, nasty[truth])
    model = GPGCClassifier().fit(features, y)
    many = np.where(np.arange(80) % 2 == 0, nasty[truth], None)
    found = {
        "probably wrong": model.check_labels(),
        "adds": model.explain(1),
        "each hidden once": evaluate(features, many),
    }
    for said, answer in found.items():
        assert repr(answer) == str(answer)
        assert "array(" not in repr(answer)
        assert len(repr(answer)) < 2000
        shown = answer._repr_html_()
        assert said in shown
        assert shown.startswith("<table>")
        assert "<b>" not in shown
        assert "&lt;b&gt;left" in shown
