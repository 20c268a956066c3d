"""``gpgc reproduce``: the paper's tables and figures, ours beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpgc.cli.output import Progress

if TYPE_CHECKING:
    from gpgc.experiments.tables import Table

app = typer.Typer(
    help="Reproduce a table or figure of the paper.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataOption = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with the data; else $GPGC_DATA, cache, download."),
]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for what is written.")]
RESULTS = Path("results")


@app.command()
def citation(
    data_dir: DataOption = None,
    out: OutOption = RESULTS,
    random_splits: Annotated[
        int, typer.Option(min=0, help="Also the mean over so many random splits.")
    ] = 0,
) -> None:
    """Cora, Citeseer and Pubmed: data, accuracy and settings."""
    from gpgc.experiments.citation import citation_tables

    with Progress() as progress:
        tables = citation_tables(data_dir, random_splits, progress)
    _finish(tables, out, "citation")


@app.command()
def calibration(
    data_dir: DataOption = None,
    out: OutOption = RESULTS,
    random_splits: Annotated[int, typer.Option(min=0, help="Number of random splits.")] = 20,
) -> None:
    """Cora, Citeseer and Pubmed: how far probabilities, sets and novelty can be trusted."""
    from gpgc.experiments.calibration import calibration_study

    with Progress() as progress:
        tables, pictures = calibration_study(data_dir, random_splits, out, progress)
    _finish(tables, out, "calibration", pictures)


@app.command()
def active(
    data_dir: DataOption = None,
    out: OutOption = RESULTS,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs.")] = 10,
) -> None:
    """Cora, Citeseer and Pubmed: accuracy against the number of chosen labels."""
    from gpgc.experiments.active import active_study

    with Progress() as progress:
        tables, pictures = active_study(data_dir, runs, out, progress)
    _finish(tables, out, "active", pictures)


@app.command()
def framework(out: OutOption = RESULTS) -> None:
    """Draw the framework figure: a graph, its posterior, its labels."""
    from gpgc.experiments.framework import draw_framework

    for path in draw_framework(out):
        typer.echo(f"written: {path}")


def _finish(tables: list[Table], out: Path, name: str, pictures: Sequence[Path] = ()) -> None:
    from gpgc.experiments.tables import write_tables

    for table in tables:
        table.show()
    for path in (*write_tables(tables, out, name), *pictures):
        typer.echo(f"written: {path}")
