"""What one waits for before anything is computed."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

from gpgc_lab.tables import Table

IMPORT = "from time import perf_counter; s = perf_counter(); import {}; print(perf_counter() - s)"
FIRST_CALL = """
from gpgc import GPGCClassifier
from gpgc.datasets import load_dataset
data = load_dataset("digits")
y = data.labels.copy()
y[data.test] = -1
GPGCClassifier().fit(data.features, y).predict()
"""
TO_REACH = 1.5


def start_tables(repeats: int = 10) -> list[Table]:
    """Return the seconds of imports, of the help text and of a first call."""
    imports = ("numpy, scipy.sparse", "gpgc", "gpgc.estimators", "gpgc.cli")
    processes = {
        "`gpgc --help`": ["-m", "gpgc", "--help"],
        "first call: fit and predict digits": ["-c", FIRST_CALL],
    }
    seconds: dict[str, float] = {}
    for _ in range(repeats):
        for module in imports:
            shown = float(_run(["-c", IMPORT.format(module)]))
            name = f"`import {module}`"
            seconds[name] = min(shown, seconds.get(name, shown))
        for name, arguments in processes.items():
            start = perf_counter()
            _run(arguments)
            spent = perf_counter() - start
            seconds[name] = min(spent, seconds.get(name, spent))
    reference = seconds[f"`import {imports[0]}`"]
    table = Table(
        "start",
        "Start, each in a fresh process",
        ["what", "seconds", f"over `import {imports[0]}`", "to reach"],
        notes=[f"Least of {repeats} turns; imports without the start of Python, the rest with it."],
    )
    for name, spent in seconds.items():
        goal = TO_REACH if name == "`import gpgc`" else None
        table.rows.append([name, spent, spent / reference, goal])
    return [table]


def _run(arguments: list[str]) -> str:
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout
