"""Counts and seconds of each version: functions, lines, fits, loading, joining."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, random_array

from gpgc.errors import DataError
from gpgc_lab.code_digest import syntax_digest
from gpgc_lab.journal import Measurements, Record, StudyJournal
from gpgc_lab.speed.growth import block_model
from gpgc_lab.studies.core import exchange, worker
from gpgc_lab.studies.core.draws import draw
from gpgc_lab.studies.core.open_sets import open_set
from gpgc_lab.studies.core.package_sets import OpenedSet
from gpgc_lab.studies.core.versions import Version
from gpgc_lab.tables import Table

BUDGET = "20 a class"
LABELS = 200
"""Of made-up graphs."""


@dataclass(frozen=True)
class Cost:
    """One row: what is measured, where, by which function of the worker.

    Attributes
    ----------
    title : str
    wanted : str
        What is to be reached.
    job : str
        Function of `worker`.
    data : str
        A set, or a made-up graph.
    settings : dict
        Further arguments of the function.
    show : callable
        Record → what the table shows.
    """

    title: str
    wanted: str
    job: str
    data: str | None
    settings: dict[str, Any]
    show: Callable[[Record], str]


def _functions(record: Record) -> str:
    return f"{record['functions']} in {record['files']}"


def _seconds(record: Record) -> str:
    return f"{record['seconds']:.3f}"


def _over_product(record: Record) -> str:
    return f"{record['seconds'] / record['product']:.2f}"


COSTS = (
    Cost(
        "functions in files, big, Cora",
        "≤ 130 in ≤ 32",
        "count_functions",
        "cora",
        {"model": "big"},
        _functions,
    ),
    Cost(
        "functions in files, default, Cora",
        "≤ 200 in ≤ 45",
        "count_functions",
        "cora",
        {"model": None},
        _functions,
    ),
    Cost(
        "lines of the core's rooms",
        "≤ 13,500",
        "count_lines",
        None,
        {},
        lambda record: f"{record['lines']:,}",
    ),
    *(
        Cost(
            f"big over its matrix product, {name}",
            f"≤ {wanted}",
            "time_big",
            name,
            {"repeats": repeats},
            _over_product,
        )
        for name, wanted, repeats in (
            ("cora", 2, 10),
            ("citeseer", 1, 10),
            ("pubmed", 3.5, 10),
            ("a million nodes", 3.5, 2),
        )
    ),
    *(
        Cost(
            f"processor seconds, {label}, {name}",
            wanted,
            "time_fit",
            name,
            {"model": model, "repeats": repeats},
            _seconds,
        )
        for name, label, model, wanted, repeats in (
            ("cora", "default", None, "≤ .7 of 0.2's", 5),
            ("pubmed", "default", None, "≤ 1.2 of 0.2's", 3),
            ("5,000 nodes × 8,000 words", "default", None, "≤ .15 of 0.2's", 1),
            ("a million nodes", "big", "big", "", 1),
            ("a million nodes", "default", None, "≤ 1.5 of big's", 1),
        )
    ),
    Cost(
        "load of Pubmed's default, seconds", "≤ .3", "time_load", "pubmed", {"repeats": 3}, _seconds
    ),
    Cost(
        "one node joining 40,000, seconds",
        "≤ .02",
        "time_join",
        "40,000 nodes",
        {"repeats": 5},
        _seconds,
    ),
)


def cost_table(
    versions: Sequence[Version],
    journal: StudyJournal,
    progress: Callable[[str], None],
    data_dir: Path | None = None,
    only: Sequence[str] = (),
    limit: float = 3600.0,
) -> Table:
    """Return a row for each cost and a column for each version; what is known is not run again.

    Parameters
    ----------
    only : sequence of str
        Functions of the worker to run; all when empty.
    """
    table = Table(
        "core_costs",
        "Counts and seconds",
        ["what", "wanted", *(version.name for version in versions)],
        notes=[
            f"Real graphs with {BUDGET}, drawn with seed 0; made-up ones are block models with 128 "
            f"features and {LABELS} labels, and {LABELS} of 5,000 nodes with 40 of 8,000 words "
            "each. Each cell in a process of its own on one core; least of some turns. Functions: "
            "those of gpgc that a second fit with predict_proba runs through, without lambdas and "
            "comprehensions. The product is one float32 GEMM, (N × F) by (F × neighbors of the "
            "labelled nodes)."
        ],
    )
    shared = syntax_digest([Path(__file__), Path(worker.__file__), Path(exchange.__file__)])
    known = {
        version.name: Measurements(journal, shared + version.code[:16]) for version in versions
    }
    for cost in COSTS:
        if only and cost.job not in only:
            continue
        cells: list[str | None] = []
        for version in versions:
            progress(f"{cost.title}: {version.name}")
            measure = partial(_measure, cost, version, data_dir, limit)
            try:
                record = known[version.name].recall(
                    measure, job=cost.job, data=cost.data, settings=cost.settings
                )
            except (DataError, RuntimeError, TimeoutError) as error:
                table.notes.append(f"{cost.title}, {version.name}: {str(error).splitlines()[-1]}")
                cells.append(None)
                continue
            cells.append(cost.show(record))
        table.rows.append([cost.title, cost.wanted, *cells])
    return table


def _measure(cost: Cost, version: Version, data_dir: Path | None, limit: float) -> Record:
    if cost.data is None:
        return version.call(cost.job, limit, **cost.settings)
    opened, given = cost_data(cost.data, data_dir)
    with tempfile.TemporaryDirectory(prefix="gpgc-core-") as folder:
        file = Path(folder) / "problem.npz"
        judged = np.array([], dtype=np.int64)
        drawn = {"seed 0": (given, opened.targets[given], judged)}
        exchange.write_problem(file, opened.adjacency, opened.features, drawn)
        return version.call(cost.job, limit, problem=str(file), **cost.settings)


def cost_data(name: str, data_dir: Path | None = None) -> tuple[OpenedSet, Any]:
    """Return a set, or a made-up graph, and the nodes whose labels are given."""
    made_up = {"a million nodes": 1_000_000, "40,000 nodes": 40_000}
    rng = np.random.default_rng(0)
    if name in made_up:
        adjacency, features, labels = block_model(made_up[name], 0)
        opened = OpenedSet(csr_array(adjacency), features, labels)
        return opened, np.sort(rng.choice(len(labels), LABELS, replace=False))
    if name == "5,000 nodes × 8,000 words":
        adjacency, _, labels = block_model(5000, 0)
        words = random_array((5000, 8000), density=40 / 8000, rng=rng, format="csr")
        return OpenedSet(csr_array(adjacency), csr_array(words), labels), np.sort(
            rng.choice(5000, LABELS, replace=False)
        )
    opened = open_set(name, data_dir)
    return opened, draw(name, opened.targets, BUDGET, 0).given
