"""Rows that describe the nodes of a block, and the covariance of a block with the landmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from gpgc._typing import Array
from gpgc.compute import Context
from gpgc.compute.primitives import NUMPY
from gpgc.compute.runner import Serial
from gpgc.kernels import Covariance
from gpgc.kernels.rows import StoredRows
from gpgc.models import ViewWeights
from gpgc.models.broad import Broad
from gpgc.models.described import BroadInputs, KnownRows, unit_rows
from gpgc.models.prior import mixed

Described: TypeAlias = Mapping[str, Sequence[Array]]
"""View → for each of its reaches the rows of some nodes, scaled to length 1 or 0."""


VIEWS = ("graph", "features")
"""Views whose rows are computed in blocks."""


def block_context(dtype: Any) -> Context:
    """Return how a task computes: in its own thread, since others run beside it."""
    return Context(np.dtype(dtype), Serial())


def described(pieces: Sequence[Array], features: Array | None, dtype: Any) -> Described:
    """Return the rows of a block from what was diffused, and from its own features.

    Parameters
    ----------
    pieces : sequence of arrays of shape (reaches, n, columns)
        Slices of the diffused columns; none where the view by the graph is not wanted.
    features : array of shape (n, F) or None
        X; None where the features' own view is not wanted.
    dtype : numpy dtype
        Of the rows.
    """
    found: dict[str, Sequence[Array]] = {}
    if len(pieces):
        found["graph"] = [
            NUMPY.scale_rows(np.concatenate([piece[reach] for piece in pieces], axis=1))[0]
            for reach in range(len(pieces[0]))
        ]
    if features is not None:
        found["features"] = [StoredRows.of(unit_rows(features), np.dtype(dtype)).directions]
    return found


def stacked(parts: Sequence[Described]) -> Described:
    """Return the rows of several sets of nodes, one below the other."""
    return {
        view: [
            np.concatenate([part[view][reach] for part in parts])
            for reach in range(len(parts[0][view]))
        ]
        for view in parts[0]
    }


def chosen(rows: Described, index: Any) -> Described:
    """Return some of the rows."""
    return {view: [reach[index] for reach in reaches] for view, reaches in rows.items()}


def n_rows(rows: Described) -> int:
    """Return how many nodes are described."""
    return len(next(iter(rows.values()))[0])


def inputs_of(rows: Described, n_landmarks: int, context: Context) -> Mapping[str, BroadInputs]:
    """Return the inputs of each view, for nodes whose first ones are the landmarks."""
    landmarks = np.arange(n_landmarks)
    return {
        view: BroadInputs(
            KnownRows(
                [StoredRows(reach, np.asarray(reach.any(axis=1), reach.dtype)) for reach in reaches]
            ),
            landmarks,
            "squared",
            context,
        )
        for view, reaches in rows.items()
    }


def covariance_of(
    architecture: Broad,
    landmarks: Described,
    rows: Described,
    weights: ViewWeights,
    context: Context,
) -> Covariance:
    """Return Γ of the landmarks and, after them, of other nodes."""
    wanted = {view: weight for view, weight in weights.items() if weight}
    both = stacked([{view: part[view] for view in wanted} for part in (landmarks, rows)])
    inputs = inputs_of(both, n_rows(landmarks), context)
    return mixed([(weight, architecture.covariance(inputs[v])) for v, weight in wanted.items()])
