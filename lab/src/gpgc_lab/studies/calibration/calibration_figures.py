"""Pictures of how far probabilities can be trusted, a panel for each data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gpgc_lab.array_types import Array
from gpgc_lab.journal import Record
from gpgc_lab.plotting import MARKERS, PALETTE, save_figure
from gpgc_lab.studies.calibration.calibration_metrics import COVERAGES

DRAWN = {
    "GPGC, no validation labels": "-",
    "GCN, uncalibrated": "--",
    "GCN, 500 validation labels": (0, (1, 1)),
    "logistic regression on Â²X": "-.",
}
"""Methods in the pictures, and their lines."""

FEW = 1e-3
"""Share of the nodes up to which a bin is not drawn: chance alone."""

Forecasts = Mapping[str, Mapping[str, list[Record]]]
"""By data set and method, a record a split."""


def draw_reliability(forecasts: Forecasts, folder: Path) -> list[Path]:
    """Draw accuracy against confidence over all splits, the area of a mark for the nodes in it."""
    figure, axes = _panels(list(forecasts), 4.6)
    for axis, methods in zip(axes, forecasts.values(), strict=True):
        axis.plot([0, 1], [0, 1], color="0.6", linestyle=":", zorder=0)
        for place, line, method, records in _drawn(methods):
            size = np.sum([record["size"] for record in records], axis=0)
            seen = size > FEW * size.sum()
            confidence, right = (
                _weighted_mean(records, key)[seen] for key in ("confidence", "right")
            )
            axis.plot(confidence, right, color=PALETTE[place], linewidth=1.3, linestyle=line)
            axis.scatter(
                confidence,
                right,
                s=12 + 400 * size[seen] / size.sum(),
                color=PALETTE[place],
                marker=MARKERS[place],
                clip_on=False,
                edgecolors="white",
                linewidths=0.6,
                label=method,
                zorder=2,
            )
        axis.set(xlabel="confidence", xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
    axes[0].set_ylabel("accuracy")
    legend = _legend_below(figure, axes[0])
    for handle in legend.legend_handles:
        handle.set_sizes([50.0])
    return save_figure(figure, folder, "reliability")


def draw_risk(forecasts: Forecasts, folder: Path) -> list[Path]:
    """Draw accuracy as the least confident nodes are held back, mean over all splits."""
    figure, axes = _panels(list(forecasts), 4)
    for axis, methods in zip(axes, forecasts.values(), strict=True):
        for place, line, method, records in _drawn(methods):
            risk = np.mean([record["risk"] for record in records], axis=0)
            axis.plot(
                100 * COVERAGES,
                100 * (1 - risk),
                color=PALETTE[place],
                linestyle=line,
                marker=MARKERS[place],
                markevery=7,
                label=method,
            )
        axis.set(xlabel="nodes answered, per cent", xlim=(0, 101))
    axes[0].set_ylabel("accuracy, per cent")
    _legend_below(figure, axes[0])
    return save_figure(figure, folder, "risk_coverage")


def draw_deviations(histograms: Mapping[str, Record], folder: Path) -> list[Path]:
    """Draw the posterior standard deviations of right, wrong and novel nodes."""
    figure, axes = _panels(list(histograms), 3.8)
    styles = (("-", 0, 0.35), ("--", 1, 0.0), (":", 7, 0.0))
    for axis, histogram in zip(axes, histograms.values(), strict=True):
        edges = histogram["edges"]
        for (kind, shares), (line, colour, fill) in zip(
            histogram["shares"].items(), styles, strict=True
        ):
            look = {"color": PALETTE[colour], "linestyle": line, "linewidth": 1.8}
            axis.stairs(shares, edges, label=kind, **look)
            if fill:
                axis.stairs(shares, edges, fill=True, color=PALETTE[colour], alpha=fill)
        axis.set_xlabel("posterior standard deviation")
    axes[0].set_ylabel("share of nodes")
    _legend_below(figure, axes[0])
    return save_figure(figure, folder, "standard_deviations")


def _panels(names: list[str], height: float) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(names), figsize=(4.2 * len(names), height), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes[0], names, strict=True):
        axis.set_title(name)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes[0]


def _drawn(
    methods: Mapping[str, list[Record]],
) -> Iterator[tuple[int, Any, str, list[Record]]]:
    """Give place, line, name and records of the methods in the pictures that were measured."""
    for place, (method, line) in enumerate(DRAWN.items()):
        if method in methods:
            yield place, line, method, methods[method]


def _weighted_mean(records: list[Record], key: str) -> Array:
    """Return the mean over splits of a value of each bin, weighted by the nodes in it."""
    sizes = np.array([record["size"] for record in records], dtype=np.float64)
    values = np.array([record[key] for record in records])
    return np.asarray((sizes * values).sum(axis=0) / np.maximum(sizes.sum(axis=0), 1))


def _legend_below(figure: Any, axis: Any) -> Any:
    handles, labels = axis.get_legend_handles_labels()
    return figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
