"""`gpgc predict`: nodes that join a fitted graph, nothing refitted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gpgc.cli.options import (
    ColumnOption,
    FeaturesOption,
    JsonOption,
    QuietOption,
    parse_pairs,
)


def predict(
    model: Annotated[Path, typer.Argument(help="File that classify or regress wrote by --save.")],
    out: Annotated[
        Path,
        typer.Option(
            help="CSV to write, a row a new node: id, label, probability, std, given, or "
            "id, value, std, low, high, given; - is standard output."
        ),
    ],
    features: FeaturesOption = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            help="Table source,target[,weight] of the new nodes' links with each other and with "
            "those of the model; left out, their nearest neighbours if the model was made so."
        ),
    ] = None,
    column: ColumnOption = None,
    level: Annotated[
        float | None,
        typer.Option(
            help="How often the interval from low to high holds a new value, for models of gpgc "
            "regress; 0.9 by default."
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Label nodes that join the graph of a saved model, or predict their numbers.

    The new nodes are the rows of --features, or where the model has none the ids in --edges that it
    does not know. The nodes of the model keep their links and answers.
    """
    from gpgc.cli.files import check_out
    from gpgc.cli.joining import join_files, joined_rows
    from gpgc.cli.output import peak_memory_mb, show, write_rows
    from gpgc.compute.progress import progress
    from gpgc.estimators import load

    check_out(out, [model, features, edges])
    with progress("predicting"):
        estimator = load(model)
        joined = join_files(estimator, features, edges, parse_pairs(column, "--column"))
        header, rows = joined_rows(estimator, joined, level)
    write_rows(out, header, rows)
    result = {
        "dataset": str(model),
        "nodes": len(estimator.prior_.nodes),
        "joined": len(rows),
        "peak_memory_mb": peak_memory_mb(),
        "out": str(out),
    }
    show(result, as_json, quiet)
