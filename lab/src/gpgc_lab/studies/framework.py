"""The paper's framework figure: a graph with few labels, the posterior, labels for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gpgc.estimators import GPGCClassifier
from gpgc.kernels import SquaredExponential
from gpgc_lab.plotting import MARKERS, PALETTE, save_figure

N_POINTS = 150
LABELLED = {0: (8, 38, 66), 1: (84, 112, 143)}
"""Which points of each moon are labelled."""


def draw_framework(folder: Path) -> list[Path]:
    """Draw the framework on two moons of points and their neighbour graph; PNG and SVG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.collections import LineCollection
    from sklearn.datasets import make_moons

    points, truth = make_moons(N_POINTS, noise=0.08, shuffle=False, random_state=1)
    y = np.full(N_POINTS, -1)
    for label, nodes in LABELLED.items():
        y[list(nodes)] = label
    estimator = GPGCClassifier("big", base_kernel=SquaredExponential(0.4), n_neighbors=6)
    estimator.fit(points, y)
    mean, std = estimator.predict_latent(return_std=True)
    probability = estimator.predict_proba()
    graph = estimator.adjacency_.tocoo()
    segments = np.stack([points[graph.row], points[graph.col]], axis=1)

    figure, axes = plt.subplots(1, 3, figsize=(12, 3.9), layout="constrained")
    for axis in axes:
        axis.add_collection(LineCollection(list(segments), colors="0.85", linewidths=0.7, zorder=0))
        axis.set(xticks=[], yticks=[], aspect="equal")
        axis.spines[:].set_visible(False)

    axes[0].set_title("A graph with features X, few labels $Y_D$")
    axes[0].scatter(*points.T, c="0.72", s=16, zorder=1)
    _mark(axes[0], points, y, size=110)

    axes[1].set_title(r"Posterior $\mathcal{N}(\bar{Z}_U, \Lambda)$ given the labels")
    latent = axes[1].scatter(
        *points.T, c=mean[:, 1] - mean[:, 0], s=90 * (std / std.max()) ** 2, cmap="cividis"
    )
    inset = axes[1].inset_axes((0.02, 0.04, 0.3, 0.04))
    figure.colorbar(latent, cax=inset, orientation="horizontal", ticks=[])
    inset.set_title("difference of means", fontsize=8)
    axes[1].set_xlabel("size: posterior standard deviation")

    predicted = estimator.predict()
    axes[2].set_title(r"Labels $\hat{Y}_U$ with probabilities")
    for label in LABELLED:
        chosen = predicted == label
        axes[2].scatter(
            *points[chosen].T,
            c=PALETTE[label],
            marker=MARKERS[label],
            s=24,
            alpha=np.clip(2 * probability.max(axis=1)[chosen] - 1, 0.2, 1.0),
            linewidths=0,
        )
    _mark(axes[2], points, y, size=110)
    axes[2].set_xlabel(f"paler: less certain; {np.mean(predicted == truth):.0%} right")
    return save_figure(figure, folder, "framework")


def _mark(axis: Any, points: Any, y: Any, size: int) -> None:
    for label in LABELLED:
        axis.scatter(
            *points[y == label].T,
            c=PALETTE[label],
            marker=MARKERS[label],
            s=size,
            edgecolors="black",
            linewidths=1.2,
            zorder=3,
        )
