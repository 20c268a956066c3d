"""Kinds of studies: how each is read from stored results, or else made."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from gpgc.errors import DataError, InputError
from gpgc.files import write_file
from gpgc_lab import published
from gpgc_lab.comparison.runs import RunOptions, latest, run_file
from gpgc_lab.comparison.systems import NAMES, settings_of
from gpgc_lab.journal import Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.origin import describe, origin
from gpgc_lab.report.section import Section, read_tables, run_origins
from gpgc_lab.tables import Table, write_tables

Progress = Callable[[str], None]
Made = tuple[list[Table], list[Path]]

RUNTIME_SEEDS = 1
"""Runs of each system that the table of seconds asks for."""


@dataclass(frozen=True)
class ReportOptions:
    """What the report is to be made of.

    Attributes
    ----------
    out : Path
        Folder of new results; stored ones are also read from where the laboratory keeps them.
    data_dir : Path, optional
        Where to look for the data first.
    fresh : bool
        Whether stored results are made again.
    stored_only : bool
        Whether nothing is run at all.
    n_seeds : int
        Runs of each system that draws at random.
    since : str
        When the report was asked for; what is younger is fresh.
    """

    out: Path
    data_dir: Path | None
    fresh: bool
    stored_only: bool
    n_seeds: int
    since: str


class Study(Protocol):
    """Something that the report has a section on."""

    @property
    def title(self) -> str:
        """Heading of its section."""
        ...

    def section(self, options: ReportOptions, progress: Progress) -> Section:
        """Return the section, made of stored rows where they are to be used."""
        ...


def keep_origin(out: Path, name: str, command: str) -> None:
    """Write the command, date and machine of a study beside its tables."""
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / f"{name}.origin.json", json.dumps(origin(command), indent=1).encode())


@dataclass(frozen=True)
class TableStudy:
    """A study that is stored as a whole: ``name.json``, ``name.origin.json`` and pictures."""

    name: str
    title: str
    about: str
    command: str
    pictures: tuple[str, ...]
    make: Callable[[ReportOptions, StudyFolder, Progress], Made]

    def section(self, options: ReportOptions, progress: Progress) -> Section:
        """Return what is stored, else what is made now."""
        empty = Section(self.name, self.title, self.about)
        folder = StudyFolder.of(options.out, self.name)
        stored = folder.find(f"{self.name}.json")
        known = stored is not None or bool(self._pictures(folder))
        if known and not options.fresh:
            tables = [] if stored is None else read_tables(stored)
            origins = [f"Stored: {self._origin(folder)}"]
        elif options.stored_only:
            return replace(empty, missing=f"Not run yet: `{self.command}`.")
        else:
            if options.fresh:
                folder = folder.empty()
                (folder.out / f"{self.name}_runs.jsonl").unlink(missing_ok=True)
            try:
                tables, _ = self.make(options, folder, progress)
            except (DataError, InputError, ImportError, OSError) as error:
                return replace(empty, missing=f"`{self.command}` failed: {error}")
            if tables:
                write_tables(tables, folder.out, self.name)
            keep_origin(folder.out, self.name, self.command)
            origins = [f"Fresh: {self._origin(folder)}"]
        pictures = self._pictures(folder)
        origins += run_origins(self._runs(folder), options.since)
        return replace(empty, tables=tables, pictures=pictures, origins=origins)

    def _pictures(self, folder: StudyFolder) -> list[Path]:
        found = (folder.find(f"{stem}.png") for stem in self.pictures)
        return [path for path in found if path is not None]

    def _runs(self, folder: StudyFolder) -> list[Record]:
        """Return the runs of other systems that say where they were made."""
        return [
            run for run in folder.journal(f"{self.name}_runs.jsonl").records if "machine" in run
        ]

    def _origin(self, folder: StudyFolder) -> str:
        names = (f"{self.name}.origin.json", f"{self.name}.made.json")  # the second of version 0.1
        found = next(filter(None, map(folder.find, names)), None)
        if found is None:
            return f"`{self.command}`; date and machine were not kept."
        return describe(json.loads(found.read_text()))


@dataclass(frozen=True)
class CompareStudy:
    """The comparison on one data set, stored run by run."""

    dataset: str

    @property
    def title(self) -> str:
        """Heading of the section."""
        return f"All systems on {self.dataset.capitalize()}"

    def section(self, options: ReportOptions, progress: Progress) -> Section:
        """Run what is missing, unless stored runs have to do, and summarise the runs."""
        from gpgc_lab.comparison.bar_chart import draw_accuracies
        from gpgc_lab.comparison.make_task import known_task
        from gpgc_lab.comparison.summary import compare, compare_table, summarise

        name = self.dataset
        command = f"gpgc compare {name} --seeds {options.n_seeds}"
        about = "Published accuracies are the paper's, most of them cited there from others."
        empty = Section(f"compare_{name}", self.title, about)
        folder = StudyFolder.of(options.out, "comparison")
        if not options.stored_only:
            try:
                task = known_task(name, "pca", options.data_dir, 0)
            except (DataError, OSError) as error:
                return replace(empty, missing=f"`{command}` failed: {error}")
            how = RunOptions(command, fresh=options.fresh)
            compare(task, NAMES, options.n_seeds, folder, how, progress)
        runs = [
            run
            for run in latest(run_file(folder, name).records)
            if run["settings"] == settings_of(run["system"])
        ]
        if not runs:
            return replace(empty, missing=f"Not run yet: `{command}`.")
        summaries = summarise(name, runs)
        tables = [compare_table(name, summaries)]
        chart, _ = draw_accuracies(name, summaries, folder.out)
        write_tables(tables, folder.out, f"compare_{name}")
        origins = run_origins(runs, options.since)
        return replace(empty, tables=tables, pictures=[chart], origins=origins)


@dataclass(frozen=True)
class RuntimeStudy:
    """The table of seconds, made of the same runs."""

    title: str = "Seconds of training and testing"

    def section(self, options: ReportOptions, progress: Progress) -> Section:
        """Run what is missing, unless stored runs have to do, and show the medians."""
        from gpgc_lab.studies.runtime import runtime_study, runtime_tables, timed_runs

        command = f"gpgc reproduce runtime --seeds {RUNTIME_SEEDS}"
        about = "All systems run on a single core; a ratio says how many times longer one takes."
        empty = Section("runtime", self.title, about)
        folder = StudyFolder.of(options.out, "comparison")
        if not options.stored_only:
            how = RunOptions(command, fresh=options.fresh)
            try:
                runtime_study(options.data_dir, RUNTIME_SEEDS, folder, how, progress)
            except (DataError, OSError) as error:
                return replace(empty, missing=f"`{command}` failed: {error}")
        runs = {name: timed_runs(folder, name) for name in published.CITATION}
        every = [run for members in runs.values() for run in members]
        if not every:
            return replace(empty, missing=f"Not run yet: `{command}`.")
        tables = runtime_tables(runs)
        write_tables(tables, options.out / "runtime", "runtime")
        return replace(empty, tables=tables, origins=run_origins(every, options.since))
