"""Finding wrong labels: our ranking and cleanlab's, on labels of which some were flipped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from gpgc.datasets import Dataset
from gpgc.estimators import GPGCClassifier
from gpgc.graph import as_adjacency, neighbor_graph, normalize
from gpgc_lab.array_types import Array, Integers
from gpgc_lab.code_digest import core_digest
from gpgc_lab.datasets import load_dataset
from gpgc_lab.journal import Measurements, Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.tables import Table

DATASETS = ("cora", "citeseer", "pubmed", "digits")
LABELS_PER_CLASS = (20, 100)
RATES = (0.05, 0.1, 0.2)
SYSTEMS = ("gpgc", "cleanlab")
FOLDS = 5


class Flipped(NamedTuple):
    """Labelled nodes (D,), the labels that are given for them, and which of those are wrong."""

    nodes: Integers
    given: Integers
    wrong: NDArray[np.bool_]


def errors_study(
    data_dir: Path | None, n_seeds: int, folder: StudyFolder, progress: Callable[[str], None]
) -> tuple[list[Table], list[Path]]:
    """Return the table of flipped labels that were found.

    What is measured is kept in ``errors_runs.jsonl`` of the folder and not measured again.
    """
    journal = folder.journal("errors_runs.jsonl", ("key", "measured"))
    known = Measurements(journal, core_digest(Path(__file__)))
    table = Table(
        "errors",
        f"Flipped labels that were found, mean of {n_seeds} seeds, in per cent",
        [
            "data set",
            "labels per class",
            "flipped",
            "system",
            "average precision",
            "right among as many as were flipped",
            "precision of those named",
            "recall of those named",
            "errors expected over flipped",
        ],
        notes=[
            "Labels are drawn at random within each class and flipped to another one, all alike. "
            f"cleanlab ranks by logistic regression on Â²X, probabilities by {FOLDS} folds, with "
            "its defaults, and names what find_label_issues finds; gpgc names labels that are "
            "wrong with probability above one half. Errors expected: the sum of our probabilities; "
            "cleanlab's estimate by confident joint. Where a data set has wrong labels of its own, "
            "finding them counts as an error here."
        ],
    )
    for name in DATASETS:
        data = load_dataset(name, data_dir=data_dir, seed=0)
        for per_class in LABELS_PER_CLASS:
            for rate in RATES:
                for system in SYSTEMS:
                    runs = []
                    for seed in range(n_seeds):
                        progress(f"{name}: {per_class} labels a class, {rate:.0%}, {system}")
                        runs.append(
                            known.recall(
                                partial(_measure, data, per_class, rate, seed, system),
                                dataset=name,
                                per_class=per_class,
                                rate=rate,
                                seed=seed,
                                system=system,
                            )
                        )
                    table.rows.append([name, per_class, f"{rate:.0%}", system, *_cells(runs)])
    table.notes.extend(known.notes())
    return [table], []


def flip_labels(data: Dataset, per_class: int, rate: float, seed: int) -> Flipped:
    """Draw labels of each class at random and flip a part of them.

    Parameters
    ----------
    data : Dataset
        With all labels; −1 where there is none.
    per_class : int
        Labels of each class, at most half of those that it has.
    rate : float
        Fraction of the labels that are flipped, each to another class, all alike.
    seed : int
        Of the draw.
    """
    rng = np.random.default_rng([seed, per_class, round(1000 * rate)])
    labels = data.labels
    n_classes = int(labels.max()) + 1
    members = [np.flatnonzero(labels == code) for code in range(n_classes)]
    drawn = [rng.choice(one, min(per_class, len(one) // 2), replace=False) for one in members]
    nodes = np.sort(np.concatenate(drawn))
    wrong = np.zeros(len(nodes), dtype=bool)
    wrong[rng.choice(len(nodes), round(rate * len(nodes)), replace=False)] = True
    given = labels[nodes].copy()
    given[wrong] = (given[wrong] + rng.integers(1, n_classes, wrong.sum())) % n_classes
    return Flipped(nodes, given, wrong)


def _measure(data: Dataset, per_class: int, rate: float, seed: int, system: str) -> Record:
    flipped = flip_labels(data, per_class, rate, seed)
    find = _by_gpgc if system == "gpgc" else _by_cleanlab
    suspicion, named, expected = find(data, flipped, seed)
    wrong, n_wrong = flipped.wrong, int(flipped.wrong.sum())
    first = np.argsort(-suspicion, kind="stable")[:n_wrong]
    found = int(wrong[named].sum())
    return {
        "average_precision": float(average_precision_score(wrong, suspicion)),
        "at_flipped": float(wrong[first].mean()),
        "precision": found / max(1, int(named.sum())),
        "recall": found / n_wrong,
        "expected": expected / n_wrong,
    }


def _by_gpgc(data: Dataset, flipped: Flipped, seed: int) -> tuple[Array, NDArray[Any], float]:
    """Return suspicion (D,), which labels are named as wrong (D,), and how many are expected."""
    y = np.full(len(data.labels), -1)
    y[flipped.nodes] = flipped.given
    model = GPGCClassifier().fit(data.features, y, adjacency=data.adjacency)
    found = model.check_labels()
    suspicion = found.probability[np.argsort(found.nodes)]
    return suspicion, suspicion > 0.5, found.expected_errors


def _by_cleanlab(data: Dataset, flipped: Flipped, seed: int) -> tuple[Array, NDArray[Any], float]:
    from cleanlab.count import num_label_issues
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    links = data.adjacency
    graph = neighbor_graph(data.features, 10) if links is None else as_adjacency(links)
    propagation = normalize(graph)
    rows = (propagation @ (propagation @ data.features))[flipped.nodes]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    model = LogisticRegression(max_iter=1000)
    found = cross_val_predict(model, rows, flipped.given, cv=folds, method="predict_proba")
    suspicion = 1 - get_label_quality_scores(flipped.given, found)
    named = find_label_issues(flipped.given, found)
    return suspicion, named, float(num_label_issues(flipped.given, found))


def _cells(runs: list[Record]) -> list[str]:
    def cell(name: str) -> str:
        values = 100 * np.array([run[name] for run in runs])
        return f"{values.mean():.1f} ± {values.std() / np.sqrt(len(values)):.1f}"

    return [cell(name) for name in runs[0]]
