"""Networks of growing width against the infinite one, trained and merely drawn."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gpgc.datasets import Dataset
from gpgc.estimators import GPGCClassifier
from gpgc.graph import Nodes
from gpgc.models import architecture_from, covariance
from gpgc_lab import published
from gpgc_lab.array_types import Array
from gpgc_lab.cells import Measured
from gpgc_lab.code_digest import core_digest
from gpgc_lab.datasets import load_planetoid
from gpgc_lab.journal import Measurements, Record
from gpgc_lab.locations import StudyFolder
from gpgc_lab.plotting import MARKERS, PALETTE, save_figure
from gpgc_lab.tables import Table

TRAINED = (16, 64, 256, 1024)
"""Hidden units of the networks that are trained."""

DRAWN = (16, 64, 256, 1024, 4096)
"""Hidden units of the networks that are only drawn."""

LINES = ("-", "--", "-.")

Progress = Callable[[str], None]


def width_study(
    data_dir: Path | None, seeds: int, folder: StudyFolder, progress: Progress
) -> tuple[list[Table], list[Path]]:
    """Return the tables of accuracy and of distance to Γ, and the picture that was written.

    Parameters
    ----------
    data_dir : Path, optional
        Where the citation networks are.
    seeds : int
        How often each network is trained, and drawn.
    folder : StudyFolder
        Folder of the picture and of ``width_runs.jsonl``, which holds what is known of each
        network as soon as it is; what is found there is not measured again.
    progress : callable
        Told what is being done.
    """
    journal = folder.journal("width_runs.jsonl", ("key", "measured"))
    measurements = Measurements(journal, core_digest(Path(__file__)))
    datasets = {name: load_planetoid(name, data_dir) for name in published.CITATION}
    accuracy = {
        name: trained_accuracy(data, seeds, measurements, progress)
        for name, data in datasets.items()
    }
    infinite = {name: infinite_accuracy(data) for name, data in datasets.items()}
    first = next(iter(datasets.values()))
    distance = distances(first, seeds, measurements, progress)
    tables = [
        _accuracy_table(accuracy, infinite, seeds),
        _distance_table(distance, first.name, seeds),
    ]
    for table in tables:
        table.notes.extend(measurements.notes())
    return tables, draw_width(accuracy, infinite, distance, first.name, folder.out)


def trained_accuracy(
    data: Dataset, seeds: int, measurements: Measurements, progress: Progress
) -> Array:
    """Return test accuracies (n_widths, n_seeds) of networks that are trained."""
    result = np.zeros((len(TRAINED), seeds))
    for place, width in enumerate(TRAINED):
        for seed in range(seeds):
            progress(f"{data.name}: {width} units, run {seed + 1} of {seeds}")
            record = measurements.recall(
                partial(_train, data, width, seed), dataset=data.name, trained=width, seed=seed
            )
            result[place, seed] = record["accuracy"]
    return result


def _train(data: Dataset, width: int, seed: int) -> Record:
    from gpgc_lab.baselines import Problem
    from gpgc_lab.baselines.graph_convolution import run

    prediction = run(Problem.of(data), seed, hidden=width)
    return {
        "accuracy": _accuracy(prediction.probabilities, data),
        "epochs": prediction.epochs,
        "train_seconds": round(prediction.train_seconds, 3),
    }


def infinite_accuracy(data: Dataset) -> float:
    """Return the test accuracy of the Gaussian process, which sees the training labels alone."""
    labels = np.full(len(data.labels), -1)
    labels[data.train] = data.labels[data.train]
    estimator = GPGCClassifier("big").fit(data.features, labels, adjacency=data.adjacency)
    return _accuracy(estimator.predict_proba(), data)


def _accuracy(probabilities: Array, data: Dataset) -> float:
    return float(np.mean(probabilities.argmax(axis=1)[data.test] == data.labels[data.test]))


def distances(data: Dataset, seeds: int, measurements: Measurements, progress: Progress) -> Array:
    r"""Return :math:`\|\Gamma_w - \Gamma\|_F / \|\Gamma\|_F` of networks that are drawn.

    Returns
    -------
    array of shape (n_widths, n_seeds)
    """
    gamma = covariance(data.adjacency, data.features).block()
    architecture, nodes = architecture_from("big"), Nodes(data.adjacency, data.features)
    result = np.zeros((len(DRAWN), seeds))

    def draw(width: int, seed: int) -> Record:
        rng = np.random.default_rng([width, seed])
        drawn = architecture.sample(nodes, width, rng)
        return {"distance": float(np.linalg.norm(drawn - gamma) / np.linalg.norm(gamma))}

    for place, width in enumerate(DRAWN):
        progress(f"{data.name}: covariance of random networks with {width} units")
        for seed in range(seeds):
            record = measurements.recall(
                partial(draw, width, seed), dataset=data.name, drawn=width, seed=seed
            )
            result[place, seed] = record["distance"]
    return result


def slope(distance: Array) -> float:
    """Return the exponent of the width that fits the distances best."""
    exponent, _ = np.polyfit(np.log(DRAWN), np.log(distance.mean(axis=1)), 1)
    return float(exponent)


def _accuracy_table(accuracy: dict[str, Array], infinite: dict[str, float], seeds: int) -> Table:
    table = Table(
        "width_accuracy",
        "Test accuracy of a GCN by its hidden units, per cent: ours (paper's)",
        ["data set", *(str(width) for width in TRAINED), "+∞"],
        notes=[
            f"GCN: mean ± standard deviation over {seeds} seeds, public split, validation labels "
            "for early stopping. +∞ is GPGC-big, which is exact and has no seed; its noise is "
            "chosen by leave-one-out on the training labels, without validation labels."
        ],
    )
    for name, runs in accuracy.items():
        paper = _published(name)
        values = [*(100 * runs), [100 * infinite[name]]]
        cells = [
            Measured.of(mine, paper.get(width), ddof=0)
            for width, mine in zip((*TRAINED, None), values, strict=True)
        ]
        table.rows.append([name, *cells])
    return table


def _published(name: str) -> dict[int | None, float]:
    """Return the paper's accuracy at each of its widths; None is infinity."""
    if name not in published.WIDTH_ACCURACY:
        return {}
    return dict(zip((*published.WIDTHS, None), published.WIDTH_ACCURACY[name], strict=True))


def _distance_table(distance: Array, name: str, seeds: int) -> Table:
    table = Table(
        "width_distance",
        f"Relative distance of the covariance of random GCNs to Γ on {name}",
        ["hidden units", "mean", "standard deviation"],
        notes=[
            f"Frobenius norm of the difference over that of Γ, all pairs of nodes, {seeds} draws. "
            f"It falls as the width to the power {slope(distance):.2f}; theory says -0.50."
        ],
    )
    for width, row in zip(DRAWN, distance, strict=True):
        table.rows.append([width, float(row.mean()), float(row.std())])
    return table


def draw_width(
    accuracy: dict[str, Array],
    infinite: dict[str, float],
    distance: Array,
    name: str,
    folder: Path,
) -> list[Path]:
    """Draw accuracy and distance against width, with deviations over seeds as error bars."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    _draw_accuracy(left, accuracy, infinite)
    _draw_distance(right, distance, name)
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    return save_figure(figure, folder, "width")


def _draw_accuracy(axis: Any, accuracy: dict[str, Array], infinite: dict[str, float]) -> None:
    places = np.arange(len(TRAINED) + 1)
    for index, (name, runs) in enumerate(accuracy.items()):
        mean = 100 * np.append(runs.mean(axis=1), infinite[name])
        spread = 100 * np.append(runs.std(axis=1), 0.0)
        axis.errorbar(
            places,
            mean,
            spread,
            color=PALETTE[index],
            linestyle=LINES[index % len(LINES)],
            marker=MARKERS[index],
            capsize=3,
            label=name,
        )
        paper = _published(name)
        axis.plot(
            places + 0.12,
            [paper.get(width, np.nan) for width in (*TRAINED, None)],
            color=PALETTE[index],
            linestyle="none",
            marker=MARKERS[index],
            fillstyle="none",
        )
    axis.set(
        title="Trained networks (hollow: the paper's numbers)",
        xlabel="hidden units",
        ylabel="test accuracy, per cent",
        xticks=places,
        xticklabels=[*(f"{width:,}" for width in TRAINED), "∞"],
    )
    axis.legend(frameon=False, ncols=len(accuracy))


def _draw_distance(axis: Any, distance: Array, name: str) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    mean = distance.mean(axis=1)
    axis.errorbar(
        DRAWN,
        mean,
        distance.std(axis=1),
        color=PALETTE[0],
        marker=MARKERS[0],
        capsize=3,
        label=f"{name}, slope {slope(distance):.2f}".replace("-", "−"),
    )
    centre = np.exp(np.mean(np.log(mean) + np.log(DRAWN) / 2))
    axis.plot(DRAWN, centre / np.sqrt(DRAWN), color="0.35", linestyle="--", label="slope −1/2")
    axis.set(
        title="Random networks, distance to the limit",
        xscale="log",
        yscale="log",
        xlabel="hidden units",
        ylabel=r"$\|\Gamma_{\mathrm{width}} - \Gamma\|_F\ /\ \|\Gamma\|_F$",
        xticks=DRAWN,
        xticklabels=[f"{width:,}" for width in DRAWN],
    )
    axis.xaxis.minorticks_off()
    axis.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.legend(frameon=False)
