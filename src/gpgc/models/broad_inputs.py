"""The views of *broad*: how each describes nodes, and what becomes of its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.graph.nodes import Nodes
from gpgc.models.degrees import Degrees
from gpgc.models.described import Description
from gpgc.models.surroundings import Links, Neighbours

FEATURE_VIEWS = ("graph", "features", "neighbours", "structure", "degrees")
"""Views of nodes that have features and links."""

Form: TypeAlias = Literal["squared", "layer", "degrees"]
"""What becomes of rows: unit(k k), k itself, or the squared exponential of degrees."""

FORMS: Mapping[str, Form] = {
    "graph": "squared",
    "features": "squared",
    "hubs": "layer",
    "neighbours": "layer",
    "structure": "layer",
    "degrees": "degrees",
}

AROUND: Mapping[str, Callable[[Nodes, Context, int], Description]] = {
    "neighbours": Neighbours,
    "structure": lambda nodes, context, seed: Links(nodes, context),
    "degrees": lambda nodes, context, seed: Degrees(nodes, context),
}
"""How views of what a node has around it describe nodes; the seed is that of projections."""

FEW_LANDMARKS = 4
"""One landmark of so many stands for the degrees, which are four numbers a node."""

SECOND_WEIGHTS = (1 / 3, 1.0)
"""Weights of the second view that are tried beside 0."""

NEIGHBOUR_NOISE = 10**-2.75
"""Relative noise that is usual on graphs of nearest neighbours."""


def landmark_phrases(form: Form, landmarks: Integers | None) -> tuple[str, ...]:
    """Return how it is said that a view runs over landmarks; nothing where these are all nodes.

    Examples
    --------
    >>> import numpy as np
    >>> landmark_phrases("layer", np.arange(1000))
    ('views by 1,000 landmarks',)
    """
    if landmarks is None:
        return ()
    what = "squares over" if form == "squared" else "views by"
    return (f"{what} {len(landmarks):,} landmarks",)


class BroadInputs(NamedTuple):
    """How nodes are described, what becomes of the rows, and how arithmetic is done.

    ``landmarks`` None stands for all nodes, ``whitening`` is that of their Nyström root where it is
    known.
    """

    described: Description
    landmarks: Integers | None
    form: Form
    context: Context
    whitening: Array | None = None
