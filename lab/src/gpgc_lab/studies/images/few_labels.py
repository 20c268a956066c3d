"""Fewer labelled images: 200, 600 and 1,000, on features that saw more labels and that saw none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpgc.datasets import Dataset
from gpgc.estimators import GPGCClassifier
from gpgc.estimators.given import encode_given
from gpgc.graph import neighbor_graph
from gpgc.models import Prior
from gpgc_lab import published
from gpgc_lab.comparison.runs import FIELDS
from gpgc_lab.datasets.image_graphs import (
    as_dataset,
    load_image_graph,
)
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies.images.candidates import Candidate, candidates, choose, learn_from_validation
from gpgc_lab.studies.images.image_scores import N_NEIGHBORS
from gpgc_lab.studies.images.network_features import describe_features, load_all_features
from gpgc_lab.studies.images.other_systems import accuracy_cell, other_systems
from gpgc_lab.tables import Table
from gpgc_lab.task import Task

DEFAULT = "GPGC broad, default"
MODELS = ("GCN", "GPGC-big", DEFAULT, "GPGC-X")
RUNS = "labels_runs.jsonl"

Accuracies = dict[str, dict[int, list[float]]]


def labels_study(
    data_dir: Path | None,
    folder: StudyFolder,
    progress: Callable[[str], None],
    seeds: int = 5,
    features: Path | None = None,
) -> tuple[list[Table], list[Path]]:
    """Return a table on features that saw 1,000 labels, and two on features that saw none.

    Parameters
    ----------
    data_dir : Path, optional
        Where to look for the images first.
    folder : StudyFolder
        Folder for the runs of other systems.
    progress : callable
        Told what goes on.
    seeds : int
        Runs of each other system.
    features : Path, optional
        Folder with what ``gpgc train`` wrote; that of the laboratory when not given.
    """
    made = load_all_features(features)
    learnt = _table(
        "labels_network",
        "Test accuracy against labels, per cent: ours (paper's). Features saw all 1,000 labels",
        [
            "The network learnt from 1,000 labels (as we read the paper), so the columns of 200 "
            "and 600 labels know more than those labels say.",
        ],
    )
    elsewhere = _table(
        "labels_pretrained",
        "PRETRAINED elsewhere, not to be compared with the paper: test accuracy against labels",
        [
            "The network learnt from other images and their labels; of these it saw none, so "
            "every column knows only its own labels."
        ],
    )
    plain = _table(
        "labels_pca",
        "Test accuracy against labels, per cent. Features saw no label: 64 principal components",
        ["The paper has no such table; every column knows only its own labels."],
    )

    def add(table: Table, kind: str, data: Dataset, with_paper: bool = False) -> None:
        def tell(step: str) -> None:
            progress(f"{kind}, {step}")

        accuracies = _study(data, gcn, tell)
        _add_rows(table, accuracies, data.name, kind, with_paper=with_paper)
        runs = max((len(values) for values in accuracies["GCN"].values()), default=0)
        if runs > 1:
            words = f"GCN on {data.name}, {kind}: mean ± standard deviation over {runs} seeds."
            table.notes.append(words)

    def gcn(data: Dataset) -> dict[str, list[float]]:
        command = f"gpgc reproduce labels --seeds {seeds}"
        return other_systems(
            Task.of(data), ["GCN"], seeds, folder.journal(RUNS, FIELDS), command, progress
        )

    for name in published.IMAGES:
        for kind, by_name in made.items():
            if name in by_name:
                table = elsewhere if kind.is_pretrained else learnt
                data = as_dataset(name, by_name[name])
                add(table, kind.name, data, with_paper=not kind.is_pretrained)
                words = describe_features(by_name[name])
                table.notes.append(f"Features of {name}, {kind.name}: {words}.")
        add(plain, "principal components", load_image_graph(name, "pca", data_dir))
    return [table for table in (learnt, elsewhere, plain) if table.rows], []


def nested_labels(
    labels: NDArray[np.int64], train: NDArray[np.int64], count: int
) -> NDArray[np.int64]:
    """Return the first training images of each class, so many in all; more contain fewer."""
    classes = np.unique(labels[train])
    each = count // len(classes)
    return np.sort(np.concatenate([train[labels[train] == label][:each] for label in classes]))


def _study(
    data: Dataset,
    others: Callable[[Dataset], dict[str, list[float]]],
    progress: Callable[[str], None],
) -> Accuracies:
    progress(f"{data.name}: graph and covariances")
    data = replace(data, adjacency=neighbor_graph(data.features, N_NEIGHBORS))
    seen = np.concatenate([data.train, data.validation])
    tried = list(candidates(np.asarray(data.features), data.adjacency, seen, ["big"]))
    prior = GPGCClassifier().make_prior(data.features, data.adjacency, len(data.labels))
    accuracies: Accuracies = {model: {} for model in MODELS}
    for count in published.LABEL_COUNTS:
        progress(f"{data.name}: {count} labels")
        fewer = replace(data, train=nested_labels(data.labels, data.train, count))
        for model, values in (_accuracy(fewer, tried, prior) | others(fewer)).items():
            accuracies[model][count] = values
    return accuracies


def _accuracy(data: Dataset, tried: list[Candidate], prior: Prior) -> dict[str, list[float]]:
    truth = data.labels[data.test]
    every = np.concatenate([data.train, data.validation])
    choice = choose(tried, data.labels, data.train, data.validation)
    again = learn_from_validation(choice, data.labels, data.train, data.validation)
    y = np.full(len(data.labels), -1)
    y[data.train] = data.labels[data.train]
    default = GPGCClassifier().fit_prior(prior, encode_given(y))
    predicted = {
        "GPGC-big": choice.predict(data.labels, data.train, data.test),
        DEFAULT: default.predict()[data.test],
        "GPGC-X": again.predict(data.labels, every, data.test),
    }
    return {model: [float(np.mean(answer == truth))] for model, answer in predicted.items()}


def _table(name: str, title: str, notes: list[str]) -> Table:
    counts = [f"{count:,} labels" for count in published.LABEL_COUNTS]
    common = (
        "The labels of each column contain those of the columns before. Settings are chosen on "
        "1,000 validation labels, except those of the default model, which sees none of them; "
        "GPGC-X learns from them too. Beside the default stands the paper's GPGC-big."
    )
    return Table(name, title, ["data set", "features", "model", *counts], notes=[common, *notes])


def _add_rows(
    table: Table, accuracies: Accuracies, name: str, kind: str, *, with_paper: bool
) -> None:
    for model, by_count in accuracies.items():
        named = "GPGC-big" if model == DEFAULT else model
        paper = published.LABEL_ACCURACY[name].get(named) if with_paper else None
        cells = [
            accuracy_cell(by_count.get(count, []), paper[place] if paper else None)
            for place, count in enumerate(published.LABEL_COUNTS)
        ]
        table.rows.append([name, kind, model, *cells])
