"""Every public answer of a fitted classifier is the same answer.

Whichever model, decision, class prior and calibration: the label of a node is one, whether it is
asked for by ``predict``, read off scores or an explanation, written to a file, or counted in an
evaluation.
"""

import csv

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from gpgc import GPGCClassifier, evaluate, load
from gpgc.cli.classify import Classify
from gpgc.estimators.predictions import prediction_columns
from gpgc.report.page import report_page
from tests.pairwise import pairwise

ALONE = 60
"""The node that neither links nor features connect with any label."""

SETTINGS = pairwise(
    ("broad", "big"),
    ("probable", "balanced"),
    ("estimated", "labels", "given"),
    (False, True),
    (2, 3),
)


def graph_of(n_classes):
    """Return links, classes and labels of a graph of unequal classes that mix; one node is alone.

    Every third of the first 45 nodes is labelled, each class at least twice.
    """
    rng = np.random.default_rng(n_classes)
    truth = np.concatenate([np.arange(9) % n_classes, rng.choice(n_classes, 51, p=P[n_classes])])
    same = truth[:, None] == truth
    links = np.argwhere(np.triu(rng.random((60, 60)) < np.where(same, 0.12, 0.06), 1))
    names = np.array(["c", "a", "b"])[np.append(truth, 0)]
    y = np.where((np.arange(61) % 3 == 0) & (np.arange(61) < 45), names, None)
    y[:9] = names[:9]
    y[ALONE] = None
    return links, names, y


P = {2: [0.8, 0.2], 3: [0.7, 0.2, 0.1]}


def parameters_of(model, decision, prior, n_classes):
    """Return parameters; a given class prior is far from the fractions of the labels."""
    given = [0.15, 0.85] if n_classes == 2 else [0.2, 0.6, 0.2]
    return {
        "model": model,
        "decision": decision,
        "class_prior": given if prior == "given" else prior,
        "dtype": "float64",
    }


def adjacency_of(links):
    graph = np.zeros((61, 61))
    graph[links[:, 0], links[:, 1]] = 1
    return graph + graph.T


def codes_by(scores, classes):
    """Return labels by a decision function of scikit-learn's shapes."""
    return classes[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]


@pytest.mark.parametrize(("model", "decision", "prior", "is_calibrated", "n_classes"), SETTINGS)
def test_all_answers_agree(model, decision, prior, is_calibrated, n_classes, tmp_path):
    links, names, y = graph_of(n_classes)
    parameters = parameters_of(model, decision, prior, n_classes)
    fitted = GPGCClassifier(**parameters).fit(None, y, adjacency_of(links))
    held_out = np.arange(46, 58)
    if is_calibrated:
        fitted.calibrate(held_out, names[held_out])
    label, classes = fitted.predict(), fitted.classes_
    table, given = fitted.predict_proba(), fitted.labelled_nodes_
    ratio = table / (fitted.class_prior_ if decision == "balanced" else 1.0)
    ratio[ALONE] = fitted.class_prior_  # all labels say of it
    assert (classes[ratio.argmax(axis=1)] == label).all()
    np.testing.assert_array_equal(table[ALONE], fitted.class_prior_)
    assert (codes_by(fitted.decision_function(), classes) == label).all()
    np.testing.assert_array_equal(fitted.predict_log_proba(), np.log(table))
    kept = label.copy()
    kept[given] = y[given]
    assert (fitted.transduction_ == kept).all()
    for node in [*range(0, 61, 4), ALONE]:
        found = fitted.explain(node)
        assert found.predicted == label[node] == classes[found.total.argmax()]
        assert found.predicted == classes[found.deciding()[0]]
    columns = prediction_columns(fitted, with_std=False)
    assert (columns["label"] == kept).all()
    codes = np.searchsorted(classes, kept)
    np.testing.assert_array_equal(columns["probability"], table[np.arange(61), codes])
    left_out = fitted.leave_one_out_predict()
    assert fitted.expected_accuracy("random").right == np.sum(left_out == y[given])
    checked = fitted.check_labels()
    others = dict(zip(given.tolist(), left_out, strict=True))
    several = [node for node in given if (y[given] == y[node]).sum() > 1]
    told = dict(zip(checked.nodes.tolist(), checked.likely, strict=True))
    assert all(told[node] == others[node] for node in several)
    fitted.save(tmp_path / "model.gpgc")
    assert (load(tmp_path / "model.gpgc").predict() == label).all()
    assert (written(links, names, y, parameters, held_out, is_calibrated, tmp_path) == kept).all()


def written(links, names, y, parameters, held_out, is_calibrated, folder):
    """Return the labels that ``gpgc classify`` writes."""
    files = {name: folder / f"{name}.csv" for name in ("edges", "labels", "nodes", "kept", "out")}
    for name, header, rows in (
        ("edges", ("source", "target"), links.tolist()),
        ("labels", ("id", "label"), [(n, label) for n, label in enumerate(y) if label is not None]),
        ("nodes", ("id",), [(node,) for node in range(61)]),
        ("kept", ("id", "label"), [(node, names[node]) for node in held_out]),
    ):
        with files[name].open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    class ClassifyLikeThis(Classify):
        def settings(self):
            return parameters

    own = {name: files[name] for name in ("edges", "labels", "nodes", "out")}
    kept = files["kept"] if is_calibrated else None
    ClassifyLikeThis(**own, calibrate=kept, report=folder / "page.html", quiet=True).run()
    with files["out"].open(newline="") as file:
        rows = {int(row["id"]): row["label"] for row in csv.DictReader(file)}
    return np.array([rows[node] for node in range(61)], dtype=object)


@pytest.mark.parametrize("decision", ["probable", "balanced"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_evaluation_counts_what_would_be_predicted(decision, n_classes):
    links, _, y = graph_of(n_classes)
    parameters = parameters_of("broad", decision, "given", n_classes)
    found = evaluate(None, y, adjacency_of(links), n_splits=2, **parameters)
    known = np.flatnonzero(y != None)  # noqa: E711
    expected, folds = y[known].copy(), StratifiedKFold(2, shuffle=True, random_state=0)
    for _, hidden in folds.split(known, np.unique(y[known], return_inverse=True)[1]):
        seen = y.copy()
        seen[known[hidden]] = None
        model = GPGCClassifier(**parameters).fit(None, seen, adjacency_of(links))
        expected[hidden] = model.predict()[known[hidden]]
    assert (found.predicted == expected).all()
    assert found.accuracy == pytest.approx(np.mean(expected == y[known]))
    assert found.confusion.trace() == np.sum(expected == y[known])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_decisions_differ_where_the_class_prior_is_uneven(n_classes):
    links, _, y = graph_of(n_classes)
    probable, balanced = (
        GPGCClassifier(**parameters_of("broad", decision, "given", n_classes)).fit(
            None, y, adjacency_of(links)
        )
        for decision in ("probable", "balanced")
    )
    assert (probable.predict() != balanced.predict()).sum() > 3
    np.testing.assert_array_equal(probable.predict_proba(), balanced.predict_proba())


def test_a_decision_that_is_set_later_holds_for_all_answers_at_once():
    links, _, y = graph_of(3)
    parameters = parameters_of("broad", "probable", "given", 3)
    fitted = GPGCClassifier(**parameters).fit(None, y, adjacency_of(links))
    fitted.set_params(decision="balanced")
    again = GPGCClassifier(**parameters | {"decision": "balanced"})
    again.fit(None, y, adjacency_of(links))
    assert (fitted.predict() == again.predict()).all()
    assert (fitted.transduction_ == again.transduction_).all()
    np.testing.assert_array_equal(fitted.decision_function(), again.decision_function())


def test_the_estimate_in_a_notebook_is_of_the_labels_that_are_given():
    links, _, y = graph_of(3)
    fitted = GPGCClassifier(**parameters_of("broad", "balanced", "given", 3))
    fitted.fit(None, y, adjacency_of(links))
    columns = prediction_columns(fitted, with_std=False)
    expected = columns["probability"][~columns["given"]].mean()
    assert fitted.facts()["estimate"].startswith(f"{expected:.0%} ")
    assert f"<dt>mean probability</dt><dd>{expected:.0%}</dd>" in report_page(fitted)
