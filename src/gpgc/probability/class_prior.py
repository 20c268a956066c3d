"""Fractions of the classes in the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from gpgc._typing import Array
from gpgc.errors import InputError

PRIOR_LABELS = 60
"""Number of labels from which the unlabelled nodes say more on the class fractions than they do."""

ENOUGH_INFORMATION = 0.5
"""Part of the labels' entropy that leave-one-out must explain for the estimate of the class prior
to be trusted in full; less in proportion."""

PRIOR_STEPS = 30

MANY_LABELS = 2000
UNEQUAL = 1.5
"""From how many labels on, of classes so unequal in number, their fractions are taken as they are:
half of WordNet labelled, 45 classes, the estimate ran away and cost 37 % of accuracy."""

Reweigh: TypeAlias = Callable[[Array], Array]
"""Ratios (k,) of class priors ↦ the mean (k,) over nodes of the probabilities reweighed by them."""


def class_prior(
    choice: Any,
    fractions: Array,
    reweigh: Reweigh | None,
    n_labels: int,
    information: float,
) -> Array:
    """Return the class fractions that were chosen.

    Parameters
    ----------
    choice : {"estimated", "labels"} or array of shape (k,)
        Estimated from the unlabelled nodes, those of the labels, or known ones.
    fractions : array of shape (k,)
        Those of the labels.
    reweigh : callable or None
        As in :func:`iterate_prior`.
    n_labels : int
        How many labels the probabilities come from.
    information : float
        How much of the labels' entropy leave-one-out explains, from 0 to 1.

    Returns
    -------
    array of shape (k,)
        Positive, summing to 1.

    Examples
    --------
    >>> class_prior([3, 1], np.array([0.5, 0.5]), None, 4, 1.0)
    array([0.75, 0.25])
    """
    if isinstance(choice, str):
        if choice not in ("estimated", "labels"):
            raise InputError(
                f"class_prior must be 'estimated', 'labels' or an array, got {choice!r}"
            )
        if choice == "labels" or _are_drawn_at_random(fractions, n_labels):
            return fractions
        return iterate_prior(reweigh, fractions, n_labels, information)
    known = np.asarray(choice, dtype=np.float64)
    if known.shape != fractions.shape or not (known > 0).all() or not np.isfinite(known).all():
        raise InputError(
            f"class_prior must hold {len(fractions)} positive fractions, got {choice!r}"
        )
    return np.asarray(known / known.sum())


def _are_drawn_at_random(fractions: Array, n_labels: int) -> bool:
    """Tell whether labels are many and of unequal classes: as the nodes are, not as they chose.

    Their fractions are then exact to a hundredth or so, and expectation-maximisation, which adds
    up the model's own errors, can only lose.
    """
    return n_labels >= MANY_LABELS and fractions.max() > UNEQUAL * fractions.min()


def information(losses: Array, weights: Array, fractions: Array) -> float:
    """Return how much of the entropy of the labels leave-one-out predictions explain, from 0 to 1.

    1 − CE / H with CE the weighted mean of the cross-entropies and H the entropy of the fractions;
    0 where nothing can be left out.

    Parameters
    ----------
    losses, weights : arrays of shape (D,)
        Leave-one-out cross-entropies, and what each node counts.
    fractions : array of shape (k,)
        Class fractions among the labels.

    Examples
    --------
    >>> information(np.log([2.0, 1.0]), np.ones(2), np.array([0.5, 0.5]))
    0.5
    """
    entropy = float(-np.sum(fractions * np.log(fractions)))
    if entropy == 0 or not weights.any():
        return 0.0
    return max(0.0, 1 - float(np.average(losses, weights=weights)) / entropy)


def estimate_prior(
    probabilities: Array, fractions: Array, n_labels: int, information: float = 1.0
) -> Array:
    """Estimate the fractions of the classes among unlabelled nodes by expectation-maximisation.

    Labels are often balanced where the world is not. Each step reweighs the probabilities by the
    ratio of the current prior to the labels' fractions, and takes their mean as the next prior
    (Saerens, Latinne and Decaestecker, 2002), pulled towards the labels' fractions, the more the
    fewer labels the probabilities come from and the less these say: where they say nothing the
    steps would run away to whatever class errs most.

    Parameters
    ----------
    probabilities : array of shape (n, k)
        Of the unlabelled nodes, under a prior equal to ``fractions``.
    fractions : array of shape (k,)
        Class fractions among the labels.
    n_labels : int
        Number of labels.
    information : float
        How much of the labels' entropy leave-one-out explains (:func:`information`).

    Returns
    -------
    array of shape (k,)
        Positive, summing to 1.

    Examples
    --------
    >>> clear = np.eye(2)[[0, 0, 0, 1]]
    >>> estimate_prior(clear, np.array([0.5, 0.5]), n_labels=60).round(3)
    array([0.625, 0.375])
    """
    if not len(probabilities):
        return fractions
    return iterate_prior(
        lambda ratio: reweighed_sum(probabilities, ratio) / len(probabilities),
        fractions,
        n_labels,
        information,
    )


def iterate_prior(
    reweigh: Reweigh | None, fractions: Array, n_labels: int, information: float
) -> Array:
    """Run the steps of :func:`estimate_prior`, for probabilities wherever they are.

    Parameters
    ----------
    reweigh : callable or None
        Returns for ratios of class priors (k,) the mean over the unlabelled nodes of their
        probabilities reweighed by them; None without such nodes.
    fractions, n_labels, information
        As in :func:`estimate_prior`.
    """
    pull = 1 / (1 + (n_labels / PRIOR_LABELS) ** 2)
    prior, pull = fractions, 1 - (1 - pull) * min(1.0, information / ENOUGH_INFORMATION)
    if reweigh is None:
        return prior
    for _ in range(PRIOR_STEPS):
        prior = (1 - pull) * reweigh(prior / fractions) + pull * fractions
    return prior


def reweighed_sum(probabilities: Array, ratio: Array) -> Array:
    """Return the sum over nodes of probabilities (n, k) reweighed by a ratio of class priors.

    Examples
    --------
    >>> reweighed_sum(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([1.5, 0.5]))
    array([1.75, 0.25])
    """
    reweighed = probabilities * ratio
    reweighed /= reweighed.sum(axis=1, keepdims=True)
    return np.asarray(reweighed.sum(axis=0))
