"""``gpgc benchmark``: tables of speed and memory, printed and written."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gpgc.datasets import Dataset, load_dataset
from gpgc_lab.locations import NEW_RESULTS
from gpgc_lab.speed.measure import machine
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
) -> None:
    """Measure gpgc against the arithmetic of its job, against rivals, and as graphs grow."""
    folder = out / "speed"
    wanted = [item for item in Benchmark if item in which or Benchmark.all in which]
    for name in wanted:
        if name is Benchmark.all:
            continue
        line = f"Measured on {machine()}."
        tables = _tables(name, data_dir, folder, quick, huge, neural_tangents, limit)
        for table in tables:
            table.notes.append(line)
            table.show()
        for path in write_tables(tables, folder, name):
            typer.echo(f"written: {path}")


def _tables(
    name: Benchmark,
    data_dir: Path | None,
    out: Path,
    quick: bool,
    huge: bool,
    neural_tangents: str | None,
    limit: float,
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

        return cluster_tables(quick)
    from gpgc_lab.speed.start import start_tables

    return start_tables(3 if quick else 10)


def _load(data_dir: Path | None, *names: str) -> list[Dataset]:
    return [load_dataset(name, data_dir) for name in names]
