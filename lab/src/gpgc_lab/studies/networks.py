"""Every infinitely wide network and its tangent kernel on the citation networks."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np
from sklearn.metrics import log_loss

from gpgc.datasets import Dataset
from gpgc.estimators import GPGCClassifier
from gpgc.graph import Nodes, as_adjacency
from gpgc.kernels import ACTIVATIONS
from gpgc.models import KernelKind, Prior, architecture_from
from gpgc_lab import published
from gpgc_lab.array_types import Integers
from gpgc_lab.cells import Measured
from gpgc_lab.code_digest import core_digest
from gpgc_lab.datasets import load_planetoid, random_split
from gpgc_lab.journal import Measurements, Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.speed.growth import block_model
from gpgc_lab.studies.citation import FIRST_SEED
from gpgc_lab.tables import Table

MODELS = ("big", "small", "sgc", "appnp", "gcnii", "sage", "gin")

NETWORKS: tuple[tuple[str, KernelKind], ...] = (
    ("broad", "nngp"),
    *((model, kernel) for model in MODELS for kernel in get_args(KernelKind)),
)

TRAINED = {
    "gcnii": (85.5, 73.4, 80.3),
    "appnp": (83.3, 71.8, 80.1),
    "big": (81.5, 70.3, 79.0),
    "sgc": (81.0, 71.9, 78.9),
}
"""Published accuracies of the trained networks on the public split; those of *big* are a GCN's."""

WIDTHS = (64, 192, 576)
"""Units of the random networks that are drawn."""

FITS = 2
"""Fits that are timed; the first may compile loops, and the shorter one counts."""

DRAWN_NODES = 120
"""Nodes of the made-up graph that they are drawn on."""

Progress = Callable[[str], None]


def networks_study(
    data_dir: Path | None, n_random: int, draws: int, folder: StudyFolder, progress: Progress
) -> list[Table]:
    """Return the tables of accuracy, of seconds and of distance by width.

    Parameters
    ----------
    data_dir : Path, optional
        Where the citation networks are.
    n_random : int
        Number of random splits beside the public one.
    draws : int
        Random networks of each width.
    folder : StudyFolder
        Folder of ``networks_runs.jsonl``, which holds every measurement as soon as it is made;
        what is found there is not measured again.
    progress : callable
        Told what is being done.
    """
    journal = folder.journal("networks_runs.jsonl", ("key", "measured"))
    measurements = Measurements(journal, core_digest(Path(__file__)))
    found: dict[tuple[str, str, str], Record] = {}
    for name in published.CITATION:
        data = load_planetoid(name, data_dir)
        for model, kernel in NETWORKS:
            progress(f"{name}: {model}, {kernel}")
            found[name, model, kernel] = measurements.recall(
                partial(measure, data, model, kernel, n_random),
                dataset=name,
                model=model,
                kernel=kernel,
                random_splits=n_random,
            )
    tables = [accuracy_table(found, n_random), seconds_table(found)]
    tables.append(width_table(draws, measurements, progress))
    for table in tables:
        table.notes.extend(measurements.notes())
    return tables


def measure(data: Dataset, model: str, kernel: KernelKind, n_random: int) -> Record:
    """Return accuracies and log losses on the public and the random splits, and seconds.

    Settings are the defaults; the noise is chosen by leave-one-out on the training labels. Test
    labels are looked at once.
    """
    per_class = len(data.train) // len(data.classes)
    sizes = per_class, len(data.validation), len(data.test)
    seeds = range(FIRST_SEED, FIRST_SEED + n_random)
    splits = [(data.train, data.validation, data.test)]
    splits += [random_split(data.labels, *sizes, seed) for seed in seeds]
    estimator = GPGCClassifier(model, kernel=kernel)
    seconds = min(_seconds(estimator, data) for _ in range(FITS))
    accuracy, loss = [], []
    for index, (train, _, test) in enumerate(splits):
        if index:
            estimator.relabel(_only(data, train))
        truth = data.labels[test]
        accuracy.append(float(np.mean(estimator.predict()[test] == truth)))
        proba = estimator.predict_proba()[test]
        loss.append(float(log_loss(truth, proba, labels=estimator.classes_)))
    return {
        "accuracy": accuracy,
        "log_loss": loss,
        "processor_seconds": round(seconds, 3),
        "approximations": list(estimator.approximations_),
    }


def _seconds(estimator: GPGCClassifier, data: Dataset) -> float:
    """Return the processor seconds of a fit and of all labels."""
    start = time.process_time()
    estimator.fit(data.features, _only(data, data.train), adjacency=data.adjacency)
    estimator.predict()
    return time.process_time() - start


def _only(data: Dataset, nodes: Integers) -> Integers:
    labels = np.full(len(data.labels), -1)
    labels[nodes] = data.labels[nodes]
    return labels


def accuracy_table(found: dict[tuple[str, str, str], Record], n_random: int) -> Table:
    """Return accuracies, the published ones of trained networks in brackets."""
    columns = [f"{name}, {split}" for name in published.CITATION for split in ("public", "random")]
    table = Table(
        "networks_accuracy",
        "Test accuracy of infinitely wide networks and their tangent kernels, per cent",
        ["network", "kernel", *columns],
        notes=[
            "Default parameters, no validation labels: the noise is chosen by leave-one-out on the "
            "training labels. In brackets: the published accuracy of the trained network on the "
            f"public split. Random: mean ± standard deviation over {n_random} splits of the same "
            "sizes."
        ],
    )
    for model, kernel in NETWORKS:
        cells: list[Measured] = []
        for place, name in enumerate(published.CITATION):
            values = [100 * value for value in found[name, model, kernel]["accuracy"]]
            known = TRAINED.get(model, (None, None, None))[place]
            cells += [Measured.of(values[:1], known), Measured.of(values[1:], ddof=0)]
        table.rows.append([model, kernel, *cells])
    table.notes.append(_against_default(found))
    return table


def _against_default(found: dict[tuple[str, str, str], Record]) -> str:
    """Say which networks are at or above the default on the random splits."""
    phrases = []
    for name in published.CITATION:
        default = np.mean(found[name, "broad", "nngp"]["accuracy"][1:] or [np.nan])
        above = [
            f"{model} ({kernel})"
            for model, kernel in NETWORKS[1:]
            if np.mean(found[name, model, kernel]["accuracy"][1:] or [np.nan]) >= default
        ]
        phrases.append(f"{name}: {', '.join(above) or 'none'}")
    return f"At or above the default (broad) on the random splits: {'; '.join(phrases)}."


def seconds_table(found: dict[tuple[str, str, str], Record]) -> Table:
    """Return processor seconds of a fit and all labels, over those of *big*, and log loss."""
    losses_of = [f"{name}, log loss" for name in published.CITATION]
    table = Table(
        "networks_seconds",
        "Processor seconds of a fit and all labels, over big's (nngp); mean log loss on all splits",
        ["network", "kernel", *published.CITATION, *losses_of, "Pubmed"],
    )
    for model, kernel in NETWORKS:
        rows = [found[name, model, kernel] for name in published.CITATION]
        bases = [found[name, "big", "nngp"]["processor_seconds"] for name in published.CITATION]
        ratios = [
            f"{row['processor_seconds']:.2f} ({row['processor_seconds'] / base:.1f})"
            for row, base in zip(rows, bases, strict=True)
        ]
        losses = [f"{np.mean(row['log_loss']):.3f}" for row in rows]
        said = ", ".join(rows[-1]["approximations"]) or "exact"
        table.rows.append([model, kernel, *ratios, *losses, said])
    return table


def width_table(draws: int, measurements: Measurements, progress: Progress) -> Table:
    """Return the exponent by which the distance to the limit falls with the width."""
    table = Table(
        "networks_width",
        "Relative distance of random networks to the limit by their width, and its exponent",
        ["network", "activation", *(f"{width:,}" for width in WIDTHS), "exponent"],
        notes=[
            f"Frobenius norms, root mean square over {draws} networks, made-up graph of "
            f"{DRAWN_NODES} nodes, default parameters; theory says -0.50. ± is the standard error "
            "of the exponent: nearly all of Γ lies in one direction, so that the square of a "
            "distance varies as that of one normal number does."
        ],
    )
    for model in ("big", "sgc", "appnp", "gcnii", "sage", "gin"):
        for activation in ("identity",) if model == "sgc" else ACTIVATIONS:
            progress(f"width: {model}, {activation}")
            record = measurements.recall(
                partial(distances, model, activation, draws),
                width_of=model,
                activation=activation,
                draws=draws,
            )
            distance, errors = record["distance"], record["relative_error"]
            cells = [f"{value:.4f}" for value in distance]
            exponent, error = slope(distance, errors)
            table.rows.append([model, activation, *cells, f"{exponent:.2f} ± {error:.2f}"])
    return table


def slope(distance: list[float], relative_errors: list[float]) -> tuple[float, float]:
    """Return the exponent of the width that fits distances best, and its standard error.

    Examples
    --------
    >>> slope([width**-0.5 for width in WIDTHS], [0.1] * len(WIDTHS))
    (-0.5, 0.064...)
    """
    width = np.log(WIDTHS) - np.mean(np.log(WIDTHS))
    weights = width / (width @ width)
    exponent = float(weights @ np.log(distance))
    return round(exponent, 12), float(np.linalg.norm(weights * np.array(relative_errors)))


def distances(model: str, activation: str, draws: int) -> Record:
    """Return the distance of random networks to Γ at each width, and its relative error."""
    adjacency, features, _ = block_model(DRAWN_NODES, seed=1)
    nodes = Nodes(as_adjacency(adjacency), np.asarray(features, dtype=np.float64))
    network = architecture_from(model, activation=activation)
    limit = Prior(network, nodes).covariance().block()
    found: Record = {"distance": [], "relative_error": []}
    for width in WIDTHS:
        rng = np.random.default_rng([width, *f"{model} {activation}".encode()])
        drawn = (network.sample(nodes, width, rng) - limit for _ in range(draws))
        squares = np.array([np.sum(difference**2) for difference in drawn])
        found["distance"].append(float(np.sqrt(squares.mean()) / np.linalg.norm(limit)))
        spread = squares.std(ddof=1) / squares.mean()
        found["relative_error"].append(float(spread / (2 * np.sqrt(draws))))
    return found
