"""``gpgc reproduce``: the paper's tables and figures, ours beside the published ones."""

from __future__ import annotations

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
def framework(out: OutOption = RESULTS) -> None:
    """Draw the framework figure: a graph, its posterior, its labels."""
    from gpgc.experiments.framework import draw_framework

    for path in draw_framework(out):
        typer.echo(f"written: {path}")


def _finish(tables: list[Table], out: Path, name: str) -> None:
    from gpgc.experiments.tables import write_tables

    for table in tables:
        table.show()
    for path in write_tables(tables, out, name):
        typer.echo(f"written: {path}")
