"""Runs of systems on a task, kept as lines of JSON, so that what is done is not done again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gpgc
from gpgc.errors import DataError
from gpgc.estimators.storage import write_whole
from gpgc_lab.comparison.children import run_children
from gpgc_lab.comparison.systems import settings_of
from gpgc_lab.comparison.task import Task
from gpgc_lab.origin import origin

Record = dict[str, Any]


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


def run_file(folder: Path, name: str) -> Path:
    """Return where the runs on a data set are kept."""
    return folder / f"compare_{name}_runs.jsonl"


def read_runs(path: Path) -> list[Record]:
    """Return the runs in a file, oldest first; none where there is no file.

    A last line that was cut off in writing is passed over.
    """
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    try:
        return [json.loads(line) for line in lines[:-1]]
    except ValueError as error:
        raise DataError(f"{path}: expected a JSON object in each line: {error}") from error


def latest(runs: Iterable[Record]) -> list[Record]:
    """Return of each system, settings and seed the newest run, one that ended well if any did."""
    found: dict[tuple[Any, ...], Record] = {}
    for run in runs:
        key = _key(run)[1:4]
        if run["status"] == "done" or found.get(key, run)["status"] != "done":
            found[key] = run
    return list(found.values())


def run_systems(
    task: Task,
    jobs: Sequence[Job],
    path: Path,
    options: RunOptions,
    progress: Callable[[str], None],
) -> list[Record]:
    """Return a run for each job: those that the file holds, and new ones, which join it.

    A run is the same if task, system, settings, seed and version are. Failures are tried again;
    what ran out of time is not, unless it is given more.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = read_runs(path)
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        write_whole(path, "".join(_line(run) for run in stored).encode())
    digest = task.digest()
    done = {} if options.fresh else {_key(run): run for run in stored if _stands(run, options)}
    wanted = [_identity(task.name, digest, job) for job in jobs]
    missing = [place for place, run in enumerate(wanted) if _key(run) not in done]
    with tempfile.TemporaryDirectory(prefix="gpgc-compare-") as folder:
        file = Path(folder) / "task.npz"
        if missing:
            task.save(file)
        orders = [{"task": str(file), **vars(jobs[place])} for place in missing]
        progress(f"{task.name}: {len(missing)} of {len(jobs)} runs to do")
        children = run_children(orders, Path(folder), options.time_limit, options.parallel)
        for count, (place, answer) in enumerate(children, 1):
            run = {
                **wanted[missing[place]],
                **answer,
                "time_limit": options.time_limit,
                **origin(options.command),
            }
            with path.open("a") as lines:
                lines.write(_line(run))
            done[_key(run)] = run
            progress(f"{task.name}: {count} of {len(missing)} runs done, last {run['system']}")
    return [done[_key(run)] for run in wanted]


def _identity(name: str, digest: str, job: Job) -> Record:
    return {
        "dataset": name,
        "task": digest,
        "system": job.system,
        "seed": job.seed,
        "settings": job.settings(),
        "version": gpgc.__version__,
    }


def _key(run: Record) -> tuple[Any, ...]:
    settings = json.dumps(run["settings"], sort_keys=True)
    return run["task"], run["system"], run["seed"], settings, run["version"]


def _stands(run: Record, options: RunOptions) -> bool:
    if run["status"] == "out of time":
        return bool(run["time_limit"] >= options.time_limit)
    return bool(run["status"] == "done")


def _line(run: Record) -> str:
    return json.dumps(run) + "\n"
