"""Other systems on the features and graph of images: stored runs, and new ones where possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from gpgc_lab.comparison.runs import Job, RunOptions, read_runs, run_systems
from gpgc_lab.comparison.task import Task

LIBRARIES = ("torch", "torch_geometric")
TIME_LIMIT = 1200.0
"""Seconds that one run may take."""


def other_systems(
    task: Task,
    systems: Sequence[str],
    seeds: int,
    path: Path,
    command: str,
    progress: Callable[[str], None],
) -> dict[str, list[float]]:
    """Return the accuracies of each system, of the runs that could be made here or are stored.

    Parameters
    ----------
    task : Task
        Features, graph and labels.
    systems : sequence of str
        Names of systems.
    seeds : int
        Runs of each; the first seed of all systems comes before the second of any.
    path : Path
        File of the stored runs, which new ones join.
    command : str
        What to store as the origin of new runs.
    progress : callable
        Told what goes on.
    """
    if all(find_spec(library) for library in LIBRARIES):
        jobs = [Job(system, seed) for seed in range(seeds) for system in systems]
        runs = run_systems(task, jobs, path, RunOptions(command, TIME_LIMIT), progress)
    else:
        digest = task.digest()
        runs = [run for run in read_runs(path) if run["task"] == digest]
    found: dict[str, list[float]] = {}
    for run in runs:
        if run["status"] == "done":
            found.setdefault(run["system"], []).append(run["accuracy"])
    return found


def accuracy_cell(values: Sequence[float], paper: float | None = None) -> str:
    """Return the mean of accuracies in per cent, their deviation, and the paper's number.

    Examples
    --------
    >>> accuracy_cell([0.5, 0.52], 51.3), accuracy_cell([0.5]), accuracy_cell([])
    ('51.00 ± 1.41 (51.3)', '50.00', '–')
    """
    per_cent = 100 * np.asarray(values)
    ours = f"{per_cent.mean():.2f}" if len(values) else "–"
    spread = f" ± {per_cent.std(ddof=1):.2f}" if len(values) > 1 else ""
    return ours + spread + ("" if paper is None else f" ({paper})")
