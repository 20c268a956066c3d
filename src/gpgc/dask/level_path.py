"""All noise levels on all labels of a cluster, as on one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from gpgc._typing import Array
from gpgc.dask.cluster import Cluster, task
from gpgc.dask.conditioning import Labels, root_of_sums
from gpgc.dask.described import Described, Model, Reference, chosen, n_rows
from gpgc.dask.label_sums import LabelGroup, RootSums
from gpgc.gp import WeightPath


@dataclass(frozen=True, eq=False)
class ClusterPath:
    """A :class:`gpgc.gp.WeightPath` whose labelled rows are in groups on a cluster.

    Parameters
    ----------
    path : task of WeightPath
        The eigendecomposition of the sums over all labels.
    groups : sequence of LabelGroup
        The labelled rows.
    known : task of Reference
        Rows of the landmarks.
    model : Model
        The covariance.
    targets, relative_noise : arrays of shape (D, k) and (D,)
        The labels.
    scale, rounding : float
        As in :class:`gpgc.gp.LevelPath`.
    cluster : Cluster
        Where.
    column : int, optional
        Which target; all of them when not given.
    """

    path: Any
    groups: Sequence[LabelGroup]
    known: Any
    model: Model
    targets: Array
    relative_noise: Array
    scale: float
    rounding: float
    cluster: Cluster
    column: int | None = None

    @classmethod
    def of(
        cls,
        sums: Any,
        groups: Sequence[LabelGroup],
        known: Any,
        model: Model,
        labels: Labels,
        cluster: Cluster,
    ) -> Self:
        """Return the path of all labels, from the task of the sums over them."""
        (path,) = cluster.keep([task(path_of, sums, known, model, labels)])
        scale, rounding = cluster.fetch_one(task(numbers_of, path))
        return cls(path, groups, known, model, *labels, scale, rounding, cluster)

    def of_target(self, column: int) -> Self:
        """Return the path of one column of the targets."""
        return replace(self, targets=self.targets[:, [column]], column=column)

    def leave_one_out(self, noise: Array) -> tuple[Array, Array]:
        """Return leave-one-out means (n_levels, D, k) and variances (n_levels, D) with noise."""
        found = self.cluster.fetch(
            task(
                left_out,
                self.path,
                group.part,
                self.known,
                group.rows,
                self.model,
                self.column,
                noise,
            )
            for group in self.groups
        )
        means, variances = zip(*found, strict=True)
        return np.concatenate(means, axis=1), np.concatenate(variances, axis=1)

    def log_marginal_likelihood(self, noise: Array) -> Array:
        """Return the log evidence of each level, summed over the columns of the targets."""
        found = self.cluster.fetch_one(task(evidence, self.path, self.column, noise))
        return np.asarray(found)


def path_of(sums: RootSums, known: Reference, model: Model, labels: Labels) -> WeightPath:
    """Return the path of all labels, whose rows are elsewhere."""
    covariance = model.covariance(known, chosen(known.rows, slice(0)))
    places = np.zeros(len(labels.targets), dtype=np.intp)
    return WeightPath(root_of_sums(sums, covariance, places, labels))


def numbers_of(path: WeightPath) -> tuple[float, float]:
    """Return the scale and the rounding of a path."""
    return path.scale, path.rounding


def left_out(
    path: WeightPath,
    part: slice,
    known: Reference,
    rows: Described,
    model: Model,
    column: int | None,
    noise: Array,
) -> tuple[Array, Array]:
    """Return how the labels of one group are predicted, each from all others."""
    covariance = model.covariance(known, rows)
    places = len(known) + np.arange(n_rows(rows))
    whole = path.at_labels(part, covariance, places)
    return (whole if column is None else whole.of_target(column)).leave_one_out(noise)


def evidence(path: WeightPath, column: int | None, noise: Array) -> Array:
    """Return the log evidence of each level."""
    return (path if column is None else path.of_target(column)).log_marginal_likelihood(noise)
