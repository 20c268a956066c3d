"""What the commands print: one neat table, or one JSON object."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from gpgc.compute.progress import progress
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
    "standardised": "units of columns",
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


def show(result: dict[str, Any], as_json: bool, quiet: bool) -> None:
    """Print a result as JSON or as a table.

    It goes to standard output, or to standard error where ``--out -`` has the other.
    """
    stream = sys.stderr if result.get("out") == str(STANDARD_STREAM) else sys.stdout
    if as_json:
        stream.write(json.dumps(result, default=asdict) + "\n")
        return
    if quiet:
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
            table.add_row(title_of_row, Text(_format(result[key])))
        elif key == "loo_accuracy" and key in result:
            table.add_row(title_of_row, "–")
    Console(file=stream).print(table)


def write_rows(out: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table as CSV, whole or not at all; ``-`` is standard output."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    if out == STANDARD_STREAM:
        sys.stdout.write(text.getvalue())
        sys.stdout.flush()
    else:
        write_file(out, text.getvalue().encode())


class Progress:
    """The line that says how far a command is; called with what it is doing."""

    def __init__(self, task: str = "working") -> None:
        self._progress = progress(task)

    def __enter__(self) -> Self:
        self._meter = self._progress.__enter__()
        return self

    def __call__(self, step: str) -> None:
        """Show the current step."""
        self._meter.announce(step)

    def __exit__(self, *error: Any) -> None:
        self._progress.__exit__(*error)


def peak_memory_mb() -> float | None:
    """Return the peak memory of this process so far, where the system tells."""
    if sys.platform == "win32":
        return None
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


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
