"""Systems side by side on one task: a row a system, the published accuracy beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpgc_lab import published
from gpgc_lab.comparison.runs import (
    Job,
    RunOptions,
    made_before,
    run_file,
    run_systems,
)
from gpgc_lab.comparison.systems import LEARN_FROM_VALIDATION, NAMES, OURS, check_name
from gpgc_lab.journal import Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.report.significance import difference
from gpgc_lab.tables import Table
from gpgc_lab.task import Task

COLUMNS = (
    "system",
    "accuracy",
    "deviation",
    "published",
    "difference",
    "log loss",
    "ECE",
    "training, s",
    "prediction, s",
    "memory, MB",
    "seeds",
    "remark",
)
MEASURES = (
    "log_loss",
    "calibration_error",
    "train_seconds",
    "predict_seconds",
    "peak_memory_mb",
)


@dataclass(frozen=True)
class Summary:
    """What the runs of one system come to.

    Attributes
    ----------
    system : str
        Its name.
    done : list of dict
        The runs that ended well.
    remark : str
        What became of the others, and which runs older code made.
    published : float or None
        The paper's accuracy in per cent.
    """

    system: str
    done: list[Record]
    remark: str
    published: float | None

    def values(self, measure: str) -> list[float]:
        """Return a measure of every run that has it."""
        return [run[measure] for run in self.done if run[measure] is not None]

    def mean(self, measure: str) -> float | None:
        """Return the mean of a measure, where a run has it."""
        values = self.values(measure)
        return float(np.mean(values)) if values else None

    def accuracies(self) -> list[float]:
        """Return the accuracy of every run in per cent."""
        return [100 * value for value in self.values("accuracy")]

    def deviation(self) -> float | None:
        """Return the standard deviation of the accuracy over seeds, from two on."""
        values = self.accuracies()
        return round(float(np.std(values, ddof=1)), 2) if len(values) > 1 else None


def wanted_systems(methods: str, task: Task) -> list[str]:
    """Return the systems that a comma-separated list names, each once.

    "all" leaves those out that differ only by learning from validation labels where there are
    none.

    Parameters
    ----------
    methods : str
        "all", or names with commas between them.
    task : Task
        What they are compared on.
    """
    if methods == "all":
        some = len(task.problem.validation) > 0
        return [name for name in NAMES if some or name not in LEARN_FROM_VALIDATION]
    names = list(dict.fromkeys(name.strip() for name in methods.split(",")))
    for name in names:
        check_name(name)
    return names


def compare(
    task: Task,
    systems: Sequence[str],
    n_seeds: int,
    folder: StudyFolder,
    options: RunOptions,
    progress: Callable[[str], None],
) -> list[Record]:
    """Run every system with every seed, ours with one, and return the runs."""
    jobs = [
        Job(system, seed) for system in systems for seed in range(1 if system in OURS else n_seeds)
    ]
    return run_systems(task, jobs, run_file(folder, task.name), options, progress)


def summarise(name: str, runs: Sequence[Record]) -> list[Summary]:
    """Return what the runs on a data set come to, in the order of the paper's table."""
    by_system: dict[str, list[Record]] = {}
    for run in runs:
        by_system.setdefault(run["system"], []).append(run)
    order = {system: place for place, system in enumerate(NAMES)}
    return [
        Summary(
            system,
            [run for run in members if run["status"] == "done"],
            _remark(members),
            published.accuracy(name, system),
        )
        for system, members in sorted(
            by_system.items(), key=lambda item: order.get(item[0], len(order))
        )
    ]


def compare_table(name: str, summaries: Sequence[Summary], notes: Sequence[str] = ()) -> Table:
    """Return a row a system with all that was measured."""
    table = Table(
        f"compare_{name}",
        f"Systems on {name}: test accuracy in per cent, mean and standard deviation over seeds",
        COLUMNS,
        notes=[
            "Each run had one core and a process of its own, whose peak memory is given, libraries "
            "included; seconds are processor time. ECE is the expected calibration error, in per "
            "cent. ▲ and ▼: further from the published accuracy than two standard errors over "
            "seeds, or than one point where there is no spread. GPGC systems draw nothing "
            "at random; the training seconds of GPGC-small, GPGC-big and GPGC-X include the choice "
            "of their settings.",
            *notes,
        ],
    )
    for summary in summaries:
        values = summary.accuracies()
        table.rows.append(
            [
                summary.system,
                float(np.mean(values)) if values else None,
                summary.deviation(),
                summary.published,
                difference(values, summary.published),
                *_means(summary),
                len(values),
                summary.remark or None,
            ]
        )
    return table


def screen_table(name: str, summaries: Sequence[Summary], notes: Sequence[str] = ()) -> Table:
    """Return the same for a screen of 80 columns, with remarks under the table."""
    table = Table(
        f"compare_{name}",
        f"Systems on {name}",
        ["system", "accuracy", "paper", "log loss", "ECE", "fit, s", "predict, s", "MB"],
        notes=[
            *notes,
            *(f"{summary.system}: {summary.remark}" for summary in summaries if summary.remark),
        ],
    )
    for summary in summaries:
        cells = [_brief(mean) for mean in _means(summary)]
        table.rows.append([summary.system, _spread(summary) or "none", summary.published, *cells])
    return table


def _means(summary: Summary) -> list[Any]:
    loss, error, train, predict, memory = map(summary.mean, MEASURES)
    if loss is None or error is None or train is None or predict is None:
        return [None] * len(MEASURES)
    size = None if memory is None else round(memory)
    return [loss, 100 * error, round(train, 4), round(predict, 4), size]


def _brief(value: Any) -> Any:
    if value is None or value >= 10:
        return value
    return f"{value:.3g}" if value >= 0.001 else "<0.001"


def _spread(summary: Summary) -> str | None:
    values, deviation = summary.accuracies(), summary.deviation()
    if not values:
        return None
    return f"{np.mean(values):.1f}" + ("" if deviation is None else f" ± {deviation:.1f}")


def _remark(runs: Sequence[Record]) -> str:
    reasons: dict[str, int] = {}
    for run in runs:
        if run["status"] == "failed":
            reason = f"failed: {run['error']}"
        elif run["status"] == "out of time":
            reason = f"over {run['time_limit']:,.0f} s"
        else:
            reason = made_before(run)
        if not reason:
            continue
        reasons[reason] = reasons.get(reason, 0) + 1
    return "; ".join(
        reason if count == len(runs) else f"{count} of {len(runs)} {reason}"
        for reason, count in reasons.items()
    )
