"""What one waits for before anything is computed, and what stands at the edges of the product."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

import gpgc
from gpgc.problem.node_features import read_features
from gpgc.problem.read import read_problem
from gpgc_lab.tables import Table

EDGE_ROOMS = ("cli", "problem", "files", "datasets", "image_features", "plot", "report")
"""Rooms of readers, commands, files and pictures."""

FIRST_CALL = """
from gpgc import GPGCClassifier
from gpgc_lab.datasets import load_dataset
data = load_dataset("digits")
y = data.labels.copy()
y[data.test] = -1
GPGCClassifier().fit(data.features, y).predict()
"""
SIX_NODES = "classify --edges edges.csv --labels labels.csv --out out.csv"
PROCESSES = {
    "`python -c pass`": (["-c", "pass"], None),
    "`import numpy, scipy.sparse`": (["-c", "import numpy, scipy.sparse"], None),
    "`import gpgc`": (["-c", "import gpgc"], None),
    "`import gpgc.estimators`": (["-c", "import gpgc.estimators"], None),
    "first call: fit and predict digits": (["-c", FIRST_CALL], None),
    "`gpgc --help`": (["-m", "gpgc", "--help"], 0.25),
    "`gpgc classify`, a graph of six nodes": (["-m", "gpgc", *SIX_NODES.split()], 0.9),
}
"""What is called → how, and the seconds of processor that it is to take at most."""

PARQUET_ROWS, PARQUET_COLUMNS, OVER_PYARROW = 20_000, 64, 5
LISTED_NODES, LINES = 20_000, 4_500


def start_tables(repeats: int = 10) -> list[Table]:
    """Return seconds of processor of whole processes and of readers, and the lines of rooms."""
    table = Table(
        "start",
        "The edges of the product",
        ["what", "number", "unit", "to reach"],
        notes=[
            f"Seconds of processor, user's and system's: the least of {repeats} turns after one "
            "that is not counted; processes with the start of Python, readers without."
        ],
    )
    rooms = Path(gpgc.__file__).parent
    counts = {
        room: sum(len(path.read_text().splitlines()) for path in (rooms / room).rglob("*.py"))
        for room in EDGE_ROOMS
    }
    table.rows += [[f"`{room}`", count, "lines", None] for room, count in counts.items()]
    table.rows.append(["these rooms together", sum(counts.values()), "lines", LINES])
    with TemporaryDirectory() as folder:
        Path(folder, "edges.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\ne,f\n")
        Path(folder, "labels.csv").write_text("id,label\na,x\nf,y\n")
        for name, (arguments, goal) in PROCESSES.items():
            spent = least(partial(_process, arguments, folder), repeats)
            table.rows.append([name, spent, "s", goal])
        table.rows += [*_parquet(Path(folder), repeats), *_listed(Path(folder), repeats)]
    return [table]


def _parquet(folder: Path, repeats: int) -> list[list[object]]:
    """Return how long features in Parquet take to read, with ids, over pyarrow's own reading."""
    import pyarrow
    import pyarrow.parquet as parquet

    numbers = np.random.default_rng(0).normal(size=(PARQUET_ROWS, PARQUET_COLUMNS))
    columns = {"id": [f"n{row}" for row in range(PARQUET_ROWS)]}
    columns |= {f"c{place}": column for place, column in enumerate(numbers.T)}
    path = folder / "x.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    own = least(lambda: _seconds(lambda: parquet.read_table(path)), repeats)
    ours = least(lambda: _seconds(lambda: read_features(path, {}, {})), repeats)
    what = f"Parquet, {PARQUET_ROWS:,} × {PARQUET_COLUMNS} numbers"
    return [
        [f"{what}: pyarrow", own, "s", None],
        [f"{what}: `--features`", ours, "s", None],
        [f"{what}: over pyarrow", ours / own, "times", OVER_PYARROW],
    ]


def _listed(folder: Path, repeats: int) -> list[list[object]]:
    """Return how long a list of nodes beside features takes to read, and twice as many."""
    spent = {}
    for size in (LISTED_NODES // 2, LISTED_NODES):
        nodes, features = folder / f"nodes{size}.csv", folder / f"x{size}.csv"
        nodes.write_text("id\n" + "".join(f"n{row}\n" for row in range(size)))
        features.write_text("id,x\n" + "".join(f"n{row},{row % 7}\n" for row in range(size)))

        def read(nodes: Path = nodes, features: Path = features) -> float:
            return _seconds(lambda: read_problem(None, features, None, nodes=nodes))

        spent[size] = least(read, repeats)
    half, whole = spent.values()
    rows: list[list[object]] = [
        [f"`--nodes` with {size:,} rows", each, "s", None] for size, each in spent.items()
    ]
    return [*rows, ["`--nodes`, twice as many rows", whole / half, "times", "2 (linear)"]]


def least(measure: Callable[[], float], repeats: int) -> float:
    """Return the least of some measurements, after one that is not counted."""
    return min([measure() for _ in range(repeats + 1)][1:])


def _seconds(job: Callable[[], object]) -> float:
    start = process_time()
    job()
    return process_time() - start


def _process(arguments: list[str], folder: str) -> float:
    before = getrusage(RUSAGE_CHILDREN)  # os.times() counts in hundredths: 0 for `python -c pass`
    subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
