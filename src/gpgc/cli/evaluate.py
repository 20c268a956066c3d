"""`gpgc evaluate`: how good the labels are on one's own graph, by hiding some that are known."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpgc.cli.command import option
from gpgc.cli.job import Answer, Job, table
from gpgc.cli.options import ClassOptions

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Evaluate(Job, ClassOptions):
    """Say how good the labels are on your own graph, by hiding some that are known.

    The labels are cut into parts; each part is hidden once and predicted from the others, while
    its nodes stay in the graph. What comes out holds for nodes drawn like the labelled ones.
    """

    out: Path | None = table(None, "id, label, predicted, probability, a row a label")
    splits: int = option(5, "In how many parts the labels are cut, each hidden once.", min=2)
    seed: int = option(0, "Seed of the cut.", min=0)
    doing = "hiding labels in turn"

    def answer(self, problem: Problem) -> Answer:
        """Hide labels in turn."""
        import numpy as np

        import gpgc

        settings = {"n_splits": self.splits, "random_state": self.seed, **self.settings()}
        found = gpgc.evaluate(**problem.arguments, **settings)
        best = found.classes.searchsorted(found.predicted)
        columns = {
            "id": [problem.ids[node] for node in found.nodes],
            "label": problem.y[found.nodes],
            "predicted": found.predicted,
            "probability": found.probabilities[np.arange(len(best)), best],
        }
        wrong = found.confusion * (1 - np.eye(len(found.classes), dtype=int))
        most = sorted(zip(*wrong.nonzero(), strict=True), key=lambda pair: -wrong[pair])[:10]
        names = found.classes
        lowest, highest = min(found.accuracies), max(found.accuracies)
        said = {
            "classes": len(found.classes),
            "labels": len(found.nodes),
            "accuracy": found.accuracy,
            "accuracy_of_splits": f"{lowest:.4g} to {highest:.4g}, {self.splits} splits",
            "log_loss": found.log_loss,
            "calibration_error": found.calibration_error,
            "confused": [f"{names[t]} taken for {names[p]}: {wrong[t, p]}" for t, p in most],
        }
        return Answer(columns, said)
