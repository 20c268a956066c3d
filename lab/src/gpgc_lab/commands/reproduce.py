"""``gpgc reproduce``: the paper's tables and figures, ours beside the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpgc.errors import InputError
from gpgc_lab.locations import NEW_RESULTS, StudyFolder
from gpgc_lab.step_line import step_line

if TYPE_CHECKING:
    from gpgc_lab.tables import Table

app = typer.Typer(
    help="Reproduce a table or figure of the paper.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DataOption = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder with the data; else $GPGC_DATA, cache, download."),
]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for what is written.")]
SeedsOption = Annotated[
    int, typer.Option("--seeds", min=1, help="Runs of what is drawn at random.")
]


@app.command()
def citation(
    data_dir: DataOption = None,
    out: OutOption = NEW_RESULTS,
    random_splits: Annotated[
        int, typer.Option(min=0, help="Also the mean over so many random splits.")
    ] = 0,
) -> None:
    """Cora, Citeseer and Pubmed: data, accuracy and settings."""
    from gpgc_lab.studies.citation import citation_tables

    with step_line() as progress:
        tables = citation_tables(data_dir, random_splits, progress)
    _finish(tables, out, "citation", f"gpgc reproduce citation --random-splits {random_splits}")


@app.command()
def calibration(
    data_dir: DataOption = None,
    out: OutOption = NEW_RESULTS,
    random_splits: Annotated[int, typer.Option(min=0, help="Number of random splits.")] = 20,
) -> None:
    """Cora, Citeseer and Pubmed: how far probabilities, sets and novelty can be trusted."""
    from gpgc_lab.studies.calibration.calibration_study import calibration_study

    with step_line() as progress:
        tables, pictures = calibration_study(
            data_dir, random_splits, StudyFolder.of(out, "calibration"), progress
        )
    command = f"gpgc reproduce calibration --random-splits {random_splits}"
    _finish(tables, out, "calibration", command, pictures)


@app.command()
def active(
    data_dir: DataOption = None,
    out: OutOption = NEW_RESULTS,
    runs: Annotated[int, typer.Option(min=1, help="Number of runs.")] = 10,
) -> None:
    """Cora, Citeseer and Pubmed: accuracy against the number of chosen labels."""
    from gpgc_lab.studies.active import active_study

    with step_line() as progress:
        tables, pictures = active_study(data_dir, runs, StudyFolder.of(out, "active"), progress)
    _finish(tables, out, "active", f"gpgc reproduce active --runs {runs}", pictures)


@app.command()
def errors(
    data_dir: DataOption = None, out: OutOption = NEW_RESULTS, seeds: SeedsOption = 5
) -> None:
    """Cora, Citeseer, Pubmed and digits: wrong labels that are found, ours and cleanlab's."""
    from gpgc_lab.comparison.systems import missing_library
    from gpgc_lab.studies.label_errors import errors_study

    with step_line() as progress:
        try:
            tables, _ = errors_study(data_dir, seeds, StudyFolder.of(out, "errors"), progress)
        except ModuleNotFoundError as error:
            raise InputError(f"errors {missing_library(error)}") from error
    _finish(tables, out, "errors", f"gpgc reproduce errors --seeds {seeds}")


@app.command()
def intervals(out: OutOption = NEW_RESULTS, seeds: SeedsOption = 20) -> None:
    """Numbers of four tables: how often intervals hold values that were kept out."""
    from gpgc_lab.studies.intervals import intervals_study

    with step_line() as progress:
        tables, _ = intervals_study(seeds, StudyFolder.of(out, "intervals"), progress)
    _finish(tables, out, "intervals", f"gpgc reproduce intervals --seeds {seeds}")


@app.command()
def framework(out: OutOption = NEW_RESULTS) -> None:
    """Draw the framework figure: a graph, its posterior, its labels."""
    from gpgc_lab.studies.framework import draw_framework

    _finish([], out, "framework", "gpgc reproduce framework", draw_framework(out / "framework"))


@app.command()
def images(
    data_dir: DataOption = None, out: OutOption = NEW_RESULTS, seeds: SeedsOption = 5
) -> None:
    """MNIST, SVHN and CIFAR10: accuracy on the graph of nearest neighbours."""
    from gpgc_lab.studies.images.image_study import images_study

    with step_line() as progress:
        tables, pictures = images_study(data_dir, StudyFolder.of(out, "images"), progress, seeds)
    _finish(tables, out, "images", f"gpgc reproduce images --seeds {seeds}", pictures)


@app.command()
def labels(
    data_dir: DataOption = None, out: OutOption = NEW_RESULTS, seeds: SeedsOption = 5
) -> None:
    """MNIST, SVHN and CIFAR10: accuracy with 200, 600 and 1,000 labels."""
    from gpgc_lab.studies.images.few_labels import labels_study

    with step_line() as progress:
        tables, pictures = labels_study(data_dir, StudyFolder.of(out, "labels"), progress, seeds)
    _finish(tables, out, "labels", f"gpgc reproduce labels --seeds {seeds}", pictures)


@app.command()
def width(
    data_dir: DataOption = None, out: OutOption = NEW_RESULTS, seeds: SeedsOption = 5
) -> None:
    """Accuracy and covariance of ever wider networks, against the infinite one."""
    from gpgc_lab.comparison.systems import missing_library
    from gpgc_lab.studies.width import width_study

    with step_line() as progress:
        try:
            tables, pictures = width_study(data_dir, seeds, StudyFolder.of(out, "width"), progress)
        except ModuleNotFoundError as error:
            raise InputError(f"width {missing_library(error)}") from error
    _finish(tables, out, "width", f"gpgc reproduce width --seeds {seeds}", pictures)


@app.command()
def networks(
    data_dir: DataOption = None,
    out: OutOption = NEW_RESULTS,
    random_splits: Annotated[int, typer.Option(min=0, help="Number of random splits.")] = 20,
    draws: Annotated[int, typer.Option(min=2, help="Random networks of each width.")] = 200,
) -> None:
    """Cora, Citeseer and Pubmed: every infinitely wide network and its tangent kernel."""
    from gpgc_lab.studies.networks import networks_study

    with step_line() as progress:
        tables = networks_study(
            data_dir, random_splits, draws, StudyFolder.of(out, "networks"), progress
        )
    command = f"gpgc reproduce networks --random-splits {random_splits} --draws {draws}"
    _finish(tables, out, "networks", command)


@app.command()
def graphs(
    data_dir: DataOption = None,
    out: OutOption = NEW_RESULTS,
    seeds: SeedsOption = 10,
    graphs: Annotated[
        str | None, typer.Option("--graphs", help="Names, with commas; none: numbers only.")
    ] = None,
    systems: Annotated[str | None, typer.Option("--systems", help="Names, with commas.")] = None,
    regimes: Annotated[str | None, typer.Option("--regimes", help="Names, with commas.")] = None,
    values: Annotated[
        bool, typer.Option("--values/--no-values", help="Whether numbers are predicted too.")
    ] = True,
    design: Annotated[
        bool,
        typer.Option("--design", help="Seeds and masks to try changes on, not the table's."),
    ] = False,
) -> None:
    """Graphs of all kinds: the default beside what needs no training, by number of labels."""
    from gpgc_lab.studies.graphs.graph_study import graphs_study, make_plan

    plan = make_plan(graphs, systems, regimes, seeds, design, values)
    name = "graphs-design" if design else "graphs"
    with step_line() as progress:
        tables = graphs_study(data_dir, plan, StudyFolder.of(out, name), progress)
    _finish(tables, out, name, plan.command())


@app.command()
def runtime(
    data_dir: DataOption = None,
    out: OutOption = NEW_RESULTS,
    seeds: SeedsOption = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is stored.")] = False,
) -> None:
    """Cora, Citeseer and Pubmed: seconds of training and testing on one core."""
    from gpgc_lab.comparison.runs import RunOptions
    from gpgc_lab.studies.runtime import runtime_study

    command = f"gpgc reproduce runtime --seeds {seeds}"
    with step_line() as progress:
        options = RunOptions(command, fresh=fresh)
        tables = runtime_study(
            data_dir, seeds, StudyFolder.of(out, "comparison"), options, progress
        )
    _finish(tables, out, "runtime", command)


@app.command("all")
def everything(
    data_dir: DataOption = None,
    out: OutOption = NEW_RESULTS,
    seeds: SeedsOption = 5,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Make everything again; takes many hours.")
    ] = False,
    stored_only: Annotated[
        bool, typer.Option("--stored-only", help="Run nothing; report what is stored.")
    ] = False,
) -> None:
    """Make every table and figure that is not stored yet, and one report of all.

    Writes OUT/report.md and OUT/report.html, a single page with the pictures in it.
    """
    from datetime import UTC, datetime

    from gpgc_lab.report.report import write_report
    from gpgc_lab.report.study_sections import ReportOptions

    if fresh and stored_only:
        raise InputError("--fresh and --stored-only exclude each other, got both")
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with step_line() as progress:
        written = write_report(
            ReportOptions(out, data_dir, fresh, stored_only, seeds, now), progress
        )
    for path in written:
        typer.echo(f"written: {path}")


def _finish(
    tables: list[Table], out: Path, name: str, command: str, pictures: Sequence[Path] = ()
) -> None:
    from gpgc_lab.report.study_sections import keep_origin
    from gpgc_lab.tables import write_tables

    for table in tables:
        table.show()
    written = write_tables(tables, out / name, name) if tables else []
    keep_origin(out / name, name, command)
    for path in (*written, *pictures):
        typer.echo(f"written: {path}")
