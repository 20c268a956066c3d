"""Labels on a cluster: the posterior from sums over labelled rows or from the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.dask.described import BlockRows, Described, Model, Reference, chosen, n_rows, stacked
from gpgc.dask.label_sums import RootSums
from gpgc.gp import LabelledRoot, Posterior, condition
from gpgc.gp.posterior import LeaveOneOut
from gpgc.kernels import Covariance
from gpgc.selection.noise_choice import Criterion
from gpgc.selection.noise_search import search_noise


class Labels(NamedTuple):
    """What labels say: targets (D, k), and relative noise (D,)."""

    targets: Array
    relative_noise: Array


def prior_variances(known: Reference, rows: Described, model: Model) -> Array:
    """Return the prior variances (n,) of some rows."""
    covariance = model.covariance(known, rows)
    return covariance.diag(len(known) + np.arange(n_rows(rows)))


def usual_variance(sums: RootSums) -> float:
    """Return the mean prior variance of the labels."""
    return sums.usual_variance


def search(
    sums: RootSums,
    known: Reference,
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
    known, sample_rows : Reference, Described
        Rows that every task knows, and those of the labels that are left out in turn, in parts.
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
    covariance = model.covariance(known, rows)
    places = np.zeros(len(labels.targets), dtype=np.intp)
    places[sample] = len(known) + np.arange(n_rows(rows))
    root = root_of_sums(sums, covariance, places, labels)
    usual = model.architecture.relative_noise
    return search_noise(root, sample, start, how, criterion, counted, usual)


def solve_exact(known: Reference, model: Model, labels: Labels, levels: Array) -> Posterior:
    """Return the posterior in function space; the labelled rows are the last that are known."""
    covariance = model.covariance(known, chosen(known.rows, slice(0)))
    places = len(known) - len(labels.targets) + np.arange(len(labels.targets))
    relative = labels.relative_noise
    return condition(
        covariance, places, labels.targets, levels, relative_noise=relative, space="function"
    )


def labelled_variance(posterior: Posterior) -> float:
    """Return the mean prior variance of the labels, 1 if that is 0."""
    variances = posterior.covariance.diag(posterior.labelled)
    return float(np.mean(variances, dtype=np.float64)) or 1.0


def solve(
    sums: RootSums, known: Reference, model: Model, labels: Labels, levels: Array
) -> Posterior:
    """Return the posterior in weight space, at the landmarks; blocks ask it elsewhere."""
    covariance = model.covariance(known, chosen(known.rows, slice(0)))
    places = np.zeros(len(labels.targets), dtype=np.intp)
    return condition(
        covariance,
        places,
        labels.targets,
        levels,
        relative_noise=labels.relative_noise,
        root=root_of_sums(sums, covariance, places, labels),
        space="weight",
    )


def root_of_sums(
    sums: RootSums, covariance: Covariance, places: Integers, labels: Labels
) -> LabelledRoot:
    """Return the sums over all labels as the labelled rows of a root."""
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
    known: Reference,
    sample_rows: Sequence[Described],
    model: Model,
    posterior: Posterior,
    sample: Integers,
) -> LeaveOneOut:
    """Return how a sample of the labels is predicted, each from all others.

    Parameters
    ----------
    known, sample_rows : Reference, Described
        Rows that every task knows, and those of the sample, in parts.
    model : Model
        The covariance.
    posterior : Posterior
        Of all labels.
    sample : int array
        Which labels.
    """
    rows = stacked(sample_rows)
    places = np.zeros(len(posterior.labelled), dtype=np.intp)
    places[sample] = len(known) + np.arange(n_rows(rows))
    there = posterior.elsewhere(model.covariance(known, rows), places)
    return there.leave_one_out(sample)


def mean_of(known: Reference, rows: BlockRows, model: Model, posterior: Posterior) -> Array:
    """Return the latent means (n, k) of a block, in the number format of the covariance."""
    found = [
        there.mean(asked).astype(model.dtype)
        for there, asked in _parts(known, rows, model, posterior)
    ]
    return np.concatenate(found)


def variance_of(
    known: Reference, rows: BlockRows, model: Model, posterior: Posterior, usual: float
) -> Array:
    """Return the latent variances of a block, the usual one where a node has no prior variance."""
    found = []
    for there, asked in _parts(known, rows, model, posterior):
        variance = there.variance(asked)
        variance[there.covariance.diag(asked) == 0] = usual
        found.append(variance)
    return np.concatenate(found)


def _parts(
    known: Reference, rows: BlockRows, model: Model, posterior: Posterior
) -> Iterator[tuple[Posterior, Integers]]:
    """Give the posterior at some rows of a block after the other, and which of its nodes these are.

    Each is let go before the next one is described.
    """
    whitenings = model.whitenings(known)
    for part in rows.parts():
        covariance = model.covariance(known, part, whitenings)
        asked = len(known) + np.arange(n_rows(part))
        yield posterior.elsewhere(covariance, posterior.labelled), asked
