"""Scores of latent means that bend where many labels say so."""

import numpy as np
import pytest

from gpgc import GPGCClassifier, load
from gpgc.probability.calibration import Calibration, calibrate_left_out
from gpgc.probability.score_curve import FEWEST_LABELS, ScoreCurve, fit_curve
from gpgc.probability.softmax import cross_entropies, softmax
from gpgc.probability.temperature import fit_temperature
from gpgc.uncertainty.explanation import explain
from gpgc.uncertainty.measures import expected_calibration_error


def draw(curve, n_labels, rng):
    """Return means of five classes, and labels that the softmax of a curve draws for them."""
    means = rng.dirichlet(np.full(5, 0.3), n_labels) + 0.02 * rng.standard_normal((n_labels, 5))
    chances = np.cumsum(softmax(curve.scores(means)), axis=1)
    codes = (rng.random((n_labels, 1)) > chances).sum(axis=1).clip(0, 4)
    return means, np.eye(5)[codes]


def test_a_curve_rises_and_has_its_slope_at_zero():
    for curvature in (0.0, 0.5, 16.0):
        curve = ScoreCurve(3.0, curvature)
        assert (np.diff(curve.scores(np.linspace(-0.5, 1.5, 401))) > 0).all()
        below, at, above = curve.scores(np.array([-1e-6, 0.0, 1e-6]))
        assert at == 0
        assert (above - below) / 2e-6 == pytest.approx(3.0, rel=1e-4)


def test_many_labels_find_the_curve_that_drew_them():
    rng = np.random.default_rng(0)
    bent = ScoreCurve(20.0, 16.0)
    means, targets = draw(bent, 2 * FEWEST_LABELS, rng)
    found = fit_curve(means, targets, np.ones(len(means)), 3.0)
    assert 8 <= found.curvature <= 32
    fresh, truth = draw(bent, 20_000, rng)
    said = softmax(found.scores(fresh))
    assert expected_calibration_error(said, truth.argmax(axis=1)) < 0.02


def test_straight_lines_and_few_labels_stay_straight():
    rng = np.random.default_rng(1)
    means, targets = draw(ScoreCurve(6.0), 2 * FEWEST_LABELS, rng)
    assert fit_curve(means, targets, np.ones(len(means)), 6.0) == ScoreCurve(6.0)
    means, targets = draw(ScoreCurve(20.0, 16.0), FEWEST_LABELS - 1, rng)
    assert fit_curve(means, targets, np.ones(len(means)), 3.0) == ScoreCurve(3.0)


@pytest.mark.parametrize("curvature", [0.5, 64.0])
def test_slight_and_strong_curves_are_found(curvature):
    rng = np.random.default_rng(3)
    steep = 6.0 if curvature < 1 else 40.0
    means = rng.dirichlet(np.full(5, 0.3), 60_000)
    targets = softmax(ScoreCurve(steep, curvature).scores(means))
    found = fit_curve(means, targets, np.ones(len(means)), 3.0)
    assert found.curvature == curvature
    assert found.temperature == pytest.approx(steep, rel=0.01)


def test_a_curve_takes_two_thousand_labels_and_two_standard_errors():
    rng = np.random.default_rng(4)
    means, targets = draw(ScoreCurve(20.0, 16.0), 2000, rng)
    assert fit_curve(means, targets, np.ones(2000), 3.0).curvature > 0
    assert fit_curve(means[1:], targets[1:], np.ones(1999), 3.0).curvature == 0
    decided = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        means, targets = draw(ScoreCurve(6.0, 0.3), 2000, rng)
        straight = float(fit_temperature(means, targets))
        found = fit_curve(means, targets, np.ones(2000), straight)
        gains = [_gain(means, targets, straight, c) for c in 2.0 ** np.arange(-1, 7)]
        best = max(gains, key=np.sum)
        errors = best.sum() / (best.std(ddof=1) * np.sqrt(2000))
        decided.append(abs(errors - 2))
        if decided[-1] > 0.05:
            assert (found.curvature > 0) == (errors > 2)
    assert min(decided) < 0.6


@pytest.mark.parametrize(("n_told", "bends"), [(5, False), (6, True), (11, True)])
def test_six_labels_must_tell_a_curve_from_a_line(n_told, bends):
    means, targets = np.zeros((FEWEST_LABELS, 2)), np.eye(2)[np.zeros(FEWEST_LABELS, dtype=int)]
    means[:n_told, 0] = 1
    found = fit_curve(means, targets, np.ones(FEWEST_LABELS), 0.1)
    assert (found.curvature > 0) == bends


def test_a_curve_is_compared_with_the_line_beside_the_fractions_it_leans_on(monkeypatch):
    means, targets = np.zeros((6, 2)), np.eye(2)[[0, 0, 0, 1, 1, 0]]
    means[:, 0], fractions, seen = [0.3, 0.1, 0.2, -0.1, 0.1, 0.2], np.array([0.7, 0.3]), []

    def line(left_out, targets, weights, temperature, offset):
        seen.append(offset)
        return ScoreCurve(temperature)

    monkeypatch.setattr("gpgc.probability.calibration.fit_curve", line)
    found = calibrate_left_out(means, targets, np.ones(6), fractions, 0.2, prior="labels")
    flat = np.exp(-0.2 * found.curve.temperature)
    np.testing.assert_allclose(seen, [flat * np.log(fractions)])


def _gain(means, targets, straight, curvature):
    bent = ScoreCurve(1.0, curvature).scores(means)
    t = fit_temperature(bent, targets)
    lines = cross_entropies(means, targets, np.asarray(straight))
    return lines - cross_entropies(bent, targets, t)


def test_a_curve_is_saved_and_explained(tmp_path):
    rng = np.random.default_rng(2)
    classes = np.arange(60) % 3
    X = rng.standard_normal((3, 5))[classes] + 0.5 * rng.standard_normal((60, 5))
    given = np.where(rng.random(60) < 0.3, classes, -1)
    model = GPGCClassifier(dtype="float64").fit(X, given)
    before = model.predict_proba()
    bias = model.calibration_.bias
    model.calibration_ = Calibration(ScoreCurve(20.0, 8.0), bias, model.calibration_.fractions)
    assert np.abs(model.predict_proba() - before).max() > 0.01
    model.save(tmp_path / "model.gpgc")
    again = load(tmp_path / "model.gpgc")
    assert again.calibration_.curve == model.calibration_.curve
    np.testing.assert_allclose(again.predict_proba(), model.predict_proba(), atol=1e-6)
    found = explain(model, 7)
    np.testing.assert_allclose(found.offset + found.contributions.sum(axis=0), found.total)
    said = model.predict_proba()[7]
    np.testing.assert_allclose(softmax(found.total[None])[0], said, atol=1e-6)
