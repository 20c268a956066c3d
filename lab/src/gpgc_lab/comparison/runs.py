"""Runs of systems on a task, kept as lines of JSON, so that what is done is not done again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpgc.compute.progress import count_done
from gpgc_lab.baselines import SYSTEMS
from gpgc_lab.comparison.children import run_children
from gpgc_lab.comparison.systems import code_of, settings_of
from gpgc_lab.journal import Record, StudyJournal
from gpgc_lab.locations import StudyFolder
from gpgc_lab.origin import origin
from gpgc_lab.task import Task

FIELDS = ("task", "system", "seed", "settings", "status", "version")
"""What every run has, of version 0.1 and later; ``code`` came after it."""


@dataclass(frozen=True)
class Job:
    """One run: a system with options beyond its own settings, and a seed."""

    system: str
    seed: int = 0
    options: dict[str, Any] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """Return everything that the system is run with."""
        return {**settings_of(self.system), **self.options}


@dataclass(frozen=True)
class RunOptions:
    """How runs are made: seconds each may take, how many at a time, whether all are made anew."""

    command: str
    time_limit: float = 1200.0
    parallel: int = 1
    fresh: bool = False


def run_file(folder: StudyFolder, name: str) -> StudyJournal:
    """Return the journal of the runs on a data set."""
    return folder.journal(f"compare_{name}_runs.jsonl", FIELDS)


def latest(runs: Iterable[Record]) -> list[Record]:
    """Return of each system, settings and seed the newest run, one that ended well if any did."""
    found: dict[tuple[Any, ...], Record] = {}
    for run in runs:
        key = run["system"], run["seed"], json.dumps(run["settings"], sort_keys=True)
        if run["status"] == "done" or found.get(key, run)["status"] != "done":
            found[key] = run
    return list(found.values())


def run_systems(
    task: Task,
    jobs: Sequence[Job],
    journal: StudyJournal,
    options: RunOptions,
    progress: Callable[[str], None],
) -> list[Record]:
    """Return a run for each job: those that the journal holds, and new ones, which join it.

    A run is the same if task, system, settings, seed and the system's own code are. Runs of
    version 0.1 do not say which code they ran; they stand for the systems of the paper, and are
    made again for ours and for a user's. Failures are tried again; what ran out of time is not,
    unless it is given more.
    """
    digest = task.digest()
    codes = {job.system: code_of(job.system) for job in jobs}
    done: dict[tuple[Any, ...], Record] = {}
    if not options.fresh:
        done = {_key(run): run for run in journal.records if _stands(run, options)}
    wanted = [_identity(task.name, digest, job, codes[job.system]) for job in jobs]
    for run in wanted:
        older = done.get(_key({**run, "code": None}))
        if older is not None and run["system"] in SYSTEMS:
            done.setdefault(_key(run), older)
    missing = [index for index, run in enumerate(wanted) if _key(run) not in done]
    with tempfile.TemporaryDirectory(prefix="gpgc-compare-") as folder:
        file = Path(folder) / "task.npz"
        if missing:
            task.save(file)
        orders = [{"task": str(file), **vars(jobs[index])} for index in missing]
        progress(f"{task.name}: {len(missing)} of {len(jobs)} runs to do")
        children = run_children(orders, Path(folder), options.time_limit, options.parallel)
        for count, (index, answer) in enumerate(children, 1):
            run = {
                **wanted[missing[index]],
                **answer,
                "time_limit": options.time_limit,
                **origin(options.command),
            }
            journal.new.append(run)
            done[_key(run)] = run
            count_done(count, len(missing))
            progress(f"{task.name}: {count} of {len(missing)} runs done, last {run['system']}")
    return [done[_key(run)] for run in wanted]


def made_before(run: Record) -> str:
    """Return by which version a run was made, empty where it was by the code of now."""
    return (
        ""
        if run.get("code") == code_of(run["system"])
        else f"made before, by gpgc {run['version']}"
    )


def age_notes(runs: Iterable[Record]) -> list[str]:
    """Return a note for each version that made runs before the code of now, with its systems."""
    systems: dict[str, dict[str, None]] = {}
    for run in runs:
        if remark := made_before(run):
            systems.setdefault(remark, {})[run["system"]] = None
    return [f"{', '.join(names)}: {remark}." for remark, names in systems.items()]


def _identity(name: str, digest: str, job: Job, code: str) -> Record:
    return {
        "dataset": name,
        "task": digest,
        "system": job.system,
        "seed": job.seed,
        "settings": job.settings(),
        "code": code,
    }


def _key(run: Record) -> tuple[Any, ...]:
    settings = json.dumps(run["settings"], sort_keys=True)
    return run["task"], run["system"], run["seed"], settings, run.get("code")


def _stands(run: Record, options: RunOptions) -> bool:
    if run["status"] == "out of time":
        return bool(run["time_limit"] >= options.time_limit)
    return bool(run["status"] == "done")
