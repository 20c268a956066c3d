"""`gpgc classify`: labels for all nodes of a user's own files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    neighbors_of,
    reading,
    refuse_others,
    settings_of,
    standardise_of,
)

IN_BLOCKS = {
    *("labels", "out", "edges", "features", "unlabelled", "standardise", "scheduler", "workers"),
    *("memory_limit", "model", "base_kernel", "activation", "depth", "noise", "as_json", "quiet"),
}
"""Options that have a meaning beside ``--scheduler``."""

SEVERAL_LABELS = {
    *("labels", "out", "edges", "features", "nodes", "column", "encode", "unlabelled", "several"),
    *("neighbors", "probabilities", "standardise", "model", "base_kernel", "activation", "kernel"),
    *("learn", "depth", "noise", "as_json", "quiet"),
}
"""Options that have a meaning beside ``--several labels``."""


def classify(
    context: typer.Context,
    labels: Annotated[Path, typer.Option(help="Table with the columns id,label.")],
    out: Annotated[
        Path,
        typer.Option(
            help="CSV to write: id, label, probability, std, given, a row a node; "
            "- is standard output."
        ),
    ],
    edges: EdgesOption = None,
    features: FeaturesOption = None,
    nodes: NodesOption = None,
    column: ColumnOption = None,
    encode: EncodeOption = None,
    unlabelled: UnlabelledOption = None,
    several: Annotated[
        str | None,
        typer.Option(
            "--several",
            metavar="votes|labels",
            help="What several rows of a node in --labels are: votes for one label, or several "
            "labels. Without it each node has one row.",
        ),
    ] = None,
    neighbors: NeighborsOption = None,
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
    nearest neighbours by features; without features the graph alone is used. Tables are CSV or TSV,
    gzipped or not, or Parquet; - is standard input. Labels may be a column of the features: name
    the file twice.

    Columns of text become TF-IDF, categories are encoded, missing values are filled and flagged,
    and what was done is printed.

    The accuracy by leave-one-out is far too low where labels were chosen by gpgc suggest or gpgc
    label, which ask for hard nodes. Only labels that were drawn at random tell what accuracy to
    expect (--labels-drawn).
    """
    from gpgc.cli.cluster import classify_in_blocks, cluster_options
    from gpgc.cli.further import Further
    from gpgc.cli.jobs import classify_files
    from gpgc.cli.output import show

    settings = settings_of(model, base_kernel, depth, noise, activation, kernel, learn)
    settings["standardise"] = standardise_of(standardise)
    files = (edges, features, labels, out)
    if several == "labels":
        refuse_others(context, SEVERAL_LABELS, "--several labels")
    where = cluster_options(scheduler, workers, memory_limit)
    if where is not None:
        refuse_others(context, IN_BLOCKS, "--scheduler")
        show(classify_in_blocks(*files, settings, unlabelled, where), as_json, quiet)
        return
    settings |= neighbors_of(neighbors, edges)
    options = reading(nodes, column, encode, several)
    if several == "labels":
        from gpgc.cli.multilabel import classify_many

        found = classify_many(*files, settings, unlabelled, probabilities, options)
        show(found, as_json, quiet)
        return
    further = Further(
        calibrate,
        sets,
        held_out,
        novelty,
        report,
        std,
        probabilities,
        save,
        drawn,
        unlabelled,
        options["columns"],
    )
    settings["decision"] = decision
    show(classify_files(*files, settings, unlabelled, further, options), as_json, quiet)
