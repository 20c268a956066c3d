"""Several votes for a node become one soft label and its weight."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.problem.names import NamedColumns


@dataclass(frozen=True, eq=False)
class Votes(NamedColumns):
    """Soft labels: fractions of votes (N, k), NaN where a node has none, and their sums (N,)."""

    weight: Array

    def take(self, index: NDArray[Any]) -> Self:
        """Return the votes with their nodes in another order."""
        return replace(self, rows=self.rows[index], weight=self.weight[index])


def count_votes(nodes: Any, labels: Any, n_nodes: int, *, weights: Any = None) -> Votes:
    """Count several votes for each node.

    v votes y_1 … y_v of noise σ_τ² each tell a Gaussian process as much as their mean with noise
    σ_τ²/v: the fractions of the votes as a soft label, with their number as its weight.

    Parameters
    ----------
    nodes : int array of shape (n,)
        The node of each vote.
    labels : array of shape (n,)
        The label of each vote.
    n_nodes : int
        N, the number of nodes of the graph.
    weights : array of shape (n,), optional
        What each vote counts, such as the trust in who gave it; 1 when not given.

    Returns
    -------
    Votes
        For ``fit(X, votes, adjacency, sample_weight=votes.weight)``.

    Examples
    --------
    >>> votes = count_votes([0, 0, 0, 2], ["cat", "cat", "dog", "dog"], n_nodes=3)
    >>> votes.rows.round(2), votes.columns, votes.weight
    (array([[0.67, 0.33],
           [ nan,  nan],
           [0.  , 1.  ]]), array(['cat', 'dog'], dtype='<U3'), array([3., 0., 1.]))
    """
    where, given = np.asarray(nodes), np.asarray(labels)
    if where.ndim != 1 or where.dtype.kind not in "iu" or not len(where):
        raise InputError(
            f"nodes must name the node of each vote, got shape {where.shape} of {where.dtype}"
        )
    if given.shape != where.shape:
        raise InputError(f"labels must be of shape {where.shape}, got {given.shape}")
    if where.min() < 0 or where.max() >= n_nodes:
        raise InputError(
            f"nodes must lie between 0 and {n_nodes - 1}, got {where.min()} to {where.max()}"
        )
    counts = np.ones(len(where)) if weights is None else np.asarray(weights, dtype=np.float64)
    if counts.shape != where.shape or not (counts > 0).all() or not np.isfinite(counts).all():
        raise InputError(f"weights must hold a positive number for each vote, got {weights!r:.60}")
    classes, codes = np.unique(given, return_inverse=True)
    rows = np.zeros((n_nodes, len(classes)))
    np.add.at(rows, (where, codes), counts)
    total = rows.sum(axis=1)
    fractions = rows / np.where(total > 0, total, np.nan)[:, None]
    return Votes(fractions, classes, total)
