"""`gpgc check`: which of the given labels are wrong."""

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
    SeveralOption,
    UnlabelledOption,
    neighbors_of,
    only_votes,
    reading,
    settings_of,
)

COLUMNS = ("id", "given", "likely", "probability")
SUSPICIOUS = 0.5
"""Probability of being wrong from which on a label is counted as suspicious."""


def check(
    labels: LabelsOption,
    out: Annotated[
        Path,
        typer.Option(
            help="CSV to write: id, given, likely, probability, a row a label, worst first; "
            "- is standard output."
        ),
    ],
    edges: EdgesOption = None,
    features: FeaturesOption = None,
    nodes: NodesOption = None,
    column: ColumnOption = None,
    encode: EncodeOption = None,
    unlabelled: UnlabelledOption = None,
    several: SeveralOption = None,
    neighbors: NeighborsOption = None,
    model: ModelOption = "broad",
    base_kernel: KernelOption = "inner_product",
    depth: DepthOption = 2,
    noise: NoiseOption = "loo",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say which of your labels are probably wrong.

    Each label is compared with what the others say about its node. The column probability says how
    likely the given label is wrong; their sum is the expected number of errors.
    """
    from gpgc.cli.files import check_out, read_graph_files
    from gpgc.cli.output import peak_memory_mb, show, write_rows
    from gpgc.compute.progress import progress
    from gpgc.estimators import GPGCClassifier

    check_out(out, [edges, features, labels, nodes])
    options = reading(nodes, column, encode, only_votes(several))
    with progress("reading"):
        graph = read_graph_files(edges, features, labels, unlabelled, **options)
    start = time.perf_counter()
    settings = settings_of(model, base_kernel, depth, noise) | neighbors_of(neighbors, edges)
    estimator = GPGCClassifier(**settings)
    with progress("checking"):
        estimator.fit(graph.table, graph.labels, graph.edges, sample_weight=graph.weights)
        found = estimator.check_labels()
    rows = [
        (graph.ids[node], given, likely, f"{probability:.6g}")
        for node, given, likely, probability in zip(
            found.nodes, found.given, found.likely, found.probability, strict=True
        )
    ]
    write_rows(out, COLUMNS, rows)
    worst = rows[: int((found.probability > SUSPICIOUS).sum())]
    result = {
        "dataset": str(edges or features),
        "nodes": len(graph.ids),
        "encoded": graph.encoded,
        "labels": len(found),
        "expected_errors": round(found.expected_errors, 2),
        "suspicious": [f"{name}: {given} → {likely}" for name, given, likely, _ in worst],
        "seconds": round(time.perf_counter() - start, 4),
        "peak_memory_mb": peak_memory_mb(),
        "out": str(out),
    }
    show(result, as_json, quiet)
