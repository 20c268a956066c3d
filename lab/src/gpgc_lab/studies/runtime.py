"""The paper's table of seconds on one core, and how many times longer than GPGC others take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from gpgc_lab import published
from gpgc_lab.comparison.make_task import known_task
from gpgc_lab.comparison.runs import (
    Job,
    RunOptions,
    age_notes,
    latest,
    run_file,
    run_systems,
)
from gpgc_lab.comparison.systems import settings_of
from gpgc_lab.journal import Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.tables import Table

LIMIT_SECONDS = 1200.0
PROBE_EPOCHS = 5
"""Epochs of the run that tells the seconds of one, where a whole run takes too long."""

OURS = "GPGC-big"
SYSTEMS = ("GCN", "GGP", "GAT", OURS)
GIVEN_SETTINGS = {"count_choice": False}
"""The systems are timed with settings that were chosen before, as in the paper."""


def runtime_study(
    data_dir: Path | None,
    n_seeds: int,
    folder: StudyFolder,
    options: RunOptions,
    progress: Callable[[str], None],
) -> list[Table]:
    """Run what the files of runs do not hold yet, and return the tables of seconds and ratios."""
    limited = replace(options, time_limit=min(options.time_limit, LIMIT_SECONDS))
    for name in published.CITATION:
        task = known_task(name, "pca", data_dir, 0)
        jobs = [
            Job(system, seed, GIVEN_SETTINGS if system == OURS else {})
            for system in SYSTEMS
            for seed in range(n_seeds)
        ]
        runs = run_systems(task, jobs, run_file(folder, name), limited, progress)
        slow = {run["system"] for run in runs if run["status"] == "out of time"}
        probes = [Job(system, 0, {"epochs": PROBE_EPOCHS}) for system in sorted(slow)]
        run_systems(task, probes, run_file(folder, name), limited, progress)
    return runtime_tables({name: timed_runs(folder, name) for name in published.CITATION})


def timed_runs(folder: StudyFolder, name: str) -> list[Record]:
    """Return the runs in a file that the table of seconds is made of."""
    return latest(run for run in run_file(folder, name).records if _role(run) is not None)


def runtime_tables(runs: Mapping[str, Sequence[Record]]) -> list[Table]:
    """Return the seconds of each system, and their ratio to GPGC-big.

    Parameters
    ----------
    runs : mapping
        Runs of each data set; the median over them is shown.
    """
    seconds = Table(
        "runtime",
        "Seconds on one core: ours (paper's)",
        ["data set", "phase", *SYSTEMS],
        notes=[
            "Processor time, medians over runs. Settings are given, as in the paper. GPGC-big has "
            "the mean of all nodes when training ends; testing turns it into probabilities. Where "
            f"a run took longer than {LIMIT_SECONDS:,.0f} s by the clock, the seconds of an epoch "
            f"are those of a run of {PROBE_EPOCHS}.",
            *age_notes(run for members in runs.values() for run in members),
        ],
    )
    ratios = Table(
        "runtime_ratio",
        "Times longer than GPGC-big: ours (paper's)",
        ["data set", "phase", *SYSTEMS[:-1]],
    )
    for name, members in runs.items():
        cells = {system: _Seconds.of(system, members) for system in SYSTEMS}
        paper = published.SECONDS[name]
        for place, phase in enumerate(("training", "testing")):
            row = [f"{cells[system].show(place)} ({paper[system][place]:g})" for system in SYSTEMS]
            seconds.rows.append([name, phase, *row])
        ratios.rows.append([name, "training", *_ratios(cells, paper, 1)])
        ratios.rows.append([name, "training and testing", *_ratios(cells, paper, 2)])
    return [seconds, ratios]


class _Seconds:
    """Median seconds of training and testing; where time ran out, a bound and those of an epoch."""

    def __init__(self, parts: tuple[float, ...], over: float | None, epoch: float | None) -> None:
        self.parts, self.over, self.epoch = parts, over, epoch

    @classmethod
    def of(cls, system: str, runs: Sequence[Record]) -> _Seconds:
        mine = [run for run in runs if run["system"] == system]
        whole = [run for run in mine if _role(run) == "whole"]
        done = [run for run in whole if run["status"] == "done"]
        if done:
            train = median(run["train_seconds"] for run in done)
            return cls((train, median(run["predict_seconds"] for run in done)), None, None)
        limits = [run["time_limit"] for run in whole if run["status"] == "out of time"]
        probes = [run for run in mine if _role(run) == "probe" and run["status"] == "done"]
        epochs = [run["train_seconds"] / (run["epochs"] or PROBE_EPOCHS) for run in probes]
        return cls((), max(limits, default=None), median(epochs) if epochs else None)

    def show(self, place: int) -> str:
        if self.parts:
            return _short(self.parts[place])
        if self.over is None or place:
            return "–"
        epoch = "" if self.epoch is None else f", {_short(self.epoch)} an epoch"
        return f"> {self.over:,.0f}{epoch}"

    def ratio_to(self, ours: _Seconds, n_parts: int) -> str:
        if not ours.parts or not (self.parts or self.over):
            return "–"
        mine = sum(self.parts[:n_parts]) if self.parts else self.over or 0.0
        return f"{'' if self.parts else '> '}{_short(mine / sum(ours.parts[:n_parts]))}"


def _ratios(
    cells: Mapping[str, _Seconds], paper: Mapping[str, tuple[float, float]], n_parts: int
) -> list[str]:
    theirs = {system: sum(paper[system][:n_parts]) for system in SYSTEMS}
    return [
        f"{cells[system].ratio_to(cells[OURS], n_parts)} ({_short(theirs[system] / theirs[OURS])})"
        for system in SYSTEMS[:-1]
    ]


def _role(run: Record) -> str | None:
    """Return whether a run is a whole one that counts here, a probe of few epochs, or neither."""
    if run["system"] not in SYSTEMS:
        return None
    own: dict[str, Any] = settings_of(run["system"])
    extra = {key: value for key, value in run["settings"].items() if own.get(key) != value}
    if extra == (GIVEN_SETTINGS if run["system"] == OURS else {}):
        return "whole"
    return "probe" if extra == {"epochs": PROBE_EPOCHS} else None


def _short(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"
