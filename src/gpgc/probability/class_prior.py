"""Fractions of the classes in the whole graph."""

from __future__ import annotations

from collections.abc import Mapping
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


def class_prior(choice: Any, fractions: Array) -> Array:
    """Return known class fractions (k,), or those of the labels, summing to 1."""
    if isinstance(choice, str):
        if choice != "labels":
            raise InputError(
                f"class_prior must be 'estimated', 'labels' or an array, got {choice!r}"
            )
        return fractions
    known = np.asarray(choice, dtype=np.float64)
    if known.shape != fractions.shape or not (known > 0).all() or not np.isfinite(known).all():
        raise InputError(
            f"class_prior must hold {len(fractions)} positive fractions, got {choice!r}"
        )
    return np.asarray(known / known.sum())


def prior_of(choice: Any, classes: Array) -> Any:
    """Return a class prior as it is, or by class (a dict, a Series) in the order of the classes."""
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
    """Return w > 0 (k,), the class fractions of unlabelled nodes over f, those of the labels.

    Of nodes of class j left-out probabilities have the mean M_j, so that the mean prediction of
    unlabelled nodes is q = Σ_j w_j f_j M_j. With b = log w, normalized to Σ f w = 1, b minimises

        ½ ‖q − Σ_j w_j f_j M_j‖² by Σ⁻¹ + ‖b‖² / 2 s²

    with Σ how far q can be off by chance: the columns' standard errors, more with few labels a
    class (:data:`PSEUDO_LABELS`), and :data:`SYSTEMATIC`. The evidence chooses s; where labels are
    few, say little or were drawn at random it is 0, and all w are 1.

    Examples
    --------
    >>> clear = np.eye(2)[np.arange(200) % 2]
    >>> prior_ratios(clear, clear, np.array([0.5, 0.5]), np.array([0.8, 0.2])).round(1)
    array([1.6, 0.4])
    """
    n_classes = len(fractions)
    totals = shares.sum(axis=0)
    n_effective = totals**2 / (shares**2).sum(axis=0)
    part = shares / totals
    mean = left_out.T @ part
    expected = mean @ fractions
    error = fractions**2 / np.maximum(n_effective - 1, 0.5)
    covariance = (left_out.T * (part @ error)) @ left_out - (mean * error) @ mean.T
    one_draw = np.diag(found) - np.outer(found, found)
    covariance += PSEUDO_LABELS * np.sum((fractions / n_effective) ** 2) * one_draw
    covariance += np.diag(SYSTEMATIC**2 * (found + expected) / 2 + LEAST_VARIANCE)
    contrasts = helmert(n_classes)  # probabilities sum to 1: one direction says nothing
    with small_matrices(n_classes):
        factor = cholesky(contrasts @ covariance @ contrasts.T, lower=True)
        wanted = solve_triangular(factor, contrasts @ found, lower=True)
        columns = solve_triangular(factor, contrasts @ (mean * fractions), lower=True)
        slopes = columns - np.outer(columns.sum(axis=1), fractions)
        directions, sizes, _ = np.linalg.svd(slopes, full_matrices=False)
        excess = directions.T @ (wanted - columns.sum(axis=1))
        variance = 1 + (RATIO_STD[:, None] * sizes) ** 2  # of the excess, by each s
        evidence = -0.5 * np.sum(np.log(variance) + excess**2 / variance, axis=1)
        std = RATIO_STD[int(np.argmax(evidence))]
        if std == 0:
            return np.ones(n_classes)

        def loss(log_ratio: Array) -> tuple[float, Array]:
            ratio = _normalized(log_ratio, fractions)
            rest = columns @ ratio - wanted
            slope = ratio * (columns.T @ rest)
            slope -= fractions * ratio * slope.sum()
            value = 0.5 * rest @ rest + 0.5 * log_ratio @ log_ratio / std**2
            return float(value), slope + log_ratio / std**2

        best = minimize(loss, np.zeros(n_classes), jac=True, method="L-BFGS-B").x
    return _normalized(best, fractions)


def _normalized(log_ratio: Array, fractions: Array) -> Array:
    ratio = np.exp(log_ratio - log_ratio.max())
    return np.asarray(ratio / (fractions @ ratio))
