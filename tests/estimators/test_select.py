"""Selection sees training and validation labels, and scores every setting as brute force would."""

import numpy as np
import pytest

import gpgc
from gpgc import GPGCClassifier
from gpgc.errors import InputError
from gpgc.gp import condition
from gpgc.kernels import Polynomial

SMALL = {"models": ["small", "big"], "base_kernels": ["inner_product", Polynomial(1.0)]}


@pytest.fixture
def problem(two_moons):
    features, labels, truth = two_moons
    y = labels.copy()
    validation = np.array([10, 11, 12, 50, 51, 52, 53])
    y[validation] = truth[validation]
    return features, y, validation, truth


@pytest.mark.filterwarnings("ignore:the best noise is the smallest")  # the clouds lie far apart
@pytest.mark.parametrize("criterion", ["validation", "validation_loss", "loo", "evidence"])
def test_the_best_of_the_table_is_chosen_and_fitted(problem, criterion):
    features, y, validation, truth = problem
    found = gpgc.select(
        features, y, validation=validation, criterion=criterion, **SMALL, feature_norms=["none"]
    )
    assert len(found.table) == 2 * 2 * 100
    best = {
        "validation": lambda row: -row.validation_accuracy,
        "validation_loss": lambda row: row.validation_cross_entropy,
        "loo": lambda row: row.loo_cross_entropy,
        "evidence": lambda row: -row.evidence,
    }[criterion]
    assert best(found.best) == min(map(best, found.table))
    assert found.estimator.noise_variance_ == found.best.noise_variance
    assert not np.isin(found.estimator.labelled_nodes_, validation).any()
    assert np.mean(found.estimator.predict() == truth) > 0.9


def test_ties_are_broken_by_leave_one_out(problem):
    features, y, validation, _ = problem
    found = gpgc.select(features, y, validation=validation, **SMALL)
    equals = [
        row for row in found.table if row.validation_accuracy == found.best.validation_accuracy
    ]
    assert len(equals) > 1
    assert found.best.loo_cross_entropy == min(row.loo_cross_entropy for row in equals)


def test_scores_by_brute_force(problem):
    features, y, validation, truth = problem
    found = gpgc.select(
        features, y, validation=validation, models=["big"], base_kernels=["inner_product"],
        feature_norms=["l2"], dtype="float64",
    )  # fmt: skip
    row = found.table[40]
    train = np.setdiff1d(np.flatnonzero(y >= 0), validation)
    estimator = GPGCClassifier("big", feature_norm="l2", dtype="float64")
    estimator.fit(features, np.where(np.isin(np.arange(80), train), y, -1))
    targets = np.eye(2)[y[train]]
    posterior = condition(estimator.covariance_, train, targets, np.array([row.noise_variance]))
    mean = posterior.mean(validation)
    assert row.validation_accuracy == np.mean(mean.argmax(axis=1) == truth[validation])
    assert row.evidence == pytest.approx(posterior.log_marginal_likelihood(), rel=1e-8)
    loo, _ = posterior.leave_one_out()
    assert row.loo_accuracy == np.mean(loo.argmax(axis=1) == y[train])


def test_labels_of_other_nodes_do_not_matter(problem):
    """There is no way in for test labels: what is not in y cannot change the choice."""
    features, y, validation, _ = problem
    first = gpgc.select(features, y, validation=validation, **SMALL)
    assert (y == -1).sum() == 80 - 6 - 7
    again = gpgc.select(features, y.copy(), validation=validation[::-1], **SMALL)
    assert first.best == again.best


def test_string_labels_progress_and_no_validation(problem):
    features, y, _, truth = problem
    names = np.array(["a", "b"], dtype=object)
    steps = []
    found = gpgc.select(
        features,
        [names[label] if label >= 0 else None for label in y],
        progress=lambda done, total: steps.append((done, total)),
        models=["broad"],
        base_kernels=["inner_product", "arc_cosine"],
    )
    assert steps == [(1, 2), (2, 2)]
    assert found.best.validation_accuracy is None
    assert np.mean(found.estimator.predict() == names[truth]) > 0.9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"criterion": "luck"}, "criterion must be one of"),
        ({"criterion": "validation"}, "validation must name at least one"),
        ({"validation": [79]}, "unlabelled"),
        ({"validation": [200]}, "0 to 79"),
        ({"validation": [0.5]}, "1-D array of nodes"),
        ({"validation": [40, 41, 42, 50, 51, 52, 53]}, "every class"),
    ],
)
def test_wrong_arguments_are_named(problem, arguments, words):
    features, y, _, _ = problem
    with pytest.raises(InputError, match=words):
        gpgc.select(features, y, **arguments)


@pytest.mark.filterwarnings("ignore:the best noise is the smallest")
@pytest.mark.parametrize("norms", [["none"], ["none", "l2"], ["l1", "none", "l2"]])
def test_new_rows_join_whichever_setting_was_chosen(problem, norms):
    """Graphs of nearest neighbours stay such for every group of settings."""
    features, y, validation, _ = problem
    for models in (["big"], ["small", "big", "broad"], ["broad", "small"]):
        found = gpgc.select(
            features,
            y,
            validation=validation,
            models=models,
            base_kernels=["inner_product"],
            feature_norms=norms,
            relative_noise=np.logspace(-3, 0, 4),
        )
        assert found.estimator.prior_.nodes.from_features
        assert found.estimator.predict(features[:3]).shape == (3,)
