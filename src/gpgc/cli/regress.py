"""`gpgc regress`: numbers in place of classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpgc.cli.command import REQUIRED, option
from gpgc.cli.job import Answer, Job, table

if TYPE_CHECKING:
    from gpgc.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Regress(Job):
    """Predict a number for each node of your own graph, with intervals.

    The column std is the standard deviation of the value without noise; low and high hold a new
    measurement with the probability --level, calibrated on the given values, each predicted from
    the others. Edges and features are those of classify.
    """

    labels: Path = option(REQUIRED, "Table with the columns id,value.", reads=())
    out: Path = table(REQUIRED, "id, value, std, low, high, given, a row a node")
    level: float = option(0.9, "How often the interval from low to high holds a new value.")
    save: Path | None = option(
        None, "File to write the fitted model to, for gpgc predict.", writes=True
    )
    label_column = "value"
    doing = "predicting"

    def answer(self, problem: Problem) -> Answer:
        """Predict values with intervals."""
        import numpy as np

        from gpgc.cli.joining import interval_columns
        from gpgc.cli.output import described
        from gpgc.estimators import GPGCRegressor
        from gpgc.files.cells import parse_number

        y = [
            np.nan if text is None else parse_number(text, f"{self.labels}, node {name}", "value")
            for name, text in zip(problem.ids, problem.y, strict=True)
        ]
        estimator = GPGCRegressor(**self.settings()).fit(**{**problem.arguments, "y": y})
        columns = interval_columns(estimator, self.level)
        if self.save is not None:
            estimator.save(self.save)
        residuals = estimator.leave_one_out()[0] - estimator.given_values()
        said = {
            **described(estimator),
            "labels": len(residuals),
            "loo_error": float(np.sqrt(np.mean(residuals**2))) if len(residuals) > 1 else None,
            "saved": None if self.save is None else str(self.save),
        }
        return Answer(columns | {"id": problem.ids}, said)
