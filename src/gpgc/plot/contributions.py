"""Why a node got its label: what each given label added."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc.plot.axes import axes_or_new, colour_of, plain
from gpgc.uncertainty.explanation import Explanation


def contributions(
    explanation: Explanation, *, n: int = 10, names: Any = None, ax: Any = None
) -> Any:
    """Draw the given labels that decided a node, by what they added to its best two classes.

    Parameters
    ----------
    explanation : Explanation
        As ``model.explain(node)`` gives it.
    n : int, default 10
        How many of the labels, those that decided most; the rest is one bar.
    names : sequence of N str, optional
        Names of the nodes; those of the explanation when not given.
    ax : matplotlib Axes, optional
        Where to draw; new ones when not given.

    Returns
    -------
    matplotlib Axes
    """
    shown = explanation.contributions[:n]
    rest = explanation.contributions[n:]
    labels = [
        f"{_name(explanation, node, names)}, given {given}"
        for node, given in zip(explanation.nodes[:n], explanation.given, strict=False)
    ]
    bars = np.vstack([explanation.offset[None], shown, rest.sum(axis=0, keepdims=True)])
    labels = ["without labels", *labels, f"{len(rest):,} other labels"]
    if not len(rest):
        bars, labels = bars[:-1], labels[:-1]
    ax = axes_or_new(ax, (6.5, 0.9 + 0.38 * len(labels)))
    deciding = explanation.deciding()
    height = 0.8 / len(deciding)
    rows = np.arange(len(labels))
    for place, code in enumerate(deciding):
        ax.barh(
            rows + (place - (len(deciding) - 1) / 2) * height,
            bars[:, code],
            height,
            color=colour_of(code),
            label=plain(f"{explanation.classes[code]}: {explanation.total[code]:.2f}"),
        )
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_yticks(rows, [plain(label) for label in labels])
    ax.invert_yaxis()
    ax.set_xlabel("added to the score")
    ax.set_title(plain(f"{_name(explanation, explanation.node, names)}: {explanation.predicted}"))
    ax.legend(title="score", frameon=False)
    return ax


def _name(explanation: Explanation, node: int, names: Any) -> str:
    return explanation.name(node) if names is None else str(names[node])
