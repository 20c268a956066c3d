"""The bar chart of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gpgc_lab.comparison.systems import OURS
from gpgc_lab.plotting import PALETTE, save_figure

if TYPE_CHECKING:
    from gpgc_lab.comparison.summary import Summary


def draw_accuracies(name: str, summaries: Sequence[Summary], folder: Path) -> list[Path]:
    """Draw a bar a system, with the deviation over seeds, and a line at the published accuracy."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 1.3 + 0.32 * len(summaries)), layout="constrained")
    mark: dict[str, Any] = {
        "marker": "|",
        "markersize": 15,
        "markeredgewidth": 2.5,
        "linestyle": "none",
        "color": PALETTE[5],
    }
    for place, summary in enumerate(summaries):
        values = summary.accuracies()
        if not values:
            remark = summary.remark.partition(":")[0]
            axis.text(1, place, remark, va="center", fontsize=8, color="0.35")
        else:
            mean = float(np.mean(values))
            axis.barh(
                place,
                mean,
                0.72,
                xerr=summary.deviation(),
                color=PALETTE[0] if summary.system in OURS else "0.78",
                error_kw={"elinewidth": 1.2, "capsize": 2.5},
            )
            colour = "white" if summary.system in OURS else "black"
            axis.text(1, place, f"{mean:.1f}", va="center", fontsize=8.5, color=colour)
        if summary.published is not None:
            axis.plot(summary.published, place, **mark)
    axis.plot([], [], **mark, label="published")
    axis.barh([0], [0], color=PALETTE[0], label="GPGC")
    axis.barh([0], [0], color="0.78", label="other systems")
    axis.set_yticks(range(len(summaries)), [summary.system for summary in summaries])
    axis.set(xlim=(0, 100), xlabel="test accuracy, per cent", title=name)
    axis.set_ylim(len(summaries) - 0.4, -0.6)
    axis.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return save_figure(figure, folder, f"compare_{name}")
