"""The image tables: the paper's models, ours, and the network that made the features."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from gpgc.datasets import Dataset, load_images
from gpgc.datasets.feature_files import FeatureSet
from gpgc.datasets.image_graphs import as_dataset
from gpgc.errors import DataError
from gpgc.estimators import GPGCClassifier
from gpgc.graph import neighbor_graph
from gpgc_lab import published
from gpgc_lab.array_types import Integers
from gpgc_lab.comparison.runs import FIELDS
from gpgc_lab.locations import StudyFolder
from gpgc_lab.studies.images.candidates import Choice, candidates, choose, learn_from_validation
from gpgc_lab.studies.images.feature_table import feature_table
from gpgc_lab.studies.images.image_figures import draw_maps, draw_samples, map_features
from gpgc_lab.studies.images.network_features import load_network_features
from gpgc_lab.studies.images.other_systems import accuracy_cell, other_systems
from gpgc_lab.tables import Table
from gpgc_lab.task import Task

OTHERS = ("GCN", "GAT", "GGP", "GLCN", "GGP-X")
N_NEIGHBORS = 10
RUNS = "images_runs.jsonl"

NETWORK = "the network's own classifier"
BROAD = "GPGC broad, default"
BEST = "GPGC, model chosen on validation"
FROZEN = "GPGC-X, frozen"
ROWS = (
    NETWORK,
    "GCN",
    "GAT",
    "GGP",
    "GLCN",
    "GPGC-small",
    "GPGC-big",
    BROAD,
    BEST,
    "GGP-X",
    FROZEN,
    "GPGC-X, noise again",
    f"{BROAD}, X",
    f"{BEST}, X",
)


@dataclass
class ImageScores:
    """What was found of one data set.

    Attributes
    ----------
    accuracy : dict
        Test accuracies of each row: one of ours, one for each seed of another system.
    choices : dict
        What was chosen for a row, and how that did on the validation images.
    edges : tuple of int
        Edges without and with the node itself among its neighbours.
    seconds : dict
        Of the steps.
    """

    accuracy: dict[str, list[float]] = field(default_factory=dict)
    choices: dict[str, Choice] = field(default_factory=dict)
    edges: tuple[int, int] = (0, 0)
    seconds: dict[str, float] = field(default_factory=dict)


def images_study(
    data_dir: Path | None,
    folder: StudyFolder,
    progress: Callable[[str], None],
    seeds: int = 5,
    features: Path | None = None,
) -> tuple[list[Table], list[Path]]:
    """Return the tables of MNIST, SVHN and CIFAR-10, and the pictures that were written.

    Parameters
    ----------
    data_dir : Path, optional
        Where to look for the images first; without images only their samples are not drawn.
    folder : StudyFolder
        Folder for the pictures and for the runs of other systems.
    progress : callable
        Told what goes on.
    seeds : int
        Runs of each other system.
    features : Path, optional
        Folder with what ``gpgc train`` wrote; that of the laboratory when not given.
    """
    made = {name: load_network_features(name, features) for name in published.IMAGES}
    scores, maps = {}, []
    for name, one in made.items():
        data, scores[name] = evaluate(name, one, progress)
        command = f"gpgc reproduce images --seeds {seeds}"
        others = other_systems(
            Task.of(data), OTHERS, seeds, folder.journal(RUNS, FIELDS), command, progress
        )
        scores[name].accuracy |= others
        progress(f"{name}: map of the features")
        maps.append(map_features(name, one, data.adjacency))
    tables = [_accuracy_table(scores, made), _choice_table(scores), _graph_table(scores)]
    tables.append(feature_table(features, progress))
    try:
        images = [load_images(name, data_dir) for name in made]
    except DataError as error:
        tables[0].notes.append(f"No samples of the images are drawn: {error}")
        return tables, draw_maps(maps, {}, folder.out)
    classes = {data.name: data.classes for data in images}
    return tables, [*draw_samples(images, folder.out), *draw_maps(maps, classes, folder.out)]


def evaluate(
    name: str, made: FeatureSet, progress: Callable[[str], None]
) -> tuple[Dataset, ImageScores]:
    """Build the graph, choose on training and validation labels, look at test labels once."""
    score = ImageScores({NETWORK: [made.network_accuracy("test")]})
    progress(f"{name}: graph")
    start = time.perf_counter()
    graph = neighbor_graph(made.features, N_NEIGHBORS)
    score.seconds["graph"] = time.perf_counter() - start
    with_itself = neighbor_graph(made.features, N_NEIGHBORS, include_self=True)
    score.edges = graph.nnz // 2, with_itself.nnz // 2
    data = replace(as_dataset(name, made), adjacency=graph)
    _chosen_rows(data, score, progress)
    _default_rows(data, score, progress)
    return data, score


def _chosen_rows(data: Dataset, score: ImageScores, progress: Callable[[str], None]) -> None:
    every = np.concatenate([data.train, data.validation])
    models = ("small", "big", "broad")
    split = data.labels, data.train, data.validation
    progress(f"{data.name}: covariances")
    start = time.perf_counter()
    tried = list(candidates(np.asarray(data.features), data.adjacency, every, models))
    progress(f"{data.name}: choosing among {len(tried)} models")
    small, big = (
        choose([one for one in tried if one.model == model], *split) for model in models[:2]
    )
    chosen = choose(tried, *split)
    big_again = learn_from_validation(big, *split)
    chosen_again = learn_from_validation(chosen, *split)
    score.seconds["choice"] = time.perf_counter() - start
    rows = {
        "GPGC-small": (small, data.train),
        "GPGC-big": (big, data.train),
        BEST: (chosen, data.train),
        FROZEN: (big, every),
        "GPGC-X, noise again": (big_again, every),
        f"{BEST}, X": (chosen_again, every),
    }
    for row, (choice, learnt) in rows.items():
        predicted = choice.predict(data.labels, learnt, data.test)
        score.accuracy[row] = [_share_right(predicted, data)]
        if row != FROZEN:
            score.choices[row] = choice


def _default_rows(data: Dataset, score: ImageScores, progress: Callable[[str], None]) -> None:
    progress(f"{data.name}: default model")
    y = np.full(len(data.labels), -1)
    y[data.train] = data.labels[data.train]
    estimator = GPGCClassifier()
    start = time.perf_counter()
    estimator.fit(data.features, y, adjacency=data.adjacency)
    score.seconds["default"] = time.perf_counter() - start
    score.accuracy[BROAD] = [_share_right(estimator.predict()[data.test], data)]
    y[data.validation] = data.labels[data.validation]
    estimator.relabel(y)
    score.accuracy[f"{BROAD}, X"] = [_share_right(estimator.predict()[data.test], data)]


def _share_right(predicted: Integers, data: Dataset) -> float:
    return float(np.mean(predicted == data.labels[data.test]))


def _accuracy_table(scores: dict[str, ImageScores], made: dict[str, FeatureSet]) -> Table:
    table = Table(
        "images_accuracy",
        "Test accuracy on images, per cent: ours (paper's)",
        ["model", *scores],
        notes=[
            "All rows have the same features and the graph of 10 nearest neighbours. Settings are "
            "chosen by validation accuracy less a tenth of the cross-entropy there, the model "
            "among small, big and broad; test labels are looked at once. GPGC-X is big with the "
            "validation labels added, at frozen settings as in the paper, and with the noise "
            "chosen again by leaving each validation image out. The default model sees no "
            "validation label, its X form learns from them. The paper's features came from a "
            "longer schedule; rows without our number need "
            '`pip install "./lab[baselines]"`.',
            _count_runs(scores),
            *(f"Features of {name}: {describe_features(one)}." for name, one in made.items()),
        ],
    )
    for row in ROWS:
        paper = published.IMAGE_ACCURACY.get(row.partition(",")[0])
        cells = [
            accuracy_cell(score.accuracy.get(row, []), paper[place] if paper else None)
            for place, score in enumerate(scores.values())
        ]
        table.rows.append([row, *cells])
    return table


def _count_runs(scores: dict[str, ImageScores]) -> str:
    """Return how many runs are behind the rows of other systems."""
    counts = {
        system: [len(score.accuracy.get(system, [])) for score in scores.values()]
        for system in OTHERS
    }
    most = max(map(max, counts.values()))
    fewer = [
        f"{system} {' / '.join(map(str, each))}"
        for system, each in counts.items()
        if min(each) < most
    ]
    words = f"Other systems: mean ± standard deviation over {most} seeds"
    return words + (f", but {', '.join(fewer)}." if fewer else ".")


def describe_features(made: FeatureSet) -> str:
    """Return in a few words how features were made, and what labels their making saw."""
    known = made.provenance
    words = [str(known.get("method", "unknown method"))]
    words += [f"{known[key]:,.0f} {key}" for key in ("steps", "seconds") if key in known]
    words += [str(known["labels_used"])] if "labels_used" in known else []
    return "; ".join(words)


def _choice_table(scores: dict[str, ImageScores]) -> Table:
    table = Table(
        "images_settings",
        "What was chosen, and its accuracy on the validation images, per cent",
        ["model", "data set", "network", "settings", "noise / δ_W^L", "validation accuracy"],
        notes=[
            "For rows that learn from validation labels each validation image was left out in turn."
        ],
    )
    for name, score in scores.items():
        for row, choice in score.choices.items():
            candidate = choice.candidate
            cells = [candidate.model, candidate.settings, f"{choice.noise:.3g}"]
            table.rows.append([row, name, *cells, f"{100 * choice.accuracy:.1f}"])
    return table


def _graph_table(scores: dict[str, ImageScores]) -> Table:
    table = Table(
        "images_graphs",
        "Edges of the graphs of 10 nearest neighbours, and seconds on 10,000 images",
        [
            "data set",
            "edges, 10 others",
            "edges, 9 others and itself",
            "edges, paper",
            "graph, s",
            "choice of models, noise and X, s",
            "default model, s",
        ],
    )
    for name, score in scores.items():
        seconds = [f"{score.seconds[step]:.1f}" for step in ("graph", "choice", "default")]
        table.rows.append([name, *score.edges, published.DATASETS[name][1], *seconds])
    return table
