"""The systems of the study, by name, and what code each one's numbers depend on."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gpgc
from gpgc.estimators import GPGCClassifier
from gpgc_lab import baselines, problem, scores
from gpgc_lab.baselines import (
    gradient_boosting,
    label_propagation,
    linear_graph_models,
    logistic_regression,
)
from gpgc_lab.code_digest import core_digest, digest, module_files
from gpgc_lab.comparison.children import run_children
from gpgc_lab.journal import Record
from gpgc_lab.problem import Problem, System
from gpgc_lab.scores import calibration_floor, score_classes
from gpgc_lab.studies.graphs import graph_sources, regimes
from gpgc_lab.studies.graphs.graph_sources import LabelledGraph
from gpgc_lab.studies.graphs.regimes import Division
from gpgc_lab.studies.graphs.view_weights import rounded
from gpgc_lab.task import Task

OURS, GCN = "gpgc", "GCN-64"
OURS_X = "gpgc, validation labels too"

PLAIN: dict[str, tuple[System, str]] = {
    "LR on X": (partial(logistic_regression.run, steps=0), "logistic_regression"),
    "LR on Â²X": (partial(logistic_regression.run, steps=2), "logistic_regression"),
    "label propagation": (label_propagation.run, "label_propagation"),
    "boosting on X, Â²X": (gradient_boosting.run, "gradient_boosting"),
    "five linear models": (linear_graph_models.run, "linear_graph_models"),
}
"""Systems of the laboratory that run in this process, and the module of each."""

RIVALS = ("LR on X", "LR on Â²X", "label propagation")
"""The best of these is what the default is held against."""

SYSTEMS = (OURS, OURS_X, *PLAIN, GCN)

GCN_SECONDS = 600.0
"""Seconds of the clock that a GCN may take."""


def code_of(system: str) -> str:
    """Return a digest of the code of a system: its own module, for ours all of gpgc."""
    folder = Path(baselines.__file__).parent
    modules = (graph_sources, regimes, problem, scores)
    shared = [Path(__file__), *(Path(str(module.__file__)) for module in modules)]
    if system in (OURS, OURS_X):
        return core_digest(*shared)
    module = PLAIN[system][1] if system in PLAIN else "graph_convolution"
    links = Path(gpgc.__file__).parent / "graph"
    return digest([*module_files(folder / f"{module}.py"), *links.glob("*.py"), *shared])


class GraphRuns:
    """Runs of systems on one graph; our covariance is built once and relabelled.

    ``relabel`` chooses views, noise and temperature anew, so that its answers are those of a fit.

    Parameters
    ----------
    graph : LabelledGraph
    """

    def __init__(self, graph: LabelledGraph) -> None:
        self._graph = graph
        self._estimator: GPGCClassifier | None = None

    def measure(self, system: str, division: Division) -> Record:
        """Return scores on the test nodes and processor seconds of one run."""
        given = [division.train, *[division.validation] * (system == OURS_X)]
        task = self._graph.problem(np.sort(np.concatenate(given)))
        if system == GCN:
            return self._train_network(task, division)
        if system in (OURS, OURS_X):
            probabilities, further = self._label(task)
        else:
            prediction = PLAIN[system][0](task, seed=division.seed)
            probabilities = prediction.probabilities
            further = {"seconds": prediction.train_seconds + prediction.predict_seconds}
        forecast = np.asarray(probabilities[division.test], dtype=np.float64)
        truth = self._graph.labels[division.test]
        learnt = np.unique(task.labels[task.train])
        if system in (OURS, OURS_X):
            further["calibration_floor"] = calibration_floor(forecast)
        return {**score_classes(forecast, truth, learnt), **further}

    def _label(self, task: Problem) -> tuple[Any, Record]:
        start = time.process_time()
        is_new = self._estimator is None
        if self._estimator is None:
            self._estimator = GPGCClassifier(n_jobs=1)
            self._estimator.fit(task.features, task.labels, adjacency=task.adjacency)
        else:
            self._estimator.relabel(task.labels)
        probabilities = np.zeros((len(task.labels), task.n_classes))
        probabilities[:, self._estimator.classes_] = self._estimator.predict_proba()
        seconds = time.process_time() - start
        views = rounded(self._estimator.view_weights_)
        return probabilities, {"seconds": seconds, "is_new": is_new, "views": views}

    def _train_network(self, task: Problem, division: Division) -> Record:
        """Train in a process of its own, which is ended when its time is over."""
        truth = self._graph.labels[division.test]
        with TemporaryDirectory() as name:
            path = Path(name) / "task.npz"
            Task(self._graph.name, task, division.test, truth).save(path)
            job = {"task": str(path), "system": GCN, "options": {}, "seed": division.seed}
            [(_, answer)] = run_children([job], Path(name), GCN_SECONDS, parallel=1)
        if answer["status"] != "done":
            return {"failed": answer.get("error", answer["status"])}
        seconds = answer["train_seconds"] + answer["predict_seconds"]
        wanted = ("accuracy", "log_loss", "calibration_error", "area_under_curve")
        return {**{name: answer[name] for name in wanted}, "seconds": seconds}
