"""Selection sees training and validation labels, and scores every setting as brute force would."""

import numpy as np
import pytest

from gpgc import GPGCClassifier
from gpgc.errors import GPGCWarning, InputError
from gpgc.gp import condition
from gpgc.kernels import Polynomial
from gpgc.models import GCN, GIN, SGC, Broad
from gpgc_lab.select import select

SMALL = {"models": ["small", "big"], "base_kernels": ["inner_product", Polynomial(1.0)]}


@pytest.fixture(scope="module")
def two_moons():
    """Two well-separated clouds with a few labels: features, labels with -1, truth."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 40)
    features = rng.normal(size=(80, 3)) + np.array([[4.0, 0, 0], [0, 4.0, 0]])[truth]
    labels = np.full(80, -1)
    labels[[0, 1, 2, 40, 41, 42]] = truth[[0, 1, 2, 40, 41, 42]]
    return features, labels, truth


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
    found = select(
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
    found = select(features, y, validation=validation, **SMALL)
    equals = [
        row for row in found.table if row.validation_accuracy == found.best.validation_accuracy
    ]
    assert len(equals) > 1
    assert found.best.loo_cross_entropy == min(row.loo_cross_entropy for row in equals)


def test_scores_by_brute_force(problem):
    features, y, validation, truth = problem
    found = select(
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
    first = select(features, y, validation=validation, **SMALL)
    assert (y == -1).sum() == 80 - 6 - 7
    again = select(features, y.copy(), validation=validation[::-1], **SMALL)
    assert first.best == again.best


def test_string_labels_progress_and_no_validation(problem):
    features, y, _, truth = problem
    names = np.array(["a", "b"], dtype=object)
    steps = []
    found = select(
        features,
        [names[label] if label >= 0 else None for label in y],
        progress=lambda done, total: steps.append((done, total)),
        models=["big"],
        base_kernels=["inner_product", "arc_cosine"],
        feature_norms=["none"],
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
        ({"models": ["big", "broad"]}, "models must be networks of one covariance, got 'broad'"),
        ({"models": [Broad(depth=3)]}, "models must be networks of one covariance"),
    ],
)
def test_wrong_arguments_are_named(problem, arguments, words):
    features, y, _, _ = problem
    with pytest.raises(InputError, match=words):
        select(features, y, **arguments)


@pytest.mark.filterwarnings("ignore:the best noise is the smallest")
@pytest.mark.parametrize("norms", [["none"], ["none", "l2"], ["l1", "none", "l2"]])
def test_new_rows_join_whichever_setting_was_chosen(problem, norms):
    """Graphs of nearest neighbours stay such for every group of settings."""
    features, y, validation, _ = problem
    for models in (["big"], ["small", "big", "sgc"], ["sgc", "small"]):
        found = select(
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


def test_architectures_of_one_kind_are_kept_apart(two_moons):
    features, labels, _ = two_moons
    models = [SGC(depth=1), SGC(depth=3), GIN(epsilon=0.0), GIN(epsilon=2.0)]
    found = select(features, labels, models=models, feature_norms=["none"])
    scores = {
        repr(row.model): row.evidence
        for row in found.table
        if row.base_kernel == found.best.base_kernel
    }
    assert len(set(scores.values())) == 4


def test_an_architecture_is_tried_with_its_own_base_kernel(two_moons):
    features, labels, _ = two_moons
    models = [GCN(base_kernel="arc_cosine"), "big"]
    found = select(features, labels, models=models, feature_norms=["none"])
    tried = {(str(row.model), type(row.base_kernel).__name__) for row in found.table}
    assert len(tried) == 1 + 4


@pytest.mark.parametrize("model", ["appnp", "gcnii", "sage", "gin", "sgc"])
@pytest.mark.parametrize("kernel", ["nngp", "ntk"])
def test_networks_go_by_name(two_moons, model, kernel):
    features, labels, truth = two_moons
    found = select(features, labels, models=[model], feature_norms=["none"], kernel=kernel)
    assert np.mean(found.estimator.predict() == truth) > 0.9


def test_a_best_noise_at_the_end_of_what_was_tried_is_said():
    """Links join unlike nodes at random, so that the evidence wants more noise than there is."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 60)
    features = rng.normal(size=(180, 6)) + 2.5 * np.eye(6)[truth]
    links = np.triu(rng.random((180, 180)) < np.where(truth[:, None] == truth, 0.01, 0.06), 1)
    y = np.full(180, -1)
    labelled = rng.choice(180, 45, replace=False)
    y[labelled] = truth[labelled]
    with pytest.warns(GPGCWarning, match="largest that was tried"):
        select(
            features, y, np.nonzero(links), models=["big"], criterion="evidence",
            feature_norms=["none"], base_kernels=["inner_product"],
            relative_noise=np.array([1e-6, 1e-5, 1e-4]),
        )  # fmt: skip


def test_frames_are_aligned_by_name():
    pd = pytest.importorskip("pandas")
    names = [f"n{i}" for i in range(12)]
    graph = pd.DataFrame({"source": names[:-1], "target": names[1:]})
    labels = pd.Series({"n0": "left", "n2": "left", "n9": "right", "n11": "right"})
    order = [*names[6:], *names[:6]]
    found = [
        select(None, labels.reindex(each), graph, feature_norms=["none"]) for each in (names, order)
    ]
    assert found[0].best.noise_variance == pytest.approx(found[1].best.noise_variance)
    by_name = [
        dict(zip(each.estimator.node_names_, each.estimator.predict(), strict=True))
        for each in found
    ]
    assert by_name[0] == by_name[1]
