"""`gpgc evaluate`: how good the labels are on one's own graph, by hiding some that are known."""

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
    LabelsOption,
    ModelOption,
    NeighborsOption,
    NodesOption,
    NoiseOption,
    QuietOption,
    UnlabelledOption,
    neighbors_of,
    reading,
    settings_of,
)

COLUMNS = ("id", "label", "predicted", "probability")


def evaluate(
    labels: LabelsOption,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV to write: id, label, predicted, probability, a row a label; "
            "- is standard output."
        ),
    ] = None,
    edges: EdgesOption = None,
    features: FeaturesOption = None,
    nodes: NodesOption = None,
    column: ColumnOption = None,
    encode: EncodeOption = None,
    unlabelled: UnlabelledOption = None,
    neighbors: NeighborsOption = None,
    splits: Annotated[
        int, typer.Option(min=2, help="In how many parts the labels are cut, each hidden once.")
    ] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the cut.")] = 0,
    model: ModelOption = "broad",
    base_kernel: KernelOption = "inner_product",
    depth: DepthOption = 2,
    noise: NoiseOption = "loo",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say how good the labels are on your own graph, by hiding some that are known.

    The labels are cut into parts; each part is hidden once and predicted from the others, while
    its nodes stay in the graph. What comes out holds for nodes drawn like the labelled ones.
    """
    import numpy as np

    import gpgc
    from gpgc.cli.files import check_out, read_graph_files
    from gpgc.cli.output import peak_memory_mb, show, write_rows
    from gpgc.compute.progress import progress

    if out is not None:
        check_out(out, [edges, features, labels, nodes])
    options = reading(nodes, column, encode)
    with progress("reading"):
        graph = read_graph_files(edges, features, labels, unlabelled, **options)
    start = time.perf_counter()
    settings = settings_of(model, base_kernel, depth, noise) | neighbors_of(neighbors, edges)
    with progress("hiding labels in turn"):
        found = gpgc.evaluate(
            graph.table,
            graph.labels,
            graph.edges,
            sample_weight=graph.weights,
            n_splits=splits,
            random_state=seed,
            **settings,
        )
    if out is not None:
        best = np.searchsorted(found.classes, found.predicted)
        rows = [
            (graph.ids[node], graph.labels[node], found.classes[code], f"{row[code]:.6g}")
            for node, code, row in zip(found.nodes, best, found.probabilities, strict=True)
        ]
        write_rows(out, COLUMNS, rows)
    lowest, highest = float(np.min(found.accuracies)), float(np.max(found.accuracies))
    result = {
        "dataset": str(edges or features),
        "nodes": len(graph.ids),
        "encoded": graph.encoded,
        "classes": len(found.classes),
        "labels": len(found.nodes),
        "accuracy": found.accuracy,
        "accuracy_of_splits": f"{lowest:.4g} to {highest:.4g}, {splits} splits",
        "log_loss": found.log_loss,
        "calibration_error": found.calibration_error,
        "confused": _confused(found.confusion.tolist(), [str(name) for name in found.classes]),
        "seconds": round(time.perf_counter() - start, 4),
        "peak_memory_mb": peak_memory_mb(),
        "out": None if out is None else str(out),
    }
    show(result, as_json, quiet)


def _confused(confusion: list[list[int]], names: list[str]) -> list[str]:
    """Return which classes were taken for which, the most frequent first."""
    pairs = [
        (count, true, said)
        for true, row in enumerate(confusion)
        for said, count in enumerate(row)
        if count and true != said
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[1:]))
    return [f"{names[true]} taken for {names[said]}: {count}" for count, true, said in pairs[:10]]
