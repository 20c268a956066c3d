"""`gpgc suggest`: which nodes to label next."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gpgc.cli.options import (
    ColumnOption,
    EdgesOption,
    EncodeOption,
    FeaturesOption,
    JsonOption,
    NeighborsOption,
    NodesOption,
    QuietOption,
    UnlabelledOption,
    neighbors_of,
    reading,
    refuse_trust,
)


def suggest(
    out: Annotated[
        Path,
        typer.Option(
            help="CSV to write: rank, id, gain, a row a suggestion; - is standard output."
        ),
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
    neighbors: NeighborsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say which nodes of your own graph to label next."""
    from gpgc.cli.jobs import suggest_files
    from gpgc.cli.output import show

    settings = neighbors_of(neighbors, edges)
    options = reading(nodes, column, encode)
    refuse_trust(options["columns"], "gpgc suggest")
    result = suggest_files(
        edges, features, labels, out, n, strategy, candidates, costs, settings, unlabelled, options
    )
    show(result, as_json, quiet)
    if len(result["suggested"]) < n:
        left = len(result["suggested"])
        sys.stderr.write(f"gpgc: {n} nodes were asked for, {left} are left to suggest\n")
