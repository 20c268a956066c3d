"""Accuracy against the number of labels, for what to label next."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import copy
from pathlib import Path
from typing import get_args

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.datasets import Dataset, load_planetoid
from gpgc.estimators import GPGCClassifier
from gpgc.experiments import published
from gpgc.experiments.figures import MARKERS, PALETTE, save_figure
from gpgc.experiments.journal import Journal, Record
from gpgc.experiments.tables import Table
from gpgc.uncertainty.suggest import Labelling, Strategy

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
    data_dir: Path | None, n_runs: int, folder: Path, progress: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """Return the tables of the three citation networks, and the picture that was written.

    What is measured is kept in ``active_runs.jsonl`` of the folder and not measured again.
    """
    journal = Journal(folder / "active_runs.jsonl")
    first: dict[str, Curves] = {}
    curves: dict[str, Curves] = {}
    for name in published.CITATION:
        data = load_planetoid(name, data_dir)
        first[name] = first_labels(data, n_runs, journal, progress)
        curves[name] = labelling_curves(data, n_runs, journal, progress)
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
            f"Each run holds {N_TEST} other nodes out as test nodes, the first run those of the "
            "public split; they cannot be chosen.",
        ),
    ]
    return tables, draw_curves(curves, folder)


def first_labels(
    data: Dataset, n_runs: int, journal: Journal, progress: Callable[[str], None]
) -> Curves:
    """Return accuracies on all other nodes where every node may be chosen."""
    known = np.flatnonzero(data.labels >= 0)
    budgets = tuple(budget for budget in BUDGETS[data.name] if budget <= FIRST_LABELS)
    study = _Study(data, journal, progress)
    return {
        strategy: [
            study.curve("all", run, strategy, known, None, budgets)
            for run in range(n_runs if strategy in DRAWN_AT_RANDOM else 1)
        ]
        for strategy in STRATEGIES
    }


def labelling_curves(
    data: Dataset, n_runs: int, journal: Journal, progress: Callable[[str], None]
) -> Curves:
    """Return accuracies on test nodes, which cannot be chosen."""
    known = np.flatnonzero(data.labels >= 0)
    study = _Study(data, journal, progress)
    curves: Curves = {strategy: [] for strategy in STRATEGIES}
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        test = rng.choice(known, N_TEST, replace=False) if run else data.test
        candidates = np.setdiff1d(known, test)
        for strategy in STRATEGIES:
            curves[strategy].append(
                study.curve("test", run, strategy, candidates, test, BUDGETS[data.name])
            )
    return curves


class _Study:
    """Runs on one data set, with the graph's covariance built once and only if needed."""

    def __init__(self, data: Dataset, journal: Journal, progress: Callable[[str], None]) -> None:
        self.data, self.journal, self.progress = data, journal, progress
        self._on_graph: GPGCClassifier | None = None

    def curve(
        self,
        counted: str,
        run: int,
        strategy: str,
        candidates: Integers,
        test: Integers | None,
        budgets: tuple[int, ...],
    ) -> Record:
        """Return the accuracies of one run, on test nodes or on all others."""
        self.progress(f"{self.data.name}: run {run + 1}, {strategy}")
        return self.journal.recall(
            lambda: self._label(strategy, candidates, test, budgets, run),
            dataset=self.data.name,
            counted=counted,
            strategy=strategy,
            run=run,
            budgets=list(budgets),
        )

    def _label(
        self,
        strategy: str,
        candidates: Integers,
        test: Integers | None,
        budgets: tuple[int, ...],
        seed: int,
    ) -> Record:
        labels = self.data.labels
        if self._on_graph is None:
            self._on_graph = GPGCClassifier(class_prior="labels")
            self._on_graph._fit_graph(self.data.features, self.data.adjacency, len(labels))
        estimator = copy(self._on_graph)
        order = np.random.default_rng(seed).permutation(candidates)
        labelling = None if strategy == "random" else Labelling(estimator, candidates=candidates)
        chosen: list[int] = []
        accuracies, seconds = [], []
        for budget in budgets:
            while len(chosen) < budget:
                start = time.perf_counter()
                node = _next_node(labelling, strategy, order, chosen)
                if labelling is not None:
                    labelling.add([node], labels[[node]])
                chosen.append(node)
                seconds.append(time.perf_counter() - start)
            y = np.full(len(labels), -1)
            y[chosen] = labels[chosen]
            counted = np.setdiff1d(candidates, chosen) if test is None else test
            predicted = estimator.relabel(y).predict()[counted]
            accuracies.append(float(np.mean(predicted == labels[counted])))
        return {"accuracy": accuracies, "chosen": chosen, "seconds": float(np.max(seconds[1:]))}


def _next_node(
    labelling: Labelling | None, strategy: str, order: Integers, chosen: list[int]
) -> int:
    """Return what the strategy takes next; ``order`` is that of chance."""
    if labelling is None or (strategy == "uncertainty" and not chosen):
        return int(order[len(chosen)])
    if strategy == "uncertainty":
        free = np.setdiff1d(order, chosen)
        return int(free[labelling.predict_proba()[free].max(axis=1).argmin()])
    return int(labelling.suggest(1, strategy).nodes[0])  # type: ignore[arg-type]


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
            seconds = float(np.median([run["seconds"] for run in runs]))
            table.rows.append([dataset, strategy, *cells, f"{seconds:.2f}"])
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
                label=strategy,
            )
        axis.set(title=name, xlabel="labels")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0][0].set_ylabel("test accuracy, per cent")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False)
    return save_figure(figure, folder, "labelling_curve")
