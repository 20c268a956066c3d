"""How confidence compares with accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gpgc.estimators import GPGCClassifier
from gpgc.plot.axes import COLOURS, GREY, axes_or_new


def reliability(
    model: GPGCClassifier, nodes: Any = None, y: Any = None, *, n_bins: int = 10, ax: Any = None
) -> Any:
    """Draw the accuracy of nodes against the probability that they were given.

    A well calibrated model stays near the diagonal. Bars are 95 % intervals of the accuracy of a
    bin (Wilson's), so that a bin of three nodes is not taken for a finding.

    Parameters
    ----------
    model : GPGCClassifier
        Fitted.
    nodes, y : arrays of shape (n,), optional
        Nodes that ``fit`` was given no label of, and their labels; without them each training
        label is left out in turn, which is honest only where they were drawn at random.
    n_bins : int, default 10
        Number of bins of equal width.
    ax : matplotlib Axes, optional
        Where to draw; new ones when not given.

    Returns
    -------
    matplotlib Axes
    """
    from scipy.stats import binomtest

    check_is_fitted(model)
    ax = axes_or_new(ax, (4.5, 4.5))
    bins = model.reliability(nodes, y, n_bins=n_bins)
    filled = bins.size > 0
    confidence, accuracy, size = (part[filled] for part in bins)
    right = [
        binomtest(round(hits), int(count))
        for hits, count in zip(accuracy * size, size, strict=True)
    ]
    low, high = np.array([found.proportion_ci(method="wilson") for found in right]).T
    ax.plot([0, 1], [0, 1], "--", color=GREY, label="perfect")
    ax.errorbar(
        confidence,
        accuracy,
        yerr=[np.maximum(accuracy - low, 0), np.maximum(high - accuracy, 0)],
        fmt="o-",
        color=COLOURS[0],
        capsize=3,
        label="by leave-one-out" if nodes is None else "held-out labels",
    )
    for x, top, count in zip(confidence, np.maximum(high, accuracy), size, strict=True):
        ax.annotate(f"{count:,}", (x, top), (0, 3), textcoords="offset points", ha="center")
    error = np.average(np.abs(confidence - accuracy), weights=size)
    ax.set(xlim=(0, 1.02), ylim=(0, 1.1), xlabel="probability", ylabel="accuracy", aspect="equal")
    ax.set_title(f"calibration error {error:.1%}; numbers: nodes in a bin")
    ax.legend(loc="lower right", frameon=False)
    return ax
