"""Fractions of the classes in the whole graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.linalg import cholesky, helmert, solve_triangular
from scipy.optimize import minimize

from gpgc._typing import Array
from gpgc.compute import small_matrices
from gpgc.errors import InputError

SYSTEMATIC = 0.06
"""Relative error of the mean prediction of a class that no number of labels removes: a node that is
left out is predicted from one label less than the others."""

PSEUDO_LABELS = 10.0
"""κ: the variance of a column of n left-out labels is too small by κ/n² of that of one draw, since
few labels say as little about their variance as about their mean."""

LEAST_VARIANCE = 1e-9

RATIO_STD = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5])
"""Standard deviations of the logarithms of the ratios that are tried; 0 is that of labels drawn at
random."""


def class_prior(choice: Any, fractions: Array, estimate: Callable[[], Array]) -> Array:
    """Return the class fractions that were chosen.

    Parameters
    ----------
    choice : {"estimated", "labels"} or array of shape (k,)
        Estimated from the unlabelled nodes, those of the labels, or known ones.
    fractions : array of shape (k,)
        Those of the labels.
    estimate : callable
        Returns the estimated ones.

    Returns
    -------
    array of shape (k,)
        Positive, summing to 1.

    Examples
    --------
    >>> labels = np.array([0.5, 0.5])
    >>> class_prior([3, 1], labels, lambda: labels)
    array([0.75, 0.25])
    """
    if isinstance(choice, str):
        if choice not in ("estimated", "labels"):
            raise InputError(
                f"class_prior must be 'estimated', 'labels' or an array, got {choice!r}"
            )
        return fractions if choice == "labels" else estimate()
    known = np.asarray(choice, dtype=np.float64)
    if known.shape != fractions.shape or not (known > 0).all() or not np.isfinite(known).all():
        raise InputError(
            f"class_prior must hold {len(fractions)} positive fractions, got {choice!r}"
        )
    return np.asarray(known / known.sum())


def prior_of(choice: Any, classes: Array) -> Any:
    """Return a class prior as it is, or by class (a dict, a Series) in the order of the classes.

    Examples
    --------
    >>> prior_of({"yes": 0.9, "no": 0.1}, np.array(["no", "yes"]))
    [0.1, 0.9]
    """
    if hasattr(choice, "to_dict") and hasattr(choice, "index"):  # a Series
        choice = choice.to_dict()
    if not isinstance(choice, Mapping):
        return choice
    wanted = classes.tolist()
    if set(choice) != set(wanted):
        raise InputError(
            f"class_prior must have the classes {wanted!r:.200}, got {list(choice)!r:.200}"
        )
    return [choice[name] for name in wanted]


def prior_ratios(left_out: Array, shares: Array, fractions: Array, found: Array) -> Array:
    r"""Return by what the classes are more frequent among unlabelled nodes than among the labels.

    Labels are often balanced where the world is not. Of nodes of class j the left-out
    probabilities have the mean :math:`M_j`, so that the mean prediction of the unlabelled nodes
    is :math:`q = \sum_j w_j f_j M_j` for ratios w of their class fractions to f, those of the
    labels. With :math:`b = \log w`, normalised to :math:`\sum f w = 1`,

    .. math::
        \min_b\; \tfrac12 \left\| q - \sum_j w_j f_j M_j \right\|^2_{\Sigma^{-1}}
            + \frac{\|b\|^2}{2 s^2}

    where Σ is how far q can be off by chance: the columns' standard errors, more with few labels a
    class (:data:`PSEUDO_LABELS`), and :data:`SYSTEMATIC`. The evidence chooses s. Where labels were
    drawn at random, are few, or say little, q differs from :math:`\sum f_j M_j` by no more than
    chance, s is 0, and the ratios are 1.

    Parameters
    ----------
    left_out : array of shape (D, k)
        Leave-one-out probabilities of the labelled nodes, under the labels' fractions.
    shares : array of shape (D, k)
        What each label counts in the mean of each class; every class has some.
    fractions : array of shape (k,)
        f.
    found : array of shape (k,)
        q.

    Returns
    -------
    array of shape (k,)
        w, positive.

    Examples
    --------
    >>> clear = np.eye(2)[np.arange(200) % 2]
    >>> prior_ratios(clear, clear, np.array([0.5, 0.5]), np.array([0.8, 0.2])).round(1)
    array([1.6, 0.4])
    >>> prior_ratios(clear[:6], clear[:6], np.array([0.5, 0.5]), np.array([0.8, 0.2])).round(1)
    array([1., 1.])
    """
    n_classes = len(fractions)
    totals = shares.sum(axis=0)
    counted = totals**2 / (shares**2).sum(axis=0)
    part = shares / totals
    mean = left_out.T @ part
    expected = mean @ fractions
    error = fractions**2 / np.maximum(counted - 1, 0.5)
    covariance = (left_out.T * (part @ error)) @ left_out - (mean * error) @ mean.T
    one_draw = np.diag(found) - np.outer(found, found)
    covariance += PSEUDO_LABELS * np.sum((fractions / counted) ** 2) * one_draw
    covariance += np.diag(SYSTEMATIC**2 * (found + expected) / 2 + LEAST_VARIANCE)
    contrasts = helmert(n_classes)  # probabilities sum to 1: one direction says nothing
    with small_matrices(n_classes):
        factor = cholesky(contrasts @ covariance @ contrasts.T, lower=True)
        wanted = solve_triangular(factor, contrasts @ found, lower=True)
        columns = solve_triangular(factor, contrasts @ (mean * fractions), lower=True)
        slopes = columns - np.outer(columns.sum(axis=1), fractions)
        directions, sizes, _ = np.linalg.svd(slopes, full_matrices=False)
        excess = directions.T @ (wanted - columns.sum(axis=1))
        std = RATIO_STD[int(np.argmax(_log_evidence(excess, sizes)))]
        if std == 0:
            return np.ones(n_classes)

        def loss(log_ratio: Array) -> tuple[float, Array]:
            ratio = _normalised(log_ratio, fractions)
            rest = columns @ ratio - wanted
            slope = ratio * (columns.T @ rest)
            slope -= fractions * ratio * slope.sum()
            value = 0.5 * rest @ rest + 0.5 * log_ratio @ log_ratio / std**2
            return float(value), slope + log_ratio / std**2

        best = minimize(loss, np.zeros(n_classes), jac=True, method="L-BFGS-B").x
    return _normalised(best, fractions)


def _log_evidence(excess: Array, sizes: Array) -> Array:
    """Return log N(excess; 0, 1 + s² size²) for each s of RATIO_STD, up to a constant."""
    variance = 1 + (RATIO_STD[:, None] * sizes) ** 2
    return np.asarray(-0.5 * np.sum(np.log(variance) + excess**2 / variance, axis=1))


def _normalised(log_ratio: Array, fractions: Array) -> Array:
    ratio = np.exp(log_ratio - log_ratio.max())
    return np.asarray(ratio / (fractions @ ratio))
