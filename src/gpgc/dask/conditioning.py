"""Labels on a cluster: sums over labelled rows by a fixed tree, and the posterior from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.dask.described import Described, block_context, chosen, covariance_of, n_rows, stacked
from gpgc.gp import LabelledRoot, Posterior, condition
from gpgc.gp.posterior import LeaveOneOut
from gpgc.kernels import Covariance
from gpgc.models import ViewWeights
from gpgc.models.broad import Broad
from gpgc.selection.noise_choice import Criterion
from gpgc.selection.noise_search import search_noise

GROUP_LABELS = 4096
"""Labels whose rows are summed up in one task."""


@dataclass(frozen=True)
class Model:
    """What makes a covariance of described rows.

    Parameters
    ----------
    architecture : Broad
        How rows become a covariance.
    weights : mapping
        Of the views.
    dtype : str
        In which it is computed.
    """

    architecture: Broad
    weights: ViewWeights
    dtype: str


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


class Labels(NamedTuple):
    """What labels say: targets (D, k), and relative noise (D,)."""

    targets: Array
    relative_noise: Array


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
    landmarks: Any,
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
    landmarks : task of Described
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
            landmarks,
            group.rows,
            model,
            targets[group.part],
            relative_noise[group.part],
        )
        for group in groups
    ]
    return cluster.keep([tree(RootSums.joined, parts)])[0]


def sums_of(
    landmarks: Described, rows: Described, model: Model, targets: Array, relative_noise: Array
) -> RootSums:
    """Return the sums over some labelled rows."""
    covariance = _covariance(landmarks, rows, model)
    labelled = n_rows(landmarks) + np.arange(n_rows(rows))
    root = LabelledRoot(covariance, labelled, targets, relative_noise)
    total = float(np.sum(covariance.diag(labelled), dtype=np.float64))
    return RootSums(root.gram, root.moments, total, len(labelled))


def prior_variances(landmarks: Described, rows: Described, model: Model) -> Array:
    """Return the prior variances (n,) of some rows."""
    covariance = _covariance(landmarks, rows, model)
    return covariance.diag(n_rows(landmarks) + np.arange(n_rows(rows)))


def usual_variance(sums: RootSums) -> float:
    """Return the mean prior variance of the labels."""
    return sums.usual_variance


def search(
    sums: RootSums,
    landmarks: Described,
    sample_rows: Sequence[Described],
    model: Model,
    labels: Labels,
    sample: Integers,
    start: Array,
    how: str,
    criterion: Criterion,
    counted: Array,
) -> Array:
    """Go on with the search for the noise where all labels are used.

    Parameters
    ----------
    sums : RootSums
        Over all labels.
    landmarks, sample_rows : Described
        Rows of the landmarks, and those of the labels that are left out in turn, in parts.
    model : Model
        The covariance.
    labels : Labels
        All of them.
    sample : int array
        Which of them are left out in turn.
    start, how, criterion, counted
        As in :func:`gpgc.selection.noise_search.search_noise`.
    """
    rows = stacked(sample_rows)
    covariance = _covariance(landmarks, rows, model)
    places = np.zeros(len(labels.targets), dtype=np.intp)
    places[sample] = n_rows(landmarks) + np.arange(n_rows(rows))
    root = _root(sums, covariance, places, labels)
    usual = model.architecture.relative_noise
    return search_noise(root, start, how, criterion, counted, usual)


def solve(
    sums: RootSums, landmarks: Described, model: Model, labels: Labels, levels: Array
) -> Posterior:
    """Return the posterior in weight space, at the landmarks; blocks ask it elsewhere."""
    covariance = _covariance(landmarks, chosen(landmarks, slice(0)), model)
    places = np.zeros(len(labels.targets), dtype=np.intp)
    return condition(
        covariance,
        places,
        labels.targets,
        levels,
        relative_noise=labels.relative_noise,
        root=_root(sums, covariance, places, labels),
        space="weight",
    )


def _root(sums: RootSums, covariance: Covariance, places: Integers, labels: Labels) -> LabelledRoot:
    return LabelledRoot.summed(
        covariance,
        places,
        labels.targets,
        labels.relative_noise,
        sums.gram,
        sums.moments,
        sums.usual_variance,
    )


def leave_out(
    landmarks: Described,
    sample_rows: Sequence[Described],
    model: Model,
    posterior: Posterior,
    sample: Integers,
) -> LeaveOneOut:
    """Return how a sample of the labels is predicted, each from all others.

    Parameters
    ----------
    landmarks, sample_rows : Described
        Rows of the landmarks, and those of the sample, in parts.
    model : Model
        The covariance.
    posterior : Posterior
        Of all labels.
    sample : int array
        Which labels.
    """
    rows = stacked(sample_rows)
    places = np.zeros(len(posterior.labelled), dtype=np.intp)
    places[sample] = n_rows(landmarks) + np.arange(n_rows(rows))
    there = posterior.elsewhere(_covariance(landmarks, rows, model), places)
    return there.leave_one_out(sample)


def mean_of(landmarks: Described, rows: Described, model: Model, posterior: Posterior) -> Array:
    """Return the latent means (n, k) of a block, in the number format of the covariance."""
    there, asked = _there(landmarks, rows, model, posterior)
    return there.mean(asked).astype(model.dtype)


def variance_of(
    landmarks: Described, rows: Described, model: Model, posterior: Posterior, usual: float
) -> Array:
    """Return the latent variances of a block, the usual one where a node has no prior variance."""
    there, asked = _there(landmarks, rows, model, posterior)
    variance = there.variance(asked)
    variance[there.covariance.diag(asked) == 0] = usual
    return variance


def _covariance(landmarks: Described, rows: Described, model: Model) -> Covariance:
    context = block_context(model.dtype)
    return covariance_of(model.architecture, landmarks, rows, model.weights, context)


def _there(
    landmarks: Described, rows: Described, model: Model, posterior: Posterior
) -> tuple[Posterior, Integers]:
    covariance = _covariance(landmarks, rows, model)
    asked = n_rows(landmarks) + np.arange(n_rows(rows))
    return posterior.elsewhere(covariance, posterior.labelled), asked
