"""Which nodes to label next."""

from __future__ import annotations

from typing import Any

from gpgc.labelling.labelling import Labelling
from gpgc.labelling.strategies import Strategy, Suggestions

__all__ = ["Labelling", "Strategy", "Suggestions", "suggest"]


def suggest(
    X: Any,
    y: Any = None,
    adjacency: Any = None,
    *,
    n: int = 1,
    strategy: Strategy = "weighted",
    candidates: Any = None,
    costs: Any = None,
    **settings: Any,
) -> Suggestions:
    """Return the nodes whose labels would help most; see :class:`Labelling` to go on from there.

    Parameters
    ----------
    X, y, adjacency
        As in :meth:`gpgc.GPGCClassifier.fit`; y may be None or have no label at all.
    n : int
        How many nodes; fewer are returned where candidates run out.
    strategy : {"weighted", "variance", "error", "margin"}
        See :class:`Labelling`.
    candidates : int array, optional
        Nodes that may be suggested; all when not given. Labelled ones never are.
    costs : array of shape (N,), optional
        What labelling each node costs.
    **settings
        Parameters of :class:`gpgc.GPGCClassifier`.

    Returns
    -------
    Suggestions
        ``nodes`` and ``gains``, best first.

    Examples
    --------
    Of three triangles, one node of each:

    >>> import numpy as np
    >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
    >>> nodes, gains = suggest(None, adjacency=triangles, n=3, dtype="float64")
    >>> sorted((nodes // 3).tolist())
    [0, 1, 2]
    """
    labelling = Labelling.on(X, y, adjacency, candidates=candidates, costs=costs, **settings)
    return labelling.suggest(n, strategy)
