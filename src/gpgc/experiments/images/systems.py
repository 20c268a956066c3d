"""Other systems on the features and graph of images: stored runs, and new ones where possible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

from gpgc.experiments.comparison.runs import Conduct, Job, Record, read_runs, run_systems
from gpgc.experiments.comparison.task import Task

LIBRARIES = ("torch", "torch_geometric")
TIME_LIMIT = 1200.0
"""Seconds that one run may take."""


def other_systems(
    task: Task, systems: Sequence[str], path: Path, command: str, progress: Callable[[str], None]
) -> dict[str, Record]:
    """Return a finished run of each system, of those that could be run here or that are stored.

    Parameters
    ----------
    task : Task
        Features, graph and labels.
    systems : sequence of str
        Names of systems.
    path : Path
        File of the stored runs, which new ones join.
    command : str
        What to store as the origin of new runs.
    progress : callable
        Told what goes on.
    """
    if all(find_spec(library) for library in LIBRARIES):
        jobs = [Job(system) for system in systems]
        runs = run_systems(task, jobs, path, Conduct(command, TIME_LIMIT), progress)
    else:
        digest = task.digest()
        runs = [run for run in read_runs(path) if run["task"] == digest]
    return {run["system"]: run for run in runs if run["status"] == "done"}
