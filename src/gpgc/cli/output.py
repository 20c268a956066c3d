"""What the commands print: one neat table, or one JSON object."""

from __future__ import annotations

import csv
import io
import json
import stat
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gpgc.cli.command import Shown
from gpgc.errors import InputError
from gpgc.files import STANDARD_STREAM, write_file

TITLES = {
    "dataset": "data set",
    "model": "model",
    "network": "network",
    "images": "images",
    "nodes": "nodes",
    "edges": "edges",
    "isolated": "nodes without links",
    "features": "features",
    "encoded": "columns encoded",
    "standardized": "units of columns",
    "classes": "classes",
    "labels": "labels given",
    "unlabelled": "marked as unlabelled",
    "suggested": "label next",
    "node": "node",
    "label": "label",
    "score": "score",
    "rival": "next best label",
    "rival_score": "its score",
    "views": "score by view",
    "decided_by": "labels that decided",
    "labels_a_node": "labels a node",
    "thresholds": "thresholds",
    "loo_f1": "F1, leave-one-out",
    "expected_errors": "wrong labels, expected",
    "suspicious": "probably wrong",
    "view_weights": "weights of the views",
    "noise_variance": "noise variance",
    "space": "solver",
    "approximations": "approximations",
    "test_nodes": "test nodes",
    "accuracy": "accuracy",
    "accuracy_of_splits": "accuracy of the splits",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
    "confused": "confused",
    "loo_accuracy": "accuracy, leave-one-out",
    "expected_accuracy": "accuracy to expect",
    "loo_calibration_error": "calibration error, leave-one-out",
    "loo_error": "error, leave-one-out",
    "joined": "new nodes",
    "seconds": "seconds",
    "peak_memory_mb": "peak memory, MB",
    "skipped": "unreadable images",
    "report": "report",
    "saved": "model saved to",
    "out": "written to",
}

SOLVERS = {
    "function": "labels × labels",
    "weight": "columns × columns",
    "both": "labels × labels, columns × columns",
}
"""Size of the system that was solved."""


def show(result: Mapping[str, Any], shown: Shown) -> None:
    """Print a result as JSON or as a table; to standard error where ``--out -`` has the other."""
    result = {**result, "peak_memory_mb": _peak_memory_mb()}
    stream = sys.stderr if result.get("out") == str(STANDARD_STREAM) else sys.stdout
    if shown.as_json:
        stream.write(json.dumps(result, default=asdict) + "\n")
        return
    if shown.quiet:
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    title = Text(f"gpgc · {result['dataset']}", style="table.title")
    table = Table(show_header=False, title=title, title_justify="left")
    table.add_column(style="bold")
    table.add_column(justify="right", overflow="fold")
    for key, title_of_row in TITLES.items():
        if result.get(key) not in (None, []):
            shown_as = SOLVERS.get(result[key]) if key == "space" else None
            table.add_row(title_of_row, Text(shown_as or _format(result[key])))
        elif key == "loo_accuracy" and key in result:
            table.add_row(title_of_row, "–")
    Console(file=stream).print(table)


def described(estimator: Any) -> dict[str, Any]:
    """Return what there is to say about a fitted model."""
    classes, nodes = getattr(estimator, "classes_", None), estimator.prior_.nodes
    return {
        "model": f"{estimator.model}, {estimator.base_kernel}, depth {estimator.depth}",
        "nodes": len(nodes),
        "features": None if nodes.features is None else nodes.features.shape[1],
        "edges": estimator.adjacency_.nnz // 2,
        "classes": None if classes is None else len(classes),
        "labels": len(estimator.labelled_nodes_),
        "noise_variance": estimator.noise_variance_,
        "space": estimator.space_,
        "view_weights": {view: float(w) for view, w in estimator.view_weights_.items()},
        "standardized": estimator.standardization_,
        "approximations": list(estimator.approximations_),
    }


def check_out(out: Path, inputs: Iterable[Path | None], option: str = "--out") -> None:
    """Refuse to write over a file that is read, or into what is no folder; ``-`` is fine."""
    if out == STANDARD_STREAM:
        return
    if any(path is not None and path.resolve() == out.resolve() for path in inputs):
        raise InputError(
            f"{option} must not be one of the files that are read or written, got {out}"
        )
    if out.exists() and not out.is_dir() and not stat.S_ISREG(out.stat().st_mode):
        return
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise InputError(f"{option} must be a file in a folder that exists, got {str(out)!r}")


def write_table(out: Path, columns: Mapping[str, Iterable[Any]]) -> None:
    """Write columns by name as CSV, whole or not at all; ``-`` is standard output."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(map(_cell, row) for row in zip(*columns.values(), strict=True))
    if out == STANDARD_STREAM:
        sys.stdout.write(text.getvalue())
        sys.stdout.flush()
    else:
        write_file(out, text.getvalue().encode())


def _peak_memory_mb() -> float | None:
    """Return the peak memory of this process so far, where the system tells."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


def _cell(value: Any) -> Any:
    """Return what a table shows: six digits, nothing for NaN, several labels as JSON."""
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.6g}"
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return int(value) if isinstance(value, bool | np.bool_) else value


def _format(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, list):
        return ", ".join(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_format(number)}" for name, number in value.items())
    if isinstance(value, tuple):
        return "\n".join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
