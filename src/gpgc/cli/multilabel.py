"""`gpgc classify --several labels`: any number of labels a node."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from gpgc.cli.files import check_out, read_graph_files
from gpgc.cli.further import check_probabilities
from gpgc.cli.output import peak_memory_mb, write_rows
from gpgc.compute.progress import progress
from gpgc.estimators import GPGCRegressor
from gpgc.estimators.multilabel import MultilabelClassifier


def classify_many(
    edges: Path | None,
    features: Path | None,
    labels: Path,
    out: Path,
    settings: dict[str, Any],
    unlabelled: Sequence[str] | None,
    probabilities: str,
    reading: Mapping[str, Any],
) -> dict[str, Any]:
    """Give the nodes of a user's files any number of labels, and write a row for each."""
    check_probabilities(probabilities)
    check_out(out, [edges, features, labels, reading.get("nodes")])
    with progress("reading"):
        graph = read_graph_files(edges, features, labels, unlabelled, **reading)
    start = time.perf_counter()
    model = MultilabelClassifier(GPGCRegressor(**settings))
    with progress("labelling"):
        model.fit(graph.table, graph.labels, graph.edges)
        found = model.predict_labels()
    given = np.array([one is not None for one in graph.labels])
    columns = ["id", "labels", "given"]
    rows: list[tuple[object, ...]] = [
        (name, json.dumps(chosen, ensure_ascii=False), int(known))
        for name, chosen, known in zip(graph.ids, found, given, strict=True)
    ]
    if probabilities == "all":
        columns += [f"probability of {label}" for label in model.classes_]
        numbers = [[f"{value:.6g}" for value in row] for row in model.predict_proba()]
        rows = [(*row, *more) for row, more in zip(rows, numbers, strict=True)]
    write_rows(out, columns, rows)
    truth = np.nan_to_num(model.estimator_.given_values()).round().astype(int)
    left_out = model.leave_one_out_proba() >= model.thresholds_
    return {
        "dataset": str(edges or features),
        "nodes": len(graph.ids),
        "classes": len(model.classes_),
        "labels": int(given.sum()),
        "encoded": graph.encoded,
        "unlabelled": graph.n_marked,
        "labels_a_node": float(np.mean([len(one) for one in found])),
        "thresholds": {
            str(label): float(value)
            for label, value in zip(model.classes_, model.thresholds_, strict=True)
        },
        "loo_f1": float(f1_score(truth, left_out, average="micro", zero_division=0)),
        "seconds": round(time.perf_counter() - start, 4),
        "peak_memory_mb": peak_memory_mb(),
        "out": str(out),
    }
