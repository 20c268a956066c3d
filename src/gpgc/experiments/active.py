"""Accuracy against the number of labels, for what to label next."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from pathlib import Path

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.datasets import Dataset, load_planetoid
from gpgc.estimators import GPGCClassifier
from gpgc.experiments import published
from gpgc.experiments.figures import MARKERS, PALETTE, save_figure
from gpgc.experiments.tables import Table
from gpgc.uncertainty.suggest import Labelling

BUDGETS = {
    "cora": (7, 20, 40, 60, 100, 140),
    "citeseer": (6, 20, 40, 60, 90, 120),
    "pubmed": (3, 9, 20, 30, 45, 60),
}
"""Numbers of labels at which accuracy is measured; the last is that of the public split."""

STRATEGIES = ("weighted", "variance", "margin", "uncertainty", "random")
N_TEST = 1000

Curves = dict[str, Array]


def active_study(
    data_dir: Path | None, n_runs: int, folder: Path, progress: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """Return the table of the three citation networks, and the picture that was written."""
    n_steps = max(len(BUDGETS[name]) for name in published.CITATION)
    table = Table(
        "active",
        f"Accuracy on test nodes against chosen labels, from none: mean of {n_runs} runs",
        ["data set", "strategy", *(f"step {step + 1}" for step in range(n_steps))],
        notes=[
            f"Each run holds {N_TEST} other nodes out as test nodes, the first run those of the "
            "public split; they cannot be chosen. A cell gives the number of labels and the "
            "accuracy in per cent. Nodes are chosen one by one; uncertainty takes the smallest "
            "largest probability, and its first node at random."
        ],
    )
    curves: dict[str, Curves] = {}
    for name in published.CITATION:
        data = load_planetoid(name, data_dir)
        curves[name] = labelling_curves(data, BUDGETS[name], n_runs, progress)
        for strategy, runs in curves[name].items():
            cells = [
                f"{budget}: {100 * accuracy:.1f}"
                for budget, accuracy in zip(BUDGETS[name], runs.mean(axis=0), strict=True)
            ]
            table.rows.append([name, strategy, *cells])
    return [table], draw_curves(curves, folder)


def labelling_curves(
    data: Dataset, budgets: tuple[int, ...], n_runs: int, progress: Callable[[str], None]
) -> Curves:
    """Return test accuracies (n_runs, n_budgets) of each strategy."""
    known = np.flatnonzero(data.labels >= 0)
    unlabelled = GPGCClassifier()
    unlabelled._fit_graph(data.features, data.adjacency, len(data.labels))
    curves: Curves = {name: np.zeros((n_runs, len(budgets))) for name in STRATEGIES}
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        test = rng.choice(known, N_TEST, replace=False) if run else data.test
        candidates = np.setdiff1d(known, test)
        for strategy in STRATEGIES:
            progress(f"{data.name}: run {run + 1} of {n_runs}, {strategy}")
            curves[strategy][run] = _curve(
                data, copy(unlabelled), candidates, test, budgets, strategy, rng
            )
    return curves


def _curve(
    data: Dataset,
    estimator: GPGCClassifier,
    candidates: Integers,
    test: Integers,
    budgets: tuple[int, ...],
    strategy: str,
    rng: np.random.Generator,
) -> list[float]:
    order = rng.permutation(candidates)
    labelling = Labelling(estimator, candidates=candidates) if strategy != "random" else None
    chosen: list[int] = []
    accuracies = []
    for budget in budgets:
        while len(chosen) < budget:
            if labelling is None:
                chosen += order[len(chosen) : budget].tolist()
                continue
            if strategy != "uncertainty":
                node = int(labelling.suggest(1, strategy).nodes[0])  # type: ignore[arg-type]
            elif not chosen:
                node = int(order[0])
            else:
                free = np.setdiff1d(candidates, chosen)
                node = int(free[labelling.predict_proba()[free].max(axis=1).argmin()])
            labelling.add([node], data.labels[[node]])
            chosen.append(node)
        y = np.full(len(data.labels), -1)
        y[chosen] = data.labels[chosen]
        predicted = estimator.relabel(y).predict()
        accuracies.append(float(np.mean(predicted[test] == data.labels[test])))
    return accuracies


def draw_curves(curves: dict[str, Curves], folder: Path) -> list[Path]:
    """Draw mean accuracy against labels, with the deviation over runs as error bars."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(curves), figsize=(4.2 * len(curves), 4), layout="constrained", squeeze=False
    )
    lines = ("-", "--", "-.", ":", (0, (1, 1)))
    for axis, (name, strategies) in zip(axes[0], curves.items(), strict=True):
        for place, (strategy, runs) in enumerate(strategies.items()):
            colour = PALETTE[-1] if strategy == "random" else PALETTE[place]
            axis.errorbar(
                BUDGETS[name],
                100 * runs.mean(axis=0),
                100 * runs.std(axis=0),
                color=colour,
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
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    return save_figure(figure, folder, "labelling_curve")
