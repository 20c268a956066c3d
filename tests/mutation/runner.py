"""Runs tests in forks of one process that has imported what they import, gpgc itself excepted.

Each line of standard input is a JSON list of pytest's arguments, each line of standard output the
exit code. The working directory is the tree whose gpgc is tested.
"""

import importlib
import json
import os
import signal
import sys

import pytest

SECONDS = 600
"""How long the tests of one room may take; a change that hangs them is noticed."""

IMPORTED = (
    *("hypothesis", "networkx", "numpy", "pandas", "scipy.linalg", "scipy.optimize"),
    *("scipy.sparse.linalg", "scipy.spatial", "scipy.special", "scipy.stats", "sklearn.base"),
    *("sklearn.metrics", "sklearn.model_selection", "sklearn.neighbors", "threadpoolctl", "typer"),
)


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    answers, nowhere = os.fdopen(os.dup(1), "w"), os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            os._exit(pytest.main(json.loads(line)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


if __name__ == "__main__":
    main()
