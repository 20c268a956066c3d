"""Pictures of how far probabilities can be trusted, a panel for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpgc.experiments.figures import MARKERS, PALETTE, save_figure
from gpgc.uncertainty.measures import reliability, risk_coverage

if TYPE_CHECKING:
    from gpgc.experiments.calibration import Results

LINES = ("-", "--", "-.")


def _panels(results: Mapping[str, Results], height: float) -> tuple[Any, Any]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(results), figsize=(4.2 * len(results), height), layout="constrained", squeeze=False
    )
    for axis, name in zip(axes[0], results, strict=True):
        axis.set_title(name)
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes[0]


def draw_reliability(
    results: Mapping[str, Results], methods: Sequence[str], folder: Path
) -> list[Path]:
    """Draw accuracy against confidence in 15 bins, the area of a mark for the nodes in it."""
    figure, axes = _panels(results, 4.4)
    for axis, result in zip(axes, results.values(), strict=True):
        axis.plot([0, 1], [0, 1], color="0.6", linestyle=":", zorder=0)
        for place, method in enumerate(methods):
            bins = reliability(result.forecast[method], result.truth)
            seen = bins.size > 0
            axis.plot(
                bins.confidence[seen],
                bins.accuracy[seen],
                color=PALETTE[place],
                linewidth=1.3,
                linestyle=LINES[place],
                zorder=1,
            )
            axis.scatter(
                bins.confidence[seen],
                bins.accuracy[seen],
                s=12 + 400 * bins.size[seen] / bins.size.sum(),
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
    handles, labels = axes[0].get_legend_handles_labels()
    legend = figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    for handle in legend.legend_handles:
        handle.set_sizes([50.0])
    return save_figure(figure, folder, "reliability")


def draw_risk(results: Mapping[str, Results], methods: Sequence[str], folder: Path) -> list[Path]:
    """Draw accuracy as the least confident nodes are held back."""
    figure, axes = _panels(results, 3.8)
    for axis, result in zip(axes, results.values(), strict=True):
        for place, method in enumerate(methods):
            coverage, risk = risk_coverage(result.forecast[method], result.truth)
            axis.plot(
                100 * coverage,
                100 * (1 - risk),
                color=PALETTE[place],
                linestyle=LINES[place],
                marker=MARKERS[place],
                markevery=max(len(coverage) // 8, 1),
                label=method,
            )
        axis.set(xlabel="nodes answered, per cent", xlim=(0, 101))
    axes[0].set_ylabel("accuracy, per cent")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    return save_figure(figure, folder, "risk_coverage")


def draw_deviations(results: Mapping[str, Results], folder: Path) -> list[Path]:
    """Draw the posterior standard deviations of right, wrong and strange nodes."""
    figure, axes = _panels(results, 3.6)
    styles = (("-", 0, 0.35), ("--", 1, 0.0), (":", 7, 0.0))
    for axis, result in zip(axes, results.values(), strict=True):
        every = np.concatenate(list(result.deviations.values()))
        edges = np.linspace(every.min(), np.quantile(every, 0.995), 31)
        for (kind, values), (line, colour, fill) in zip(
            result.deviations.items(), styles, strict=True
        ):
            heights, _ = np.histogram(values, edges)
            axis.stairs(
                heights / max(len(values), 1),
                edges,
                color=PALETTE[colour],
                linestyle=line,
                linewidth=1.8,
                label=kind,
            )
            if fill:
                axis.stairs(
                    heights / len(values), edges, fill=True, color=PALETTE[colour], alpha=fill
                )
        axis.set_xlabel("posterior standard deviation")
    axes[0].set_ylabel("share of nodes")
    axes[0].legend(frameon=False)
    return save_figure(figure, folder, "standard_deviations")
