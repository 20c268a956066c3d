"""Sums over labelled rows, in groups and by a fixed tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.dask.described import Described, Model, Reference, n_rows, stacked
from gpgc.gp import LabelledRoot

GROUP_LABELS = 4096
"""Labels whose rows are summed up in one task."""


class LabelGroup(NamedTuple):
    """Consecutive labels whose rows are in one task: which of all, and the task of the rows."""

    part: slice
    rows: Any


@dataclass(frozen=True, eq=False)
class RootSums:
    """Sums over labelled rows Φ̃ of the root and targets Ỹ: Φ̃ᵀΦ̃, Φ̃ᵀỸ, prior variances."""

    gram: Array
    moments: Array
    variances: float
    n_labels: int

    @property
    def usual_variance(self) -> float:
        """The mean prior variance of the labels, 1 if that is 0."""
        return self.variances / self.n_labels or 1.0

    def joined(self, other: RootSums) -> RootSums:
        """Return the sums over both sets of labels."""
        return RootSums(
            self.gram + other.gram,
            self.moments + other.moments,
            self.variances + other.variances,
            self.n_labels + other.n_labels,
        )


def groups_of(
    labelled: Sequence[Integers], rows: Sequence[Any], cluster: Cluster
) -> list[LabelGroup]:
    """Join the labelled rows of consecutive blocks until they are worth a task of their own.

    Parameters
    ----------
    labelled : sequence of int arrays
        Labelled nodes of each block.
    rows : sequence of tasks of Described
        Their rows.
    cluster : Cluster
        Where.
    """
    parts: list[slice] = []
    joined: list[Any] = []
    first, start, total = 0, 0, 0
    for block, nodes in enumerate(labelled):
        total += len(nodes)
        is_last = block == len(labelled) - 1
        if total - start >= GROUP_LABELS or (is_last and total > start):
            members = [rows[b] for b in range(first, block + 1) if len(labelled[b])]
            parts.append(slice(start, total))
            joined.append(task(stacked, members))
            first, start = block + 1, total
    kept = cluster.keep(joined)
    return [LabelGroup(part, task_) for part, task_ in zip(parts, kept, strict=True)]


def summed(
    groups: Sequence[LabelGroup],
    known: Any,
    model: Model,
    targets: Array,
    relative_noise: Array,
    cluster: Cluster,
) -> Any:
    """Return the task of the sums over all labelled rows, added up in a fixed tree.

    Parameters
    ----------
    groups : sequence of LabelGroup
        The labelled rows.
    known : task of Reference
        Rows of the landmarks.
    model : Model
        The covariance.
    targets, relative_noise : arrays of shape (D, k) and (D,)
        The labels.
    cluster : Cluster
        Where.
    """
    parts = [
        task(
            sums_of,
            known,
            group.rows,
            model,
            targets[group.part],
            relative_noise[group.part],
        )
        for group in groups
    ]
    return cluster.keep([tree(RootSums.joined, parts)])[0]


def sums_of(
    known: Reference, rows: Described, model: Model, targets: Array, relative_noise: Array
) -> RootSums:
    """Return the sums over some labelled rows."""
    covariance = model.covariance(known, rows)
    labelled = len(known) + np.arange(n_rows(rows))
    root = LabelledRoot(covariance, labelled, targets, relative_noise)
    total = float(np.sum(covariance.diag(labelled), dtype=np.float64))
    return RootSums(root.gram, root.moments, total, len(labelled))
