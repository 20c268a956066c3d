"""How sharp probabilities are: what is usual, what labels say, and what is believed of it."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize_scalar

from gpgc import GPGCClassifier
from gpgc.probability.calibration import calibrate_left_out
from gpgc.probability.softmax import cross_entropies, softmax
from gpgc.probability.temperature import (
    Sharpness,
    agreement,
    credibility,
    fit_temperature,
    fit_temperature_with_prior,
    root_mean_square,
    sharpness_penalty,
    square_sums,
    usual_sharpness,
)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 500])
def test_a_usual_node_is_nine_tenths_sure_whatever_the_number_of_classes(n_classes):
    mean = np.eye(n_classes)[:1]
    usual = usual_sharpness(10_000, 1.0, n_classes)
    scores = np.exp(usual.mean) / root_mean_square(square_sums(mean)) * mean
    assert softmax(scores)[0, 0] == pytest.approx(0.9)
    assert usual.std == 0.5


def test_few_labels_and_unlike_neighbors_are_less_sure():
    assert usual_sharpness(5, 1.0, 10).mean == pytest.approx(np.log(5) - 1)
    assert usual_sharpness(10_000, 0.0, 10) == Sharpness(-2.5, 1.0)
    alike, unlike = usual_sharpness(10_000, 1.0, 10), usual_sharpness(10_000, 0.0, 10)
    half = usual_sharpness(10_000, 0.5, 10)
    np.testing.assert_allclose(half, (np.array(alike) + unlike) / 2)
    assert usual_sharpness(10, 1.0, 1) == usual_sharpness(10, 1.0, 2)


def test_views_that_disagree_make_probabilities_less_sure_and_never_surer():
    usual = usual_sharpness(10_000, 1.0, 10)
    for agreeing in (0.5, 0.8, 1.0):
        assert usual_sharpness(10_000, 1.0, 10, agreeing) == usual
    assert usual_sharpness(10_000, 1.0, 10, 0.25).mean == pytest.approx(usual.mean - np.log(2))
    assert usual_sharpness(10_000, 1.0, 10, 0.0).mean == pytest.approx(-2.5)
    assert usual_sharpness(10_000, 1.0, 10, -1.0).mean == pytest.approx(-2.5)
    assert usual_sharpness(10_000, 0.0, 10, 0.25) == usual_sharpness(10_000, 0.0, 10)


def test_agreement_is_the_cosine_of_contrasts_where_both_speak():
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 50, 4))
    assert agreement([one]) == agreement([]) == 1
    assert agreement([one, 5 * one + rng.normal(size=(50, 1))]) == pytest.approx(1)
    assert abs(agreement([one, other])) < 0.3
    silent = one.copy()
    silent[10:] = 7.0  # a view that tells no classes apart there
    assert agreement([one, silent]) == pytest.approx(1)
    assert agreement([one, np.ones((50, 4))]) == 1
    pairs = [agreement(pair) for pair in ([one, other], [one, silent], [other, silent])]
    assert agreement([one, other, silent]) == pytest.approx(np.mean(pairs))


def test_penalty_is_a_parabola_and_then_a_line():
    usual = Sharpness(1.0, 0.5)
    assert sharpness_penalty(1.25, usual) == pytest.approx(0.125)
    for far, expected in ((0.5, 0.5), (1.0, 1.5), (2.0, 3.5)):
        assert sharpness_penalty(1 + far, usual) == pytest.approx(expected)
        assert sharpness_penalty(1 - far, usual) == pytest.approx(expected)


def test_what_gains_nothing_is_not_believed():
    assert credibility(0.0, 0.0) == 1
    assert credibility(2.0, 1e6) == 1
    assert credibility(1.0, 1e6) == pytest.approx(np.exp(-1))
    assert credibility(1.0, 18.0) == 1
    assert credibility(0.0, 18.0) == pytest.approx(np.exp(-1))
    assert credibility(-1.0, 9.0) == pytest.approx(np.exp(-0.5))
    assert credibility(-1.0, 3.0) == 1


def test_the_contrast_of_means_counts_from_a_thousandth_of_their_size_on():
    assert root_mean_square(square_sums(np.full((5, 4), 3.0))) == pytest.approx(6e-3)
    assert root_mean_square(square_sums(np.array([[3.0, 3.1]]))) == pytest.approx(np.sqrt(0.005))
    assert root_mean_square(square_sums(np.empty((0, 2)))) == 1


def test_fitted_temperatures_are_the_minimum():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4, 300, 3))
    targets = np.eye(3)[np.array([rng.choice(3, p=row) for row in softmax(2 * scores[0])])]
    weights = rng.random(300)
    for one, found in zip(scores, fit_temperature(scores, targets, weights), strict=True):
        best = minimize_scalar(
            lambda log_t, one=one: weights @ cross_entropies(one, targets, np.exp(log_t)),
            bounds=(-9, 9),
            method="bounded",
            options={"xatol": 1e-9},
        )
        if 0.01 < np.exp(best.x) < 100:
            assert found == pytest.approx(np.exp(best.x), rel=2e-3)


def test_labels_move_the_sharpness_by_five_units_at_most():
    means = np.repeat(np.eye(2), 5000, axis=0)
    spread, even = root_mean_square(square_sums(means)), np.full(2, 0.5)
    usual = Sharpness(-6.0, 0.5)
    t = fit_temperature_with_prior(means, means, np.ones(10_000), spread, usual, even)
    assert np.log(t * spread) == pytest.approx(-1.0, abs=0.26)


def test_the_best_sharpness_is_found_where_there_are_two_good_ones():
    rng = np.random.default_rng(3)
    for _ in range(5):
        scores = rng.normal(size=(30, 3)) * rng.choice([0.1, 10], size=(30, 1))
        targets, shown = np.eye(3)[rng.integers(3, size=30)], np.array([0.6, 0.3, 0.1])
        usual = Sharpness(1.0, 0.5)

        def loss(log_sharpness, scores=scores, targets=targets, shown=shown, usual=usual):
            logits = np.exp(log_sharpness) * scores
            logits = logits + np.exp(-np.exp(log_sharpness)) * np.log(shown)
            costs = cross_entropies(logits, targets, np.asarray(1.0))
            return costs.sum() * 0.5 + sharpness_penalty(log_sharpness, usual)

        grid = np.linspace(-4, 6, 2001)
        best = grid[np.argmin([loss(one) for one in grid])]
        t = fit_temperature_with_prior(scores, targets, np.full(30, 0.5), 1.0, usual, shown)
        gain = (
            0.5 * cross_entropies(np.tile(np.log(shown), (30, 1)), targets, np.asarray(1.0)).sum()
        )
        gain -= loss(best) - sharpness_penalty(best, usual)
        assert t == pytest.approx(np.exp(best) * credibility(gain, 15.0), rel=0.1)


@pytest.mark.parametrize(("n_labels", "most"), [(10, 0.2), (30, 0.01), (100, 0.003), (400, 0.002)])
def test_means_that_say_nothing_give_the_labels_fractions(n_labels, most):
    rng = np.random.default_rng(4)
    shown = np.array([0.7, 0.2, 0.1])
    excess = []
    for _ in range(10):
        codes = np.r_[0, 1, 2, rng.choice(3, p=shown, size=n_labels - 3)]
        targets = np.eye(3)[codes]
        fractions = targets.mean(axis=0)
        left_out, unlabelled = 0.3 * rng.normal(size=(2, 2000, 3))
        weights = (1 - 1 / targets.sum(axis=0))[codes]
        spread = root_mean_square(square_sums(unlabelled))
        calibration = calibrate_left_out(
            left_out[:n_labels],
            targets,
            weights,
            fractions,
            spread,
            lambda said, nodes=unlabelled: said(nodes).mean(axis=0),
        )
        said = np.log(calibration.probabilities(unlabelled, np.ones(2000, dtype=bool)))
        truth = rng.choice(3, p=shown, size=2000)
        excess.append(np.mean(np.log(fractions)[truth] - said[np.arange(2000), truth]))
    assert np.mean(excess) < most


@pytest.mark.parametrize("n_labels", [30, 100])
@pytest.mark.parametrize("fractions", [[0.5, 0.5], [0.88, 0.12], [0.05, 0.1, 0.15, 0.3, 0.4]])
def test_vectors_that_say_nothing_are_no_worse_than_the_labels_fractions(fractions, n_labels):
    excess = []
    for seed in range(2, 7):
        rng = np.random.default_rng(seed)
        truth = rng.choice(len(fractions), p=fractions, size=600)
        features, y = rng.normal(size=(600, 10)), truth.copy()
        y[n_labels:] = -1
        fitted = GPGCClassifier().fit(features, y)
        hidden = np.flatnonzero((y < 0) & np.isin(truth, fitted.classes_))
        columns = np.searchsorted(fitted.classes_, truth[hidden])
        said = np.log(fitted.predict_proba()[hidden, columns])
        excess.append(np.mean(np.log(fitted.calibration_.fractions[columns]) - said))
    assert np.median(excess) < 0.02
    assert np.sort(excess)[-2] < 0.05  # one draw in ten or so looks like knowledge


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_five_hundred_classes_of_one_label_are_as_sure_as_ten():
    sure = []
    for n_classes in (10, 500):
        graph = sp.csr_array(sp.block_diag([np.ones((6, 6))] * n_classes))
        y = np.full(6 * n_classes, None)
        y[::6] = [f"class {code}" for code in range(n_classes)]
        fitted = GPGCClassifier().fit(None, y, graph)
        sure.append(fitted.predict_proba()[1::6].max(axis=1).mean())
    assert min(sure) > 0.5
    assert abs(sure[0] - sure[1]) < 0.25
