"""One report of every table and figure, as Markdown and as a page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import gpgc
from gpgc.errors import DataError
from gpgc.files import write_file
from gpgc_lab import published
from gpgc_lab.cells import HIGHER, LOWER, Difference, Measured
from gpgc_lab.locations import stored_results
from gpgc_lab.report.contents import STUDIES
from gpgc_lab.report.html import to_html
from gpgc_lab.report.markdown import to_markdown
from gpgc_lab.report.reasons import reason
from gpgc_lab.report.section import Section
from gpgc_lab.report.significance import marked_table
from gpgc_lab.report.study_sections import ReportOptions, Study
from gpgc_lab.tables import Table

TITLE = "Infinitely wide graph convolutional networks: published and measured"
LEGEND = (
    f"{HIGHER} and {LOWER} mark measured accuracies that differ from the published ones by more "
    "than the seeds explain: by over two standard errors of the mean, or by over one percentage "
    "point where there is no spread."
)


@dataclass(frozen=True)
class Report:
    """Everything that the two files show."""

    title: str
    introduction: list[str]
    sections: list[Section]


def write_report(
    options: ReportOptions, progress: Callable[[str], None], studies: Iterable[Study] = STUDIES
) -> list[Path]:
    """Gather every section, stored or made now, and write ``report.md`` and ``report.html``."""
    if options.stored_only and not (options.out.exists() or stored_results().exists()):
        raise DataError(
            f"{stored_results()} must hold the stored results, but there is no such folder: "
            "install the laboratory from a clone by `pip install ./lab`, or leave --stored-only out"
        )
    sections = []
    for study in studies:
        progress(study.title)
        found = study.section(options, progress)
        sections.append(replace(found, tables=[marked_table(table) for table in found.tables]))
    report = Report(TITLE, _introduction(), [differences(sections), *sections])
    options.out.mkdir(parents=True, exist_ok=True)
    paths = [options.out / "report.md", options.out / "report.html"]
    write_file(paths[0], to_markdown(report, options.out).encode())
    write_file(paths[1], to_html(report).encode())
    return paths


def differences(sections: Sequence[Section]) -> Section:
    """Return the section that gathers what is marked in the others, with reasons."""
    table = Table(
        "differences",
        "Marked numbers of all tables",
        ["study", "row", "column", "measured against published", "reason"],
    )
    for section in sections:
        for one in section.tables:
            for row in one.rows:
                for column, cell in zip(one.columns, row, strict=True):
                    if isinstance(cell, Measured | Difference) and cell.mark:
                        table.rows.append(_difference(section, one, row, column, cell))
    about = "The paper's numbers that the runs of this report do not meet, and those they exceed."
    missing = "" if table.rows else "No measured number is marked."
    tables = [table] if table.rows else []
    return Section("differences", "Where the numbers differ", about, tables, missing=missing)


def _difference(
    section: Section, table: Table, row: Sequence[object], column: str, cell: Measured | Difference
) -> list[str]:
    """Return a row on one marked cell; a comparison holds the two numbers in other cells."""
    names = [str(name) for name in row[: _n_names(row)]]
    text = str(cell)
    if isinstance(cell, Difference):
        values = dict(zip(table.columns, row, strict=True))
        text = f"{values['accuracy']:.1f} against {values['published']:.1f}: {cell}"
        names, column = names[:1], section.name.removeprefix("compare_")
    datasets = [name for name in (*names, column) if name in published.DATASETS]
    systems = [name.partition(",")[0] for name in names if name not in published.DATASETS]
    known = reason(systems[0], datasets[0]) if systems and datasets else ""
    return [section.title, ", ".join(names), column, text, known]


def _n_names(row: Sequence[object]) -> int:
    """Return how many leading cells name the row."""
    others = (index for index, cell in enumerate(row) if not isinstance(cell, str))
    return next(others, len(row))


def _introduction() -> list[str]:
    return [
        f"Made with gpgc {gpgc.__version__} on {datetime.now(UTC):%Y-%m-%d}. Every number is "
        "measured by the command that stands beside it, and the paper's number stands with it "
        "where it gives one. Rows are stored, from the day and machine named, or fresh.",
        LEGEND,
    ]
