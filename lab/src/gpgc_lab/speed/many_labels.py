"""Many labels and many nodes: seconds, memory and accuracy, with rivals in the same run.

Every row is measured in a process of its own and kept in a journal, so that a run that was ended
goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from gpgc.files import Journal
from gpgc.uncertainty import measures
from gpgc_lab.journal import Record, recall
from gpgc_lab.speed.label_rivals import SYSTEMS
from gpgc_lab.speed.label_targets import Target, target_table
from gpgc_lab.speed.label_tasks import label_task
from gpgc_lab.speed.measure import forget_peak, in_own_process
from gpgc_lab.tables import Table

LIMIT = 20 * 60.0
"""Seconds after which a system is given up."""

GPGC, BIG = "gpgc, default", "gpgc, big"
RIVALS = tuple(name for name in SYSTEMS if name not in (GPGC, BIG))


@dataclass(frozen=True)
class Row:
    """What is measured: one system on so many labels of one graph.

    Attributes
    ----------
    graph : str
        ``"pubmed"``, ``"wordnet"``, ``"block model"``, or its ``"vectors"`` alone.
    n_labels : int
        Labels, drawn at random among all nodes.
    system : str
        A name of ``SYSTEMS``.
    n_nodes, n_features : int, optional
        Of a block model.
    """

    graph: str
    n_labels: int
    system: str
    n_nodes: int | None = None
    n_features: int | None = None


PUBMED = [
    *(Row("pubmed", n, system) for n in (60, 10_000) for system in (GPGC, BIG)),
    *(Row("pubmed", 10_000, system) for system in RIVALS),
]
WORDNET = [
    *(Row("wordnet", n, GPGC) for n in (13_440, 26_881, 53_762)),
    *(Row("wordnet", 53_762, system) for system in (*RIVALS, BIG)),
]
MILLION = [
    *(Row("block model", 200, system, 1_000_000, 128) for system in (BIG, GPGC)),
    Row("block model", 100_000, GPGC, 1_000_000, 64),
    Row("vectors", 200, GPGC, 1_000_000, 64),
]
GROWTH = [Row("block model", n, GPGC, 200_000, 64) for n in (10_000, 20_000, 40_000)]
QUICK = [Row("block model", n, system, 4000, 16) for n in (60, 3000) for system in SYSTEMS]

TARGETS = [
    Target("Pubmed, 10,000 labels over 60: default", PUBMED[2], 8, PUBMED[0]),
    Target("Pubmed, 10,000 labels over the default's 60: big", PUBMED[3], 20, PUBMED[0]),
    Target("WordNet, 53,762 labels: seconds", WORDNET[2], 90),
    Target("WordNet: GB", WORDNET[2], 4, of="peak", unit=1e9),
    Target("WordNet: default over logistic regression", WORDNET[2], 1, WORDNET[3]),
    Target("WordNet: calibration error", WORDNET[2], 0.03, of="calibration_error"),
    Target("WordNet: 26,881 labels over 13,440", WORDNET[1], 2.2, WORDNET[0]),
    Target("WordNet: 53,762 labels over 26,881", WORDNET[2], 2.2, WORDNET[1]),
    Target("block model: 20,000 labels over 10,000", GROWTH[1], 2.2, GROWTH[0]),
    Target("block model: 40,000 labels over 20,000", GROWTH[2], 2.2, GROWTH[1]),
    Target("a million nodes, 200 labels: default over big", MILLION[1], 2, MILLION[0]),
    Target("the same: memory over features", MILLION[1], 6, of="peak over features"),
    Target("a million nodes, 100,000 labels: minutes", MILLION[2], 5, unit=60),
    Target("the same: GB", MILLION[2], 6, of="peak", unit=1e9),
]

COLUMNS = [
    "graph",
    "nodes",
    "labels",
    "system",
    "seconds",
    "processor seconds",
    "peak MB",
    "peak over features",
    "accuracy, per cent",
    "log loss",
    "calibration error, per cent",
]


def label_tables(
    data_dir: Path | None,
    folder: Path,
    rows: Sequence[Row] | None = None,
    report: Callable[[str], None] = lambda text: None,
    limit: float = LIMIT,
) -> list[Table]:
    """Return rows and targets of many labels; what is in the journal is not measured again.

    Parameters
    ----------
    data_dir : Path, optional
        Folder with the data.
    folder : Path
        Where the journal is.
    rows : sequence of Row, optional
        What to measure; all when not given.
    report : callable, optional
        Told of each row that is begun.
    limit : float
        Seconds after which a system is given up. What is measured under another limit than the
        usual one is kept in a journal of its own.
    """
    suffix = "" if limit == LIMIT else f"_{limit:g}s"
    journal = Journal(folder / f"many_labels{suffix}.jsonl")
    table = Table(
        "many_labels",
        "Many labels: fit, and the probabilities of all nodes",
        COLUMNS,
        notes=[
            "Labels drawn at random among all nodes (60: 20 of each class); accuracy, log loss and "
            "calibration error on all other nodes. Everything is chosen within the time: views, "
            "noise, temperature, class prior. Each row in a process of its own, once; MB at the "
            "peak over those after the imports, the data included. The rivals see "
            "[X, ÂX, Â²X]; kernels of scikit-learn its leading 256 directions where it has more "
            f"than 4,096 columns. “–”: did not finish in {limit / 60:g} minutes, or no number."
        ],
    )
    measured: dict[Row, Record] = {}
    for row in rows or [*PUBMED, *WORDNET, *GROWTH, *MILLION]:
        key = asdict(row)
        if not any(record.get("key") == key for record in journal.records):
            report(f"{row.system} on {row.n_labels:,} labels of {row.graph}")
        found = recall(journal, key, lambda row=row: _measured(row, data_dir, limit))  # type: ignore[misc]
        table.rows.append(_cells(row, found))
        measured[row] = found
    return [table, target_table(TARGETS, measured)]


def _measured(row: Row, data_dir: Path | None, limit: float) -> Record:
    order = {"row": asdict(row), "data_dir": None if data_dir is None else str(data_dir)}
    try:
        return in_own_process("gpgc_lab.speed.many_labels:run", order, limit=limit)
    except TimeoutError:
        return {"reason": "did not finish"}
    except RuntimeError as error:
        return {"reason": str(error).strip().splitlines()[-1]}


def run(row: dict[str, Any], data_dir: str | None) -> dict[str, Any]:
    """Measure one row in this process."""
    job = Row(**row)
    task = label_task(job.graph, job.n_labels, job.n_nodes, job.n_features, data_dir)
    system = SYSTEMS[job.system]
    forget_peak()
    start, used = perf_counter(), process_time()
    answer = system(task)
    seconds, used = perf_counter() - start, process_time() - used
    scores, is_probability = answer if isinstance(answer, tuple) else (answer, True)
    said, truth = scores[task.test], task.truth
    features = task.problem.features
    size = features.nbytes if isinstance(features, np.ndarray) else features.data.nbytes
    measured: dict[str, Any] = {
        "seconds": seconds,
        "processor_seconds": used,
        "nodes": len(task.problem.labels),
        "feature_bytes": int(size),
        "accuracy": float(np.mean(said.argmax(axis=1) == truth)),
    }
    if is_probability:
        measured["log_loss"] = measures.log_loss(said, truth)
        measured["calibration_error"] = measures.expected_calibration_error(said, truth)
    return measured


def _cells(row: Row, found: Record) -> list[Any]:
    def times(name: str, factor: float) -> float | None:
        return None if found.get(name) is None else factor * float(found[name])

    over = found["peak"] / found["feature_bytes"] if "peak" in found else None
    return [
        row.graph if row.n_features is None else f"{row.graph}, {row.n_features} features",
        found.get("nodes"),
        row.n_labels,
        row.system if "reason" not in found else f"{row.system} ({found['reason']})",
        found.get("seconds"),
        found.get("processor_seconds"),
        times("peak", 1e-6),
        over if row.n_features is not None else None,
        times("accuracy", 100),
        found.get("log_loss"),
        times("calibration_error", 100),
    ]
