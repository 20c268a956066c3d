"""`gpgc explain`: why a node gets its label."""

from __future__ import annotations

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


def explain(
    node: Annotated[str, typer.Argument(help="The id of the node.")],
    labels: LabelsOption,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV to write: id, label, class, contribution, a row a label and class that it "
            "adds to, strongest first; - is standard output."
        ),
    ] = None,
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
    """Say why a node gets its label: the labelled nodes that decided it.

    Each label adds something to the score of its class; what all of them add, and what a class has
    without labels, is the score, and the probabilities are its softmax.
    """
    from gpgc.cli.files import check_out, read_graph_files
    from gpgc.cli.output import show, write_rows
    from gpgc.compute.progress import progress
    from gpgc.errors import InputError
    from gpgc.estimators import GPGCClassifier

    if out is not None:
        check_out(out, [edges, features, labels, nodes])
    options = reading(nodes, column, encode, only_votes(several))
    with progress("reading"):
        graph = read_graph_files(edges, features, labels, unlabelled, **options)
    if node not in graph.ids:
        raise InputError(f"node must be in the graph, got {node!r:.60}")
    settings = settings_of(model, base_kernel, depth, noise) | neighbors_of(neighbors, edges)
    estimator = GPGCClassifier(**settings)
    with progress("fitting"):
        estimator.fit(graph.table, graph.labels, graph.edges, sample_weight=graph.weights)
    found = estimator.explain(graph.ids.index(node))
    rows = [
        (graph.ids[labelled], given, found.classes[column], f"{row[column]:.6g}")
        for labelled, given, row in zip(found.nodes, found.given, found.contributions, strict=True)
        for column in row.nonzero()[0]
    ]
    if out is not None:
        write_rows(out, ("id", "label", "class", "contribution"), rows)
    best, *rival = found.deciding()
    shown = [f"{float(value):+.3f} to {name} by {who}" for who, _, name, value in rows[:10]]
    result = {
        "dataset": str(edges or features),
        "encoded": graph.encoded,
        "node": node,
        "label": str(found.predicted),
        "score": float(found.total[best]),
        "rival": str(found.classes[rival[0]]) if rival else None,
        "rival_score": float(found.total[rival[0]]) if rival else None,
        "views": [f"{part[best]:+.3f} by {name}" for name, part in found.views.items()],
        "decided_by": shown,
        "out": None if out is None else str(out),
    }
    show(result, as_json, quiet)
