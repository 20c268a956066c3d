"""Other systems on the features and graph of images: stored runs, and new ones where possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from gpgc_lab.cells import Measured
from gpgc_lab.comparison.runs import Job, RunOptions, run_systems
from gpgc_lab.journal import StudyJournal
from gpgc_lab.task import Task

LIBRARIES = ("torch", "torch_geometric")
TIME_LIMIT = 1200.0
"""Seconds that one run may take."""


def other_systems(
    task: Task,
    systems: Sequence[str],
    seeds: int,
    journal: StudyJournal,
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
    journal : StudyJournal
        The stored runs, which new ones join.
    command : str
        What to store as the origin of new runs.
    progress : callable
        Told what goes on.
    """
    if all(find_spec(library) for library in LIBRARIES):
        jobs = [Job(system, seed) for seed in range(seeds) for system in systems]
        runs = run_systems(task, jobs, journal, RunOptions(command, TIME_LIMIT), progress)
    else:
        digest = task.digest()
        runs = [run for run in journal.records if run["task"] == digest]
    found: dict[str, list[float]] = {}
    for run in runs:
        if run["status"] == "done":
            found.setdefault(run["system"], []).append(run["accuracy"])
    return found


def accuracy_cell(values: Sequence[float], paper: float | None = None) -> Measured:
    """Return accuracies in per cent beside the paper's number.

    Examples
    --------
    >>> print(accuracy_cell([0.5, 0.52], 51.3), accuracy_cell([0.5]), accuracy_cell([]))
    51.00 ± 1.41 (51.3) 50.00 –
    """
    return Measured.of([100 * value for value in values], paper, decimals=2)
