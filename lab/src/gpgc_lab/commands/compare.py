"""``gpgc compare``: systems side by side on a known data set or on the user's own graph."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gpgc.errors import InputError
from gpgc_lab.locations import NEW_RESULTS, StudyFolder
from gpgc_lab.step_line import step_line

if TYPE_CHECKING:
    from gpgc_lab.task import Task

app = typer.Typer(add_completion=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def compare(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="digits, cora, citeseer, pubmed, mnist, svhn or cifar10; none with --labels."
        ),
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            help="all, or names with commas: LP, SemiEmb, ManiReg, DeepWalk, Planetoid, ICA, DCNN, "
            "GCN, GCN-64, GCN-256, MoNet, GGP, GAT, GLCN, GPGC-small, GPGC-big, GPGC, GGP-X, "
            "GPGC-X; or module:function of your own, called with a Problem and a seed."
        ),
    ] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each system but ours.")] = 5,
    time_limit: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="What a run may take.")
    ] = 1200.0,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, on one core each.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is done already.")] = False,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the data; else $GPGC_DATA, the cache, a download."),
    ] = None,
    split_seed: Annotated[
        int, typer.Option(min=0, help="Seed of the split, where it is drawn.")
    ] = 0,
    features: Annotated[
        str | None,
        typer.Option(
            help="Of images: pca (default), pixels, or an .npz that gpgc train wrote. Of your "
            "own graph: CSV (first column id), .npy or sparse .npz (ids 0 ... N-1)."
        ),
    ] = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="CSV with the columns source,target[,weight].", rich_help_panel="Your own graph"
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="CSV with the columns id,label.", rich_help_panel="Your own graph"),
    ] = None,
    held_back: Annotated[
        float,
        typer.Option(
            help="Share of the labels of each class to test on.", rich_help_panel="Your own graph"
        ),
    ] = 0.3,
    neighbors: Annotated[
        int,
        typer.Option(
            help="Neighbours of the graph that is built when --edges is left out.",
            rich_help_panel="Your own graph",
        ),
    ] = 10,
    out: Annotated[Path, typer.Option(help="Folder for what is written.")] = NEW_RESULTS,
) -> None:
    """Compare systems: accuracy, log loss, calibration error, seconds and memory, a row each.

    Each run has one core and a process of its own; one that fails or runs
    out of time says so, and the others go on. Runs are kept in
    OUT/comparison/compare_NAME_runs.jsonl: the same command goes on where it was
    interrupted. Most systems need PyTorch, which the extra named baselines
    brings.

    On your own graph (--labels with --edges, --features or both) a share of
    the labels of each class is held back, and every system is tested on it.
    """
    from gpgc_lab.comparison import summary as comparison
    from gpgc_lab.comparison.bar_chart import draw_accuracies
    from gpgc_lab.comparison.make_task import known_task
    from gpgc_lab.comparison.runs import RunOptions
    from gpgc_lab.datasets.image_graphs import IMAGES
    from gpgc_lab.tables import write_tables

    folder = StudyFolder.of(out, "comparison")
    with step_line() as progress:
        progress("loading")
        if dataset is not None:
            if labels is not None or edges is not None:
                raise InputError("dataset must be left out where --labels or --edges are given")
            task = known_task(dataset, features or "pca", data_dir, split_seed)
            given, notes = [dataset], []
            if dataset in IMAGES:
                notes = [f"Features: {features or 'pca'}; the paper's are of a network it trained."]
        elif labels is not None:
            path = None if features is None else Path(features)
            task = _own(edges, path, labels, held_back, neighbors, split_seed)
            n_test, n_train = len(task.test), len(task.problem.train)
            given = ["--labels", labels.name, "--held-back", f"{held_back:g}"]
            notes = [
                f"{held_back:.0%} of the labels of each class are held back as test labels: "
                f"{n_test} of {n_test + n_train}, drawn with seed {split_seed}; the other "
                f"{n_train} train every system."
            ]
        else:
            raise InputError("one of DATASET and --labels must be given, got neither")
        systems = comparison.wanted_systems(methods, task)
        given += ["--edges", edges.name] if edges else []
        given += ["--features", features] if features else []
        command = ["gpgc", "compare", *given, "--methods", methods, "--seeds", str(seeds)]
        options = RunOptions(shlex.join(command), time_limit, jobs, fresh)
        runs = comparison.compare(task, systems, seeds, folder, options, progress)
    summaries = comparison.summarise(task.name, runs)
    comparison.screen_table(task.name, summaries, notes).show()
    table = comparison.compare_table(task.name, summaries, notes)
    written = write_tables([table], folder.out, table.name)
    for file in (*written, *draw_accuracies(task.name, summaries, folder.out)):
        typer.echo(f"written: {file}")
    if not any(summary.done for summary in summaries):
        raise typer.Exit(1)


def _own(
    edges: Path | None,
    features: Path | None,
    labels: Path,
    held_back: float,
    neighbors: int,
    split_seed: int,
) -> Task:
    from gpgc.problem.read import read_problem
    from gpgc_lab import published
    from gpgc_lab.comparison.make_task import own_task
    from gpgc_lab.datasets.catalogue import NAMES

    files = read_problem(edges, features, labels)
    stem = (edges or features or labels).stem
    name = f"own_{stem}" if stem in published.DATASETS or stem in NAMES else stem
    return own_task(
        name,
        files.features,
        files.adjacency,
        files.y,
        held_back=held_back,
        n_neighbors=neighbors,
        split_seed=split_seed,
    )
