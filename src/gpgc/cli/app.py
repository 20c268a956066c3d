"""Commands and their options."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Annotated, NoReturn

import typer

import gpgc
from gpgc.cli.check import check
from gpgc.cli.explain import explain
from gpgc.cli.extensions import ExtensibleGroup
from gpgc.cli.label import label
from gpgc.cli.options import (
    ActivationOption,
    ColumnOption,
    DecisionOption,
    DepthOption,
    DrawnOption,
    EdgesOption,
    EncodeOption,
    FeaturesOption,
    JsonOption,
    KernelOption,
    LearnOption,
    MemoryOption,
    ModelOption,
    NeighborsOption,
    NodesOption,
    NoiseOption,
    QuietOption,
    SaveOption,
    SchedulerOption,
    StandardiseOption,
    TangentOption,
    UnlabelledOption,
    WorkersOption,
    reading,
    settings_of,
    standardise_of,
)
from gpgc.cli.predict import predict
from gpgc.cli.regress import regress
from gpgc.errors import DataError, InputError

app = typer.Typer(
    cls=ExtensibleGroup,
    help="Label a handful of nodes of a graph; get labels, probabilities and error bars for all.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (label, check, explain, regress, predict):
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gpgc {gpgc.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
def run(
    dataset: Annotated[
        str,
        typer.Argument(
            help="digits (no download), cora, citeseer, pubmed, mnist, svhn or cifar10."
        ),
    ] = "digits",
    features: Annotated[
        str | None,
        typer.Option(
            help="Of images: pca (the default), pixels; with gpgc-lab conv-large, compact or "
            "pretrained; or an .npz that gpgc train wrote."
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Folder with the data; else $GPGC_DATA, the cache, a download."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split, where it is drawn.")] = 0,
    model: ModelOption = "broad",
    base_kernel: KernelOption = "inner_product",
    activation: ActivationOption = "relu",
    kernel: TangentOption = "nngp",
    learn: LearnOption = False,
    depth: DepthOption = 2,
    noise: NoiseOption = "loo",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Run the whole job on a known data set and print what came out."""
    from gpgc.cli.jobs import run_dataset
    from gpgc.cli.output import show

    settings = settings_of(model, base_kernel, depth, noise, activation, kernel, learn)
    show(run_dataset(dataset, data_dir, seed, features, settings), as_json, quiet)


@app.command()
def classify(
    labels: Annotated[Path, typer.Option(help="Table with the columns id,label.")],
    out: Annotated[
        Path,
        typer.Option(
            help="CSV to write: id,label,probability,std,given, a row a node; - is standard output."
        ),
    ],
    edges: EdgesOption = None,
    features: FeaturesOption = None,
    nodes: NodesOption = None,
    column: ColumnOption = None,
    encode: EncodeOption = None,
    unlabelled: UnlabelledOption = None,
    neighbors: NeighborsOption = 10,
    sets: Annotated[
        float | None,
        typer.Option(
            metavar="LEVEL",
            help="Add the column set: classes that hold the true one with this probability.",
        ),
    ] = None,
    held_out: Annotated[
        Path | None,
        typer.Option(help="Table id,label of labels kept out, so that --sets is guaranteed."),
    ] = None,
    probabilities: Annotated[
        str, typer.Option(help="best, or all to add a column for the probability of each class.")
    ] = "best",
    save: SaveOption = None,
    novelty: Annotated[
        bool, typer.Option("--novelty", help="Add the column novelty: how little a node belongs.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="HTML page to write about the result, in one file.")
    ] = None,
    std: Annotated[
        bool, typer.Option("--std", help="Fill the column std on over 100,000 nodes too: slow.")
    ] = False,
    calibrate: Annotated[
        Path | None,
        typer.Option(help="Table id,label of labels kept out, to calibrate probabilities by."),
    ] = None,
    drawn: DrawnOption = None,
    standardise: StandardiseOption = "auto",
    decision: DecisionOption = "probable",
    scheduler: SchedulerOption = None,
    workers: WorkersOption = None,
    memory_limit: MemoryOption = None,
    model: ModelOption = "broad",
    base_kernel: KernelOption = "inner_product",
    activation: ActivationOption = "relu",
    kernel: TangentOption = "nngp",
    learn: LearnOption = False,
    depth: DepthOption = 2,
    noise: NoiseOption = "loo",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Label the nodes of your own graph.

    Either --edges or --features may be left out: without edges the graph is made of each node's
    nearest neighbours by features, without features the graph alone speaks. Tables are CSV or TSV,
    gzipped or not, or Parquet; - is standard input. Columns of text become TF-IDF, categories are
    encoded, missing values are flagged, and what was done is printed. Labels may be a column of the
    features: name the file twice. The accuracy by leave-one-out is far too low where labels were
    chosen by suggest or label, which ask for nodes that others say little about; what to expect is
    known by labels drawn at random alone (--labels-drawn).
    """
    from gpgc.cli.cluster import ClusterOptions, classify_in_blocks
    from gpgc.cli.further import Further
    from gpgc.cli.jobs import classify_files
    from gpgc.cli.output import show

    settings = {
        **settings_of(model, base_kernel, depth, noise, activation, kernel, learn),
        "n_neighbors": neighbors,
    }
    further = Further(calibrate, sets, held_out, novelty, report, std, probabilities, save, drawn)
    options = reading(nodes, column, encode)
    where = ClusterOptions(scheduler, workers, memory_limit)
    files = (edges, features, labels, out)
    if where.asked:
        result = classify_in_blocks(*files, settings, unlabelled, further, options, where)
    else:
        settings |= {"standardise": standardise_of(standardise), "decision": decision}
        result = classify_files(*files, settings, unlabelled, further, options)
    show(result, as_json, quiet)


@app.command()
def suggest(
    out: Annotated[
        Path,
        typer.Option(help="CSV to write: rank,id,gain, a row a suggestion; - is standard output."),
    ],
    edges: EdgesOption = None,
    features: FeaturesOption = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Table with the columns id,label; none to start from nothing."),
    ] = None,
    nodes: NodesOption = None,
    column: ColumnOption = None,
    encode: EncodeOption = None,
    unlabelled: UnlabelledOption = None,
    n: Annotated[int, typer.Option("--n", "-n", min=1, help="How many nodes to suggest.")] = 10,
    strategy: Annotated[
        str, typer.Option(help="weighted, variance, error or margin.")
    ] = "weighted",
    candidates: Annotated[
        Path | None, typer.Option(help="Table with the column id: nodes that may be suggested.")
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(help="Table with the columns id,cost; 1 where a node is missing.")
    ] = None,
    neighbors: NeighborsOption = 10,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say which nodes of your own graph to label next."""
    from gpgc.cli.jobs import suggest_files
    from gpgc.cli.output import show

    settings = {"n_neighbors": neighbors}
    options = reading(nodes, column, encode)
    result = suggest_files(
        edges, features, labels, out, n, strategy, candidates, costs, settings, unlabelled, options
    )
    show(result, as_json, quiet)
    if len(result["suggested"]) < n:
        left = len(result["suggested"])
        sys.stderr.write(f"gpgc: {n} nodes were asked for, {left} are left to suggest\n")


@app.command()
def features(
    source: Annotated[
        Path, typer.Argument(help="Folder of images, or a table with the column path.")
    ],
    network: Annotated[
        str, typer.Option(help="efficientnet-lite0 ... 4, a torch file, or a model of timm.")
    ],
    out: Annotated[Path, typer.Option(help="The .npz to write, for --features.")],
    side: Annotated[
        int | None,
        typer.Option(min=1, help="Pixels to which images are scaled; else as in its training."),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Images at a time.")] = 32,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make features of your own images with a trained network (extra images).

    Images that cannot be read are named and left out. A call that was interrupted goes on.
    """
    from gpgc.cli.image_features import features_of_images
    from gpgc.cli.output import show

    show(features_of_images(source, network, out, side, batch_size), as_json, quiet)


def main() -> None:
    """Run the command line; wrong input ends with one sentence and exit code 2, Ctrl-C with 130."""
    warnings.showwarning = _show_warning
    try:
        app()
    except (InputError, DataError, OSError) as error:
        _stop(str(error))
    except MemoryError as error:
        _stop(f"not enough memory: {error}")
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _stop(message: str) -> NoReturn:
    sys.stderr.write(f"gpgc: {message}\n")
    raise SystemExit(2) from None


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one sentence, without the place in the code that a user cannot see."""
    sys.stderr.write(f"gpgc: warning: {message}\n")
