"""A map of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpgc._typing import Array
from gpgc.estimators import GPGCClassifier
from gpgc.plot.answers import Answers, positions_of
from gpgc.plot.axes import GREY, axes_or_new, colour_of, mark_of, plain

EDGES_UP_TO = 3_000
"""Number of edges up to which they are drawn."""


def node_map(model: GPGCClassifier, *, positions: Any = None, seed: int = 0, ax: Any = None) -> Any:
    """Draw all nodes by their label, the less certain the paler; given labels have a rim.

    Parameters
    ----------
    model : GPGCClassifier
        Fitted.
    positions : array of shape (N, 2), optional
        Where nodes stand; by default linked and similar ones together
        (:func:`gpgc.plot.layout.layouts`).
    seed : int, default 0
        Of the layout.
    ax : matplotlib Axes, optional
        Where to draw; new ones when not given.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> chain = (np.arange(5), np.arange(1, 6))
    >>> model = GPGCClassifier().fit(None, ["a", "", "", "", "", "b"], adjacency=chain)
    >>> axes = node_map(model)  # doctest: +SKIP
    """
    answers = Answers.of(model)
    codes, given, opacity = answers.codes, answers.given, answers.opacity
    ax = axes_or_new(ax)
    places = positions_of(model, seed=seed) if positions is None else np.asarray(positions, float)
    _draw_edges(ax, model, places)
    size = float(np.clip(20_000 / len(codes), 3, 40))
    for code, name in enumerate(model.classes_):
        style = {"color": colour_of(code), "marker": mark_of(code)}
        chosen = (codes == code) & ~given
        ax.scatter(*places[chosen].T, s=size, alpha=opacity[chosen], linewidths=0, **style)
        ax.scatter(
            *places[(codes == code) & given].T,
            s=2.5 * size + 10,
            edgecolors="black",
            linewidths=0.8,
            label=plain(name),
            **style,
        )
    ax.set(xticks=[], yticks=[], aspect="equal")
    ax.set_title(f"{len(codes):,} nodes, {given.sum():,} labels given; paler: less certain")
    if len(model.classes_) <= 20:
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return ax


def _draw_edges(ax: Any, model: GPGCClassifier, places: Array) -> None:
    links = model.adjacency_.tocoo()
    upper = links.coords[0] < links.coords[1]
    if upper.sum() > EDGES_UP_TO:
        return
    from matplotlib.collections import LineCollection

    ends = np.stack([places[links.coords[0][upper]], places[links.coords[1][upper]]], axis=1)
    ax.add_collection(LineCollection(list(ends), colors=GREY, linewidths=0.4, alpha=0.5, zorder=0))
    ax.autoscale_view()
