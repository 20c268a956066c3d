"""The tables of ``gpgc benchmark core``: each version, the difference, the best rival."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpgc_lab.studies.core.core_runs import Cell
from gpgc_lab.studies.graphs.paired import standard_error
from gpgc_lab.tables import Table

IN_POINTS = ("accuracy", "area_under_curve", "r2", "coverage")
"""Measures that are shown in per cent."""

SHORT = {"accuracy": "", "area_under_curve": ", AUC", "r2": ", R²"}


@dataclass(frozen=True)
class Gap:
    """A mean difference over the draws that both were run on, with its standard error.

    Examples
    --------
    >>> print(Gap.between({"a": 1.0, "b": 3.0}, {"a": 0.0, "b": 1.0}, digits=1))
    +1.5 ± 0.5
    """

    mean: float
    error: float
    digits: int

    @classmethod
    def between(
        cls, ours: dict[str, float], theirs: dict[str, float], digits: int, factor: float = 1.0
    ) -> Gap | None:
        """Return the first minus the second, None where they share no draw."""
        gaps = [factor * (ours[name] - theirs[name]) for name in ours if name in theirs]
        return cls(float(np.mean(gaps)), standard_error(gaps), digits) if gaps else None

    def __str__(self) -> str:
        spread = "" if np.isnan(self.error) else f" ± {self.error:.{self.digits}f}"
        return f"{self.mean:+.{self.digits}f}{spread}"


def mean_of(cell: Cell, system: str, measure: str) -> float | None:
    """Return the mean of a measure over the draws, None where there is none."""
    values = list(cell.values(system, measure).values())
    return float(np.mean(values)) if values else None


def best_rival(cell: Cell, measure: str, lower: bool = False) -> str | None:
    """Return the rival with the best mean, chosen after the fact."""
    means = {name: mean_of(cell, name, measure) for name in cell.core_set.rivals}
    known = {name: mean for name, mean in means.items() if mean is not None}
    if not known:
        return None
    return (min if lower else max)(known, key=lambda name: known[name])


def class_table(
    name: str, title: str, cells: Sequence[Cell], systems: Sequence[str], notes: Sequence[str]
) -> Table:
    """Return accuracy (or area), log loss and seconds of each version, beside the best rival."""
    ours = systems[0]
    each = ["{}", "log loss, {}", "seconds, {}"]
    table = Table(
        name,
        title,
        [
            "set",
            "labels",
            "draws",
            *(form.format(system) for system in systems for form in each),
            *(["difference", "difference of log loss"] if len(systems) > 1 else []),
            "best rival",
            "ours − rival",
            "best rival by log loss",
            "log loss − rival's",
            "log loss − class fractions'",
        ],
        notes=[
            "Per cent of the judged nodes; means over the draws. Differences are paired over the "
            "same draws, ± their standard error: the first version minus the second, and minus the "
            "rival with the best mean, chosen after the fact. Seconds: processor time of one core, "
            "median of the draws, fit and probabilities. Class fractions: the log loss of saying "
            "the labels' fractions everywhere.",
            *notes,
        ],
    )
    for cell in cells:
        measure = cell.core_set.measure
        row = [cell.core_set.name + SHORT[measure], cell.budget, len(cell.values(ours, measure))]
        for system in systems:
            row += [
                shown(mean_of(cell, system, measure), 1, 100),
                shown(mean_of(cell, system, "log_loss"), 3),
                shown(_median(cell, system), 2),
            ]
        mine, loss = cell.values(ours, measure), cell.values(ours, "log_loss")
        for other in systems[1:2]:
            row += [_text(Gap.between(mine, cell.values(other, measure), 1, 100))]
            row += [_text(Gap.between(loss, cell.values(other, "log_loss"), 3))]
        rival, calm = best_rival(cell, measure), best_rival(cell, "log_loss", lower=True)
        row += [rival, _text(rival and Gap.between(mine, cell.values(rival, measure), 1, 100))]
        row += [calm, _text(calm and Gap.between(loss, cell.values(calm, "log_loss"), 3))]
        row += [_text(Gap.between(loss, cell.values(ours, "fractions_log_loss"), 3))]
        table.rows.append(row)
    return table


def value_table(
    name: str, title: str, cells: Sequence[Cell], systems: Sequence[str], notes: Sequence[str]
) -> Table:
    """Return R², log density, coverage and seconds of each version, beside the best rival."""
    ours = systems[0]
    each = ["R², {}", "log density, {}", "coverage, {}", "seconds, {}"]
    table = Table(
        name,
        title,
        [
            "set",
            "given",
            "draws",
            *(form.format(system) for system in systems for form in each),
            *(["difference of R²", "difference of log density"] if len(systems) > 1 else []),
            "best rival",
            "R² − rival's",
        ],
        notes=[
            "R² and coverage of 90 % intervals in per cent; log density of values in units of "
            "their standard deviation; means over the draws, differences paired ± standard error. "
            "Seconds: processor time of one core, median of the draws.",
            *notes,
        ],
    )
    for cell in cells:
        row: list[object] = [cell.core_set.name, cell.budget, len(cell.values(ours, "r2"))]
        for system in systems:
            row += [
                shown(mean_of(cell, system, "r2"), 1, 100),
                shown(mean_of(cell, system, "log_density"), 2),
                shown(mean_of(cell, system, "coverage"), 1, 100),
                shown(_median(cell, system), 2),
            ]
        mine = cell.values(ours, "r2")
        for other in systems[1:2]:
            row += [_text(Gap.between(mine, cell.values(other, "r2"), 1, 100))]
            dense = cell.values(ours, "log_density"), cell.values(other, "log_density")
            row += [_text(Gap.between(*dense, 2))]
        rival = best_rival(cell, "r2")
        row += [rival, _text(rival and Gap.between(mine, cell.values(rival, "r2"), 1, 100))]
        table.rows.append(row)
    return table


def shown(value: float | None, digits: int, factor: float = 1.0) -> str | None:
    """Return a number with so many digits, None where there is none."""
    return None if value is None else f"{factor * value:.{digits}f}"


def _median(cell: Cell, system: str) -> float | None:
    values = list(cell.values(system, "seconds").values())
    return float(np.median(values)) if values else None


def _text(gap: object) -> str | None:
    return None if gap is None else str(gap)
