"""`gpgc regress`: numbers in place of classes."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from gpgc.cli.options import (
    ColumnOption,
    DepthOption,
    EdgesOption,
    EncodeOption,
    FeaturesOption,
    JsonOption,
    KernelOption,
    ModelOption,
    NeighborsOption,
    NodesOption,
    NoiseOption,
    QuietOption,
    SaveOption,
    UnlabelledOption,
    neighbors_of,
    reading,
    settings_of,
)

COLUMNS = ("id", "value", "std", "low", "high", "given")


def regress(
    labels: Annotated[Path, typer.Option(help="Table with the columns id,value.")],
    out: Annotated[
        Path,
        typer.Option(
            help="CSV to write: id, value, std, low, high, given, a row a node; "
            "- is standard output."
        ),
    ],
    edges: EdgesOption = None,
    features: FeaturesOption = None,
    nodes: NodesOption = None,
    column: ColumnOption = None,
    encode: EncodeOption = None,
    unlabelled: UnlabelledOption = None,
    neighbors: NeighborsOption = None,
    level: Annotated[
        float, typer.Option(help="How often the interval from low to high holds a new value.")
    ] = 0.9,
    save: SaveOption = None,
    model: ModelOption = "broad",
    base_kernel: KernelOption = "inner_product",
    depth: DepthOption = 2,
    noise: NoiseOption = "loo",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Predict a number for each node of your own graph, with intervals.

    The column std is the standard deviation of the value without noise; low and high hold a new
    measurement with the probability --level, calibrated on the given values, each predicted from
    the others. Edges and features are those of classify.
    """
    import numpy as np

    from gpgc.cli.files import check_out, read_graph_files
    from gpgc.cli.output import peak_memory_mb, show, write_rows
    from gpgc.compute.progress import progress
    from gpgc.estimators import GPGCRegressor
    from gpgc.files.cells import parse_number

    inputs = [edges, features, labels, nodes]
    check_out(out, inputs)
    if save is not None:
        check_out(save, [*inputs, out], "--save")
    options = reading(nodes, column, encode)
    with progress("reading"):
        graph = read_graph_files(edges, features, labels, unlabelled, **options, answer="value")
    y = [
        np.nan if text is None else parse_number(text, f"{labels}, node {name}", "value")
        for name, text in zip(graph.ids, graph.labels, strict=True)
    ]
    start = time.perf_counter()
    settings = settings_of(model, base_kernel, depth, noise) | neighbors_of(neighbors, edges)
    with progress("predicting"):
        estimator = GPGCRegressor(**settings)
        estimator.fit(graph.table, y, graph.edges, sample_weight=graph.weights)
        value, std = estimator.predict(return_std=True)
        low, high = estimator.predict_interval(level)
    numbers = np.column_stack([value, std, low, high])
    given = np.isfinite(y).astype(int)
    rows = [
        (name, *(f"{number:.6g}" for number in row), is_given)
        for name, row, is_given in zip(graph.ids, numbers, given, strict=True)
    ]
    write_rows(out, COLUMNS, rows)
    if save is not None:
        estimator.save(save)
    left_out = estimator.leave_one_out()[0]
    error = float(np.sqrt(np.mean((left_out - estimator.given_values()) ** 2)))
    result = {
        "dataset": str(edges or features),
        "model": f"{model}, {base_kernel}, depth {depth}",
        "nodes": len(graph.ids),
        "encoded": graph.encoded,
        "labels": int(given.sum()),
        "unlabelled": graph.n_marked,
        "standardised": estimator.standardisation_,
        "noise_variance": estimator.noise_variance_,
        "loo_error": error if given.sum() > 1 else None,
        "seconds": round(time.perf_counter() - start, 4),
        "peak_memory_mb": peak_memory_mb(),
        "saved": None if save is None else str(save),
        "out": str(out),
    }
    show(result, as_json, quiet)
