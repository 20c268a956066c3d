"""The jobs behind the commands, each returning what there is to print."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from gpgc.cli.files import check_out, read_candidates, read_costs, read_graph_files
from gpgc.cli.further import Further, calibration_error
from gpgc.cli.output import peak_memory_mb, write_rows
from gpgc.compute.progress import progress
from gpgc.datasets import load_dataset
from gpgc.datasets.catalogue import NAMES
from gpgc.datasets.image_graphs import IMAGES, load_image_graph
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.labelling.export import PREDICTION_COLUMNS, prediction_rows
from gpgc.labelling.suggest import suggest


def run_dataset(
    name: str, data_dir: Path | None, seed: int, features: str | None, settings: dict[str, Any]
) -> dict[str, Any]:
    """Fit a known data set's training labels and score the test nodes."""
    if name not in (*NAMES, *IMAGES):
        raise InputError(f"dataset must be one of {', '.join((*NAMES, *IMAGES))}, got {name!r}")
    if features is not None and name not in IMAGES:
        *most, last = IMAGES
        raise InputError(f"--features applies to {', '.join(most)} and {last} only, got {name!r}")
    if data_dir is not None and name == "digits":
        raise InputError("--data-dir is not used by digits, which need no download")
    if seed != 0 and name in NAMES and name != "digits":
        raise InputError(f"--seed is not used by {name}, whose split is the public one")
    with progress(f"loading {name}"):
        if name in IMAGES:
            data = load_image_graph(name, features or "pca", data_dir, seed)
        else:
            data = load_dataset(name, data_dir=data_dir, seed=seed)
    y = np.full(len(data.labels), -1)
    y[data.train] = data.labels[data.train]
    start = time.perf_counter()
    with progress(f"labelling {name}"):
        estimator = GPGCClassifier(**settings).fit(data.features, y, adjacency=data.adjacency)
        predicted, probabilities = estimator.predict(), estimator.predict_proba()
    seconds = time.perf_counter() - start
    test, truth = data.test, data.labels[data.test]
    return {
        "dataset": name,
        **_describe(estimator, data.features.shape[1]),
        "test_nodes": len(test),
        "accuracy": float(np.mean(predicted[test] == truth)),
        "log_loss": float(log_loss(truth, probabilities[test], labels=estimator.classes_)),
        "seconds": round(seconds, 4),
        "peak_memory_mb": peak_memory_mb(),
    }


def classify_files(
    edges: Path | None,
    features: Path | None,
    labels: Path,
    out: Path,
    settings: dict[str, Any],
    unlabelled: Sequence[str] | None = None,
    further: Further | None = None,
    reading: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Label the nodes of a user's files and write a row for each."""
    further, options = further or Further(), dict(reading or {})
    inputs = [edges, features, labels, options.get("nodes"), *further.inputs]
    check_out(out, inputs)
    if further.report is not None:
        check_out(further.report, [*inputs, out], "--report")
    if further.save is not None:
        check_out(further.save, [*inputs, out, further.report], "--save")
    with progress("reading"):
        graph = read_graph_files(edges, features, labels, unlabelled, **options)
    start = time.perf_counter()
    with progress("labelling"):
        estimator = GPGCClassifier(**settings)
        estimator.fit(graph.table, graph.labels, graph.edges, sample_weight=graph.weights)
        further.prepare(estimator, graph.ids)
        predictions = prediction_rows(graph.ids, estimator, further.with_std(len(graph.ids)))
        rows = list(further.rows(predictions, graph.ids, estimator))
    seconds = time.perf_counter() - start
    write_rows(out, [*PREDICTION_COLUMNS, *further.columns(estimator)], rows)
    further.write_model(estimator)
    with progress("report"):
        further.write_report(estimator, graph.ids, str(edges or features), graph.drawn)
    return {
        "dataset": str(edges or features),
        **_describe(estimator, None if graph.features is None else graph.features.shape[1]),
        "isolated": int(np.sum(np.diff(estimator.adjacency_.indptr) == 0)),
        "encoded": graph.encoded,
        "unlabelled": graph.n_marked,
        "accuracy": None,
        "log_loss": None,
        "loo_accuracy": _leave_one_out_accuracy(estimator),
        "expected_accuracy": further.expected_accuracy(estimator, graph.drawn),
        "loo_calibration_error": calibration_error(estimator),
        "seconds": round(seconds, 4),
        "peak_memory_mb": peak_memory_mb(),
        "report": None if further.report is None else str(further.report),
        "saved": None if further.save is None else str(further.save),
        "out": str(out),
    }


def suggest_files(
    edges: Path | None,
    features: Path | None,
    labels: Path | None,
    out: Path,
    n: int,
    strategy: str,
    candidates: Path | None,
    costs: Path | None,
    settings: dict[str, Any],
    unlabelled: Sequence[str] | None = None,
    reading: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Choose which nodes of a user's files to label next and write a row for each."""
    options = dict(reading or {})
    check_out(out, [edges, features, labels, candidates, costs, options.get("nodes")])
    also = {"id": candidates or costs, "cost": costs}
    also_read = [name for name, path in also.items() if path is not None]
    with progress("reading"):
        graph = read_graph_files(
            edges, features, labels, unlabelled, **options, also_read=also_read
        )
        called = options.get("columns", {})
        allowed = None if candidates is None else read_candidates(candidates, graph.ids, called)
        prices = None if costs is None else read_costs(costs, graph.ids, called)
    start = time.perf_counter()
    y = graph.labels if graph.labels is not None else np.full(len(graph.ids), None)
    with progress("choosing"):
        nodes, gains = suggest(
            graph.table,
            y,
            graph.edges,
            n=n,
            strategy=strategy,  # type: ignore[arg-type]
            candidates=allowed,
            costs=prices,
            **settings,
        )
    rows = (
        (rank, graph.ids[node], f"{gain:.6g}")
        for rank, (node, gain) in enumerate(zip(nodes, gains, strict=True), 1)
    )
    write_rows(out, ["rank", "id", "gain"], rows)
    return {
        "dataset": str(edges or features),
        "nodes": len(graph.ids),
        "encoded": graph.encoded,
        "labels": sum(label is not None for label in y),
        "unlabelled": None if graph.labels is None else graph.n_marked,
        "suggested": [graph.ids[node] for node in nodes],
        "seconds": round(time.perf_counter() - start, 4),
        "peak_memory_mb": peak_memory_mb(),
        "out": str(out),
    }


def _leave_one_out_accuracy(estimator: GPGCClassifier) -> float | None:
    """Return the accuracy of leaving each label out, None where every class has but one."""
    given = estimator.transduction_[estimator.labelled_nodes_]
    if len(np.unique(given)) == len(given):
        return None
    return float(np.mean(estimator.leave_one_out_predict() == given))


def _describe(estimator: GPGCClassifier, n_features: int | None) -> dict[str, Any]:
    return {
        "model": f"{estimator.model}, {estimator.base_kernel}, depth {estimator.depth}",
        "nodes": estimator.covariance_.n_nodes,
        "edges": estimator.adjacency_.nnz // 2,
        "features": n_features,
        "classes": len(estimator.classes_),
        "labels": len(estimator.labelled_nodes_),
        "noise_variance": estimator.noise_variance_,
        "space": estimator.space_,
        "view_weights": {view: float(w) for view, w in estimator.view_weights_.items()},
        "standardised": estimator.standardisation_,
        "approximations": list(estimator.approximations_),
    }
