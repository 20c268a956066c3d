"""Accuracy against the number of labels, for what to label next."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from gpgc.datasets import Dataset
from gpgc.labelling.labelling import Labelling, Strategy
from gpgc_lab import published
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.code_digest import core_digest
from gpgc_lab.datasets import load_planetoid
from gpgc_lab.journal import Measurements, Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.plotting import MARKERS, PALETTE, save_figure
from gpgc_lab.tables import Table

BUDGETS = {
    "cora": (7, 20, 40, 60, 100, 140),
    "citeseer": (6, 20, 40, 60, 90, 120),
    "pubmed": (3, 9, 20, 30, 45, 60),
}
"""Numbers of labels at which accuracy is measured; the last is that of the public split."""

FIRST_LABELS = 20
"""Labels up to which the beginning is measured, where every node may be chosen."""

OURS: tuple[Strategy, ...] = get_args(Strategy)
DRAWN_AT_RANDOM = ("uncertainty", "random")
STRATEGIES = (*OURS, *DRAWN_AT_RANDOM)
N_TEST = 1000

Curves = dict[str, list[Record]]
"""By strategy, one record a run."""


def active_study(
    data_dir: Path | None, n_runs: int, folder: StudyFolder, progress: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """Return the tables of the three citation networks, and the picture that was written.

    What is measured is kept in ``active_runs.jsonl`` of the folder and not measured again.
    """
    journal = folder.journal("active_runs.jsonl", ("key", "measured"))
    known = Measurements(journal, core_digest(Path(__file__)))
    first: dict[str, Curves] = {}
    curves: dict[str, Curves] = {}
    for name in published.CITATION:
        data = load_planetoid(name, data_dir)
        first[name] = first_labels(data, n_runs, known, progress)
        curves[name] = labelling_curves(data, n_runs, known, progress)
    tables = [
        _table(
            first,
            "active_first",
            f"Accuracy on all other nodes at the first labels, from none, up to {n_runs} runs",
            "Every node may be chosen, so that each of our strategies has but one run.",
        ),
        _table(
            curves,
            "active",
            f"Accuracy on test nodes against chosen labels, from none: mean of {n_runs} runs",
            f"Each run holds {N_TEST:,} other nodes out as test nodes, the first run those of the "
            "public split; they cannot be chosen.",
        ),
    ]
    for table in tables:
        table.notes.extend(known.notes())
    return tables, draw_curves(curves, folder.out)


def first_labels(
    data: Dataset, n_runs: int, measurements: Measurements, progress: Callable[[str], None]
) -> Curves:
    """Return accuracies on all other nodes where every node may be chosen."""
    known = np.flatnonzero(data.labels >= 0)
    budgets = tuple(budget for budget in BUDGETS[data.name] if budget <= FIRST_LABELS)
    start = _Start(data, known)
    curves: Curves = {strategy: [] for strategy in STRATEGIES}
    for run in range(n_runs):
        for strategy in DRAWN_AT_RANDOM if run else STRATEGIES:
            progress(f"{data.name}: beginning {run + 1} of {n_runs}, {strategy}")
            record = measurements.recall(
                partial(_label, start, strategy, budgets, run, None),
                **_key(data, strategy, run, budgets, "all others"),
            )
            curves[strategy].append(record)
    return curves


def labelling_curves(
    data: Dataset, n_runs: int, measurements: Measurements, progress: Callable[[str], None]
) -> Curves:
    """Return accuracies on test nodes, which cannot be chosen."""
    known, budgets = np.flatnonzero(data.labels >= 0), BUDGETS[data.name]
    curves: Curves = {strategy: [] for strategy in STRATEGIES}
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        test = rng.choice(known, N_TEST, replace=False) if run else data.test
        start = _Start(data, np.setdiff1d(known, test))
        for strategy in STRATEGIES:
            progress(f"{data.name}: run {run + 1} of {n_runs}, {strategy}")
            record = measurements.recall(
                partial(_label, start, strategy, budgets, run, test),
                **_key(data, strategy, run, budgets, "test"),
            )
            curves[strategy].append(record)
    return curves


def _key(
    data: Dataset, strategy: str, run: int, budgets: tuple[int, ...], counted: str
) -> dict[str, Any]:
    return {
        "dataset": data.name,
        "counted": counted,
        "strategy": strategy,
        "run": run,
        "budgets": budgets,
    }


@dataclass
class _Start:
    """A data set before any label, built only if some run is missing."""

    data: Dataset
    candidates: Integers

    @cached_property
    def labelling(self) -> Labelling:
        data = self.data
        return Labelling.on(
            data.features,
            None,
            data.adjacency,
            candidates=self.candidates,
            class_prior="labels",
        )


def _label(
    start: _Start, strategy: str, budgets: tuple[int, ...], seed: int, test: Integers | None
) -> Record:
    """Choose labels one by one and return accuracies on test nodes, or on all others."""
    labels, labelling = start.data.labels, start.labelling.copy()
    order = np.random.default_rng(seed).permutation(start.candidates)
    chosen: list[int] = []
    accuracies, seconds = [], []
    for budget in budgets:
        if strategy == "random":
            fresh = order[len(chosen) : budget]
            labelling.add(fresh, labels[fresh])
            chosen += fresh.tolist()
        while len(chosen) < budget:
            begin = time.perf_counter()
            node = _next_node(labelling, strategy, order, chosen)
            labelling.add([node], labels[[node]])
            chosen.append(node)
            seconds.append(time.perf_counter() - begin)
        counted = np.setdiff1d(start.candidates, chosen) if test is None else test
        predicted = labelling.estimator().predict()[counted]
        accuracies.append(float(np.mean(predicted == labels[counted])))
    slowest = max(seconds[1:], default=None)
    return {"accuracy": accuracies, "chosen": chosen, "seconds": slowest}


def _next_node(labelling: Labelling, strategy: str, order: Integers, chosen: list[int]) -> int:
    """Return what the strategy takes next; ``order`` is that of chance."""
    if strategy != "uncertainty":
        return int(labelling.suggest(1, strategy).nodes[0])  # type: ignore[arg-type]
    if not chosen:
        return int(order[0])
    free = np.setdiff1d(order, chosen)
    return int(free[labelling.predict_proba()[free].max(axis=1).argmin()])


def _table(curves: dict[str, Curves], name: str, title: str, note: str) -> Table:
    n_steps = max(len(runs[0]["accuracy"]) for by in curves.values() for runs in by.values())
    table = Table(
        name,
        title,
        ["data set", "strategy", *(f"step {step + 1}" for step in range(n_steps)), "seconds"],
        notes=[
            f"{note} A cell gives the number of labels and the accuracy in per cent, with its "
            "standard error over runs. Seconds are those of the slowest suggestion after the "
            "first, its label added, in the median run. Nodes are chosen one by one; uncertainty "
            "takes the smallest largest probability, and its first node at random. Class shares "
            "are taken from the labels."
        ],
    )
    for dataset, by_strategy in curves.items():
        for strategy, runs in by_strategy.items():
            accuracy = _accuracies(runs)
            mean, error = accuracy.mean(axis=0), accuracy.std(axis=0) / np.sqrt(len(runs))
            cells = [
                f"{budget}: {here:.1f}" + (f" ± {off:.1f}" if len(runs) > 1 else "")
                for budget, here, off in zip(BUDGETS[dataset], mean, error, strict=False)
            ]
            cells += [""] * (n_steps - len(cells))
            slowest = [run["seconds"] for run in runs if run["seconds"] is not None]
            seconds = f"{np.median(slowest):.2f}" if slowest else None
            table.rows.append([dataset, strategy, *cells, seconds])
    return table


def _accuracies(runs: list[Record]) -> Array:
    """Return accuracies (n_runs, n_budgets) in per cent."""
    return 100 * np.array([run["accuracy"] for run in runs])


def draw_curves(curves: dict[str, Curves], folder: Path) -> list[Path]:
    """Draw mean accuracy against labels, with the standard error over runs as error bars."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(curves), figsize=(4.2 * len(curves), 4.2), layout="constrained", squeeze=False
    )
    lines = ("-", "--", "-.", (0, (3, 1, 1, 1)), ":", (0, (1, 1)))
    for axis, (name, strategies) in zip(axes[0], curves.items(), strict=True):
        for place, (strategy, runs) in enumerate(strategies.items()):
            accuracy = _accuracies(runs)
            axis.errorbar(
                BUDGETS[name],
                accuracy.mean(axis=0),
                accuracy.std(axis=0) / np.sqrt(len(runs)),
                color=PALETTE[-1] if strategy == "random" else PALETTE[place],
                linestyle=lines[place],
                marker=MARKERS[place],
                markersize=5,
                elinewidth=0.6,
                capsize=2,
                zorder=10 - place,
                label=strategy,
            )
        axis.set(title=name, xlabel="labels")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("test accuracy, per cent")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return save_figure(figure, folder, "labelling_curve")
