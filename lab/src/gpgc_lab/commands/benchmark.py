"""``gpgc benchmark``: tables of speed and memory, printed and written."""

from __future__ import annotations

import json
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from gpgc.datasets import Dataset
from gpgc_lab.datasets import load_dataset
from gpgc_lab.locations import NEW_RESULTS, StudyFolder
from gpgc_lab.speed.measure import machine
from gpgc_lab.step_line import step_line
from gpgc_lab.studies.core.core_sets import AGAINST, DRAWS, FIRST_SEED
from gpgc_lab.tables import Table, write_tables

app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})


class Benchmark(StrEnum):
    """What can be measured."""

    limit = "limit"
    rivals = "rivals"
    growth = "growth"
    labels = "labels"
    start = "start"
    dask = "dask"
    page = "page"
    core = "core"
    all = "all"


@app.command()
def benchmark(
    which: Annotated[
        list[Benchmark], typer.Argument(help="Which ones; all of them in this order.")
    ],
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the data; else $GPGC_DATA, cache, download."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for what is written.")] = NEW_RESULTS,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller sizes, fewer repeats; said in the tables.")
    ] = False,
    huge: Annotated[bool, typer.Option("--huge", help="growth: 4,000,000 nodes too.")] = False,
    neural_tangents: Annotated[
        str | None,
        typer.Option(metavar="PYTHON", help="rivals: a Python that has neural-tangents."),
    ] = None,
    limit: Annotated[
        float, typer.Option(metavar="MINUTES", help="labels: when a system is given up.", min=0.01)
    ] = 20.0,
    against: Annotated[
        str,
        typer.Option(
            metavar="REV",
            help="core: the commit to compare with, built as a wheel; none for this code alone.",
        ),
    ] = AGAINST,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="SECTIONS",
            help="core: costs, tables, values, graphs (all of them when not given), public, "
            "held-out; dask: same, local, large, costs; page: keys, first, bulk, people, interval, "
            "map, order, safe; with commas.",
        ),
    ] = None,
    sets: Annotated[
        str | None, typer.Option(help="core: names of sets, with ; between them.")
    ] = None,
    draws: Annotated[int, typer.Option(help="core: draws of each cell.", min=1)] = DRAWS,
    first_seed: Annotated[
        int, typer.Option(help="core: first seed of the draws; another one for a fresh table.")
    ] = FIRST_SEED,
) -> None:
    """Measure gpgc against the arithmetic of its job, against rivals, and as graphs grow.

    core compares this code with another version on listed sets, page measures gpgc label in
    Chromium; both are not part of all.
    """
    folder = out / "speed"
    wanted = [item for item in Benchmark if item in which or Benchmark.all in which]
    for name in wanted:
        is_apart = name in (Benchmark.core, Benchmark.page)
        if name is Benchmark.all or (is_apart and name not in which):
            continue
        if name is Benchmark.core:
            _core(out, data_dir, against, only, sets, draws, first_seed)
            continue
        line = f"Measured on {machine()}."
        tables = _tables(name, data_dir, folder, quick, huge, neural_tangents, limit, only)
        for table in tables:
            table.notes.append(line)
            table.show()
        file = name if only is None else f"{name}_{only.replace(',', '_')}"
        if name is Benchmark.page:  # it keeps the rows of other sections
            file = name
        given = f" --only {only}" * (only is not None) + " --quick" * quick
        _written(tables, folder, file, f"gpgc benchmark {name}{given}")


def _written(tables: list[Table], folder: Path, name: str, command: str, **more: Any) -> None:
    """Write tables, and the command, date and machine that made them."""
    from gpgc.files import write_file
    from gpgc_lab.origin import origin

    written = write_tables(tables, folder, name)
    known = json.dumps({**origin(command), **more}, indent=1).encode()
    write_file(folder / f"{name}.origin.json", known)
    for path in (*written, folder / f"{name}.origin.json"):
        typer.echo(f"written: {path}")


def _core(
    out: Path,
    data_dir: Path | None,
    against: str,
    only: str | None,
    sets: str | None,
    draws: int,
    first_seed: int,
) -> None:
    from gpgc_lab.studies.core.core_study import chosen_names, chosen_sections, core_study
    from gpgc_lab.studies.core.versions import built_version, this_version

    folder = StudyFolder.of(out, "core")
    sections = chosen_sections(only)
    names = chosen_names(sets, sections)
    with step_line() as progress:
        versions = [this_version()]
        if against != "none":
            progress(f"building {against}")
            versions.append(built_version(against))
        tables = core_study(
            versions, folder, progress, sections, names, draws, first_seed, data_dir
        )
    for table in tables:
        table.notes.append(f"Measured on {machine()}.")
        typer.echo(table.to_markdown())
    command = f"gpgc benchmark core --against {against} --only {','.join(sections)}"
    command += f" --draws {draws} --first-seed {first_seed}"
    command += f" --sets {shlex.quote(';'.join(names))}" if names else ""
    name = "core" if only is None else f"core_{'_'.join(sections)}"
    code = {version.name: version.code for version in versions}
    _written(tables, folder.out, name, command, code=code)


def _tables(
    name: Benchmark,
    data_dir: Path | None,
    out: Path,
    quick: bool,
    huge: bool,
    neural_tangents: str | None,
    limit: float,
    only: str | None,
) -> list[Table]:
    if name is Benchmark.limit:
        from gpgc_lab.speed.limit import limit_tables

        return limit_tables(_load(data_dir, "cora", "citeseer", "pubmed"), quick)
    if name is Benchmark.rivals:
        from gpgc_lab.speed.rivals import rival_tables

        return rival_tables(_load(data_dir, "cora", "pubmed"), quick, neural_tangents)
    if name is Benchmark.growth:
        from gpgc_lab.speed.growth import draw_growth, growth_tables, sizes

        tables = growth_tables(sizes(quick, huge), 2 if quick else 3)
        draw_growth(tables[0], out)
        return tables
    if name is Benchmark.labels:
        from gpgc_lab.speed.many_labels import QUICK, label_tables

        return label_tables(data_dir, out, QUICK if quick else None, typer.echo, 60 * limit)
    if name is Benchmark.dask:
        from gpgc_lab.speed.cluster import cluster_tables

        return cluster_tables(quick, only, data_dir)
    if name is Benchmark.page:
        from gpgc_lab.speed.page import page_tables

        return page_tables(data_dir, only, quick, out, typer.echo)
    from gpgc_lab.speed.start import start_tables

    return start_tables(3 if quick else 10)


def _load(data_dir: Path | None, *names: str) -> list[Dataset]:
    return [load_dataset(name, data_dir) for name in names]
