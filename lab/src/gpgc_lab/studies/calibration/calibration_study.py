"""How far probabilities can be trusted on the citation networks: tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from gpgc_lab import published
from gpgc_lab.code_digest import core_digest, module_files
from gpgc_lab.datasets import load_planetoid
from gpgc_lab.journal import Measurements, Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies.calibration.calibration_figures import (
    draw_deviations,
    draw_reliability,
    draw_risk,
)
from gpgc_lab.studies.calibration.calibration_metrics import (
    LEVEL,
    N_SCRAMBLED,
    measure_linear,
    measure_network,
    measure_network_novelty,
    measure_process,
)
from gpgc_lab.studies.calibration.splits import N_HELD_OUT, Bench, Split, splits_of
from gpgc_lab.studies.citation import FIRST_SEED
from gpgc_lab.tables import Table

LARGE = 10_000
"""Number of nodes from which GAT would train too long."""

MEASURES = ("accuracy", "calibration error", "Brier score", "log loss")

Records = dict[str, dict[str | int, list[Record]]]
"""By data set and split, one record a system."""


def calibration_study(
    data_dir: Path | None, n_random: int, folder: StudyFolder, progress: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """Return the tables of the three citation networks, and the pictures that were written.

    What is measured is kept in ``calibration_runs.jsonl`` of the folder and not measured again.
    """
    journal = folder.journal("calibration_runs.jsonl", ("key", "measured"))
    code = core_digest(*module_files(Path(__file__)))
    measurements = Measurements(journal, code)
    records: Records = {}
    for name in published.CITATION:
        bench = Bench(load_planetoid(name, data_dir))
        records[name] = {}
        for split in splits_of(bench.data, n_random, FIRST_SEED):
            progress(f"{name}: split {split.name}")
            records[name][split.name] = [
                measurements.recall(measure, dataset=name, split=split.name, system=system)
                for system, measure in _systems(bench, split)
            ]
    tables = [_forecast_table(records, "public")]
    if n_random:
        tables.append(_forecast_table(records, "random"))
    tables += [_set_table(records), _novelty_table(records)]
    for table in tables:
        table.notes.extend(measurements.notes())
    return tables, [
        *draw_reliability(_pooled(records, "forecasts"), folder.out),
        *draw_risk(_pooled(records, "forecasts"), folder.out),
        *draw_deviations(
            {name: splits["public"][0]["deviations"] for name, splits in records.items()},
            folder.out,
        ),
    ]


def _systems(bench: Bench, split: Split) -> Iterator[tuple[str, Callable[[], Record]]]:
    """Give the systems that are measured on a split, ours first."""
    yield "GPGC", lambda: measure_process(bench, split)
    yield "logistic regression", lambda: measure_linear(bench, split)
    if not find_spec("torch"):
        return
    yield (
        "GCN",
        lambda: measure_network(bench, split, "GCN") | measure_network_novelty(bench, split, "GCN"),
    )
    if split.is_public and len(bench.data.labels) < LARGE:
        yield "GAT", lambda: measure_network(bench, split, "GAT")


def _pooled(records: Records, part: str) -> dict[str, dict[str, list[Any]]]:
    """Return what was measured by data set and method or kind, over all splits."""
    pooled: dict[str, dict[str, list[Any]]] = {}
    for name, splits in records.items():
        rows = pooled.setdefault(name, {})
        for systems in splits.values():
            for record in systems:
                for row, measured in record.get(part, {}).items():
                    rows.setdefault(row, []).append(measured)
    return pooled


def _forecast_table(records: Records, kind: str) -> Table:
    chosen: Records = {
        name: {
            split: rows
            for split, rows in splits.items()
            if (split == "public") == (kind == "public")
        }
        for name, splits in records.items()
    }
    which = "the public split" if kind == "public" else "random splits, 20 labels a class"
    table = Table(
        f"calibration_{kind}",
        f"Probabilities on all unlabelled nodes, {which}: mean, per cent except log loss",
        ["method", "data set", *MEASURES, "splits"],
        notes=[
            f"{N_HELD_OUT} validation labels fit a temperature, of GPGC class biases too; GCN and "
            "GAT stop by them before. Where they are used those nodes are not counted. "
            + (
                "GAT, which trains slowly, is measured on the public split alone, and not on "
                f"graphs of {LARGE:,} nodes or more."
                if find_spec("torch")
                else "GCN and GAT are left out: torch is not installed."
            )
        ],
    )
    for name, methods in _pooled(chosen, "forecasts").items():
        for method, measured in methods.items():
            mean = [float(np.mean([row[measure] for row in measured])) for measure in MEASURES]
            cells = [f"{100 * value:.1f}" for value in mean[:-1]]
            table.rows.append([method, name, *cells, f"{mean[-1]:.3f}", len(measured)])
    return table


def _set_table(records: Records) -> Table:
    table = Table(
        "prediction_sets",
        f"Prediction sets at {LEVEL:.0%}: coverage in per cent and mean number of classes",
        ["sets", "data set", "coverage", "deviation over splits", "size"],
        notes=[
            f"Split-conformal sets use {N_HELD_OUT} labels drawn uniformly; leave-one-out sets use "
            "the training labels alone, which are balanced and so not exchangeable with the rest."
        ],
    )
    for name, kinds in _pooled(records, "sets").items():
        for kind, measured in kinds.items():
            coverage = 100 * np.array([row["coverage"] for row in measured])
            size = f"{np.mean([row['size'] for row in measured]):.2f}"
            table.rows.append([kind, name, f"{coverage.mean():.1f}", f"{coverage.std():.1f}", size])
    return table


def _novelty_table(records: Records) -> Table:
    areas = {
        title: _pooled(records, part)
        for title, part in (
            ("of a class without labels", "novel_nodes"),
            ("with shuffled features", "scrambled"),
        )
    }
    scores = list(
        dict.fromkeys(
            score for by_name in areas.values() for rows in by_name.values() for score in rows
        )
    )
    table = Table(
        "novel_nodes",
        "Nodes that do not belong: area under the curve by score",
        ["nodes", "data set", *scores],
        notes=[
            "One class is left out of the labels in each split, each in turn; on the public split "
            f"the features of {N_SCRAMBLED} nodes are shuffled among columns. Mean over splits."
        ],
    )
    for title, by_name in areas.items():
        for name, rows in by_name.items():
            cells = [f"{np.mean(rows[score]):.3f}" if score in rows else None for score in scores]
            table.rows.append([title, name, *cells])
    return table
