"""What the commands print: one neat table, or one JSON object."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

TITLES = {
    "dataset": "data set",
    "model": "model",
    "network": "network",
    "images": "images",
    "nodes": "nodes",
    "edges": "edges",
    "features": "features",
    "classes": "classes",
    "labels": "labels given",
    "suggested": "label next",
    "noise_variance": "noise variance",
    "test_nodes": "test nodes",
    "accuracy": "accuracy",
    "log_loss": "log loss",
    "loo_accuracy": "accuracy, leave-one-out",
    "seconds": "seconds",
    "peak_memory_mb": "peak memory, MB",
    "skipped": "left out",
    "out": "written to",
}


def show(result: dict[str, Any], as_json: bool, quiet: bool) -> None:
    """Print a result on standard output, as JSON or as a table."""
    if as_json:
        sys.stdout.write(json.dumps(result) + "\n")
        return
    if quiet:
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, title=f"gpgc · {result['dataset']}", title_justify="left")
    table.add_column(style="bold")
    table.add_column(justify="right", overflow="fold")
    for key, title in TITLES.items():
        if result.get(key) is not None:
            table.add_row(title, _format(result[key]))
    Console().print(table)


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show that something goes on, where a person is watching."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(task):
        yield


class Progress:
    """A line that says what is being done, where a person is watching; called with the step."""

    def __enter__(self) -> Self:
        self._status = None
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        return self

    def __call__(self, step: str) -> None:
        """Show the current step."""
        if self._status is not None:
            self._status.update(step)

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()


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
    return f"{value:,}" if isinstance(value, int) else str(value)
