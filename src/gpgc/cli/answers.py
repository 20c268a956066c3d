"""What `gpgc classify` answers: one label a node, or any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpgc.cli.job import Answer
from gpgc.cli.output import described
from gpgc.compute.progress import progress
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier, GPGCRegressor
from gpgc.estimators.multilabel import MultilabelClassifier
from gpgc.estimators.predictions import prediction_columns
from gpgc.problem.read import read_held_out
from gpgc.uncertainty.measures import expected_calibration_error

if TYPE_CHECKING:
    from gpgc.cli.classify import Classify
    from gpgc.problem.problem import Problem

MANY_NODES = 100_000
"""Nodes above which standard deviations, which take longest there, are computed when asked for."""


def one_label_each(told: Classify, problem: Problem) -> Answer:
    """Give each node a label."""
    estimator = told.fitted(problem)
    if told.calibrate is not None:
        estimator.calibrate(*_kept_out(told.calibrate, told, estimator, problem))
    with_std = told.std or len(problem.ids) <= MANY_NODES
    columns: dict[str, Any] = dict(prediction_columns(estimator, with_std=with_std))
    if told.probabilities == "all":
        columns |= class_columns(estimator.classes_, estimator.predict_proba())
    if told.sets is not None:
        nodes, y = None, None
        if told.held_out is not None:
            nodes, y = _kept_out(told.held_out, told, estimator, problem)
        sets = estimator.prediction_sets(told.sets, nodes=nodes, y=y)
        columns["set"] = [estimator.classes_[row].astype(str).tolist() for row in sets]
    if told.novelty:
        columns["novelty"] = estimator.novelty()
    if told.save is not None:
        estimator.save(told.save)
    drawn = told.drawn or ("unknown" if problem.labels_drawn is None else problem.labels_drawn)
    if told.report is not None:
        from gpgc.report import write_report

        with progress("report"):
            write_report(
                estimator, told.report, ids=problem.ids, title=told.title, labels_drawn=drawn
            )
    left_out = estimator.leave_one_out_proba()
    said = {
        **described(estimator),
        "isolated": int(np.sum(np.diff(estimator.adjacency_.indptr) == 0)),
        "accuracy": None,
        "log_loss": None,
        "loo_accuracy": _leave_one_out_accuracy(estimator),
        "expected_accuracy": estimator.expected_accuracy(drawn),
        "loo_calibration_error": expected_calibration_error(left_out, estimator.codes_),
        "report": told.report and str(told.report),
        "saved": told.save and str(told.save),
    }
    return Answer(columns | {"id": problem.ids}, said)


def labels_of_nodes(told: Classify, problem: Problem) -> Answer:
    """Give each node any number of labels."""
    from sklearn.metrics import f1_score

    model = MultilabelClassifier(GPGCRegressor(**told.settings()))
    found = model.fit(problem.X, problem.y, problem.adjacency).predict_labels()
    given = [one is not None for one in problem.y]
    columns = {"id": problem.ids, "labels": map(list, found), "given": given}
    if told.probabilities == "all":
        columns |= class_columns(model.classes_, model.predict_proba())
    truth = np.nan_to_num(model.estimator_.given_values()).round().astype(int)
    left_out = model.leave_one_out_proba() >= model.thresholds_
    limits = zip(model.classes_.tolist(), model.thresholds_.tolist(), strict=True)
    said = {
        "classes": len(model.classes_),
        "labels": sum(given),
        "labels_a_node": float(np.mean([len(one) for one in found])),
        "thresholds": {str(label): value for label, value in limits},
        "loo_f1": float(f1_score(truth, left_out, average="micro", zero_division=0)),
    }
    return Answer(columns, said)


def class_columns(classes: Iterable[Any], probabilities: Any) -> dict[str, Any]:
    """Return the probabilities (N, k) of all classes by name."""
    columns = probabilities.T
    return {f"probability of {name}": one for name, one in zip(classes, columns, strict=True)}


def _kept_out(
    path: Path, told: Classify, estimator: GPGCClassifier, problem: Problem
) -> tuple[Any, list[str]]:
    """Return nodes that were kept out, and their labels, which the estimator must know."""
    nodes, labels = read_held_out(path, problem.ids, told.unlabelled, told.columns)
    if unknown := [label for label in labels if label not in set(estimator.classes_.tolist())]:
        raise InputError(f"{path}: expected labels that --labels has too, got {unknown[0]!r:.60}")
    return nodes, labels


def _leave_one_out_accuracy(estimator: GPGCClassifier) -> float | None:
    """Return the accuracy of leaving each label out, None where every class has but one."""
    given = estimator.transduction_[estimator.labelled_nodes_]
    if len(np.unique(given)) == len(given):
        return None
    return float(np.mean(estimator.leave_one_out_predict() == given))
