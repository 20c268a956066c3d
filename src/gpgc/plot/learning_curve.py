"""What more labels would bring."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.compute.progress import tracked
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.plot.axes import COLOURS, axes_or_new

FRACTIONS = (0.1, 0.2, 0.35, 0.5, 0.65, 0.8)


def learning_curve(
    model: GPGCClassifier,
    *,
    sizes: Sequence[int] | None = None,
    n_repeats: int = 5,
    seed: int = 0,
    ax: Any = None,
) -> Any:
    """Draw the accuracy on labels that are held back against the number of labels that are used.

    Of the labels of the fitted model some are drawn, of each class at least one. The model is
    conditioned on them anew, on the same graph, and tested on all the others; a curve that still
    rises says that more labels help.

    Parameters
    ----------
    model : GPGCClassifier
        Fitted; it stays as it is.
    sizes : sequence of int, optional
        Numbers of labels; from a tenth to four fifths of them by default.
    n_repeats : int, default 5
        Draws for each number.
    seed : int, default 0
        Of the draws.
    ax : matplotlib Axes, optional
        Where to draw; new ones when not given.

    Returns
    -------
    matplotlib Axes
    """
    check_is_fitted(model)
    ax = axes_or_new(ax)
    numbers = sizes_of(model, sizes)
    scores = accuracies(model, numbers, n_repeats, seed)
    mean, std = scores.mean(axis=1), scores.std(axis=1)
    ax.fill_between(numbers, mean - std, mean + std, color=COLOURS[0], alpha=0.2, linewidth=0)
    ax.plot(numbers, mean, "o-", color=COLOURS[0])
    ax.set(xlabel="labels used", ylabel="accuracy on the other labels")
    ax.set_title(f"mean ± standard deviation of {n_repeats} draws")
    ax.grid(alpha=0.3)
    return ax


def sizes_of(model: GPGCClassifier, sizes: Sequence[int] | None) -> Integers:
    """Return numbers of labels of which some remain to test on."""
    n_labels, n_classes = len(model.labelled_nodes_), len(model.classes_)
    if sizes is None:
        sizes = [round(fraction * n_labels) for fraction in FRACTIONS]
        sizes = sorted({max(size, n_classes) for size in sizes})
    numbers = np.asarray(sizes, dtype=np.intp)
    if not len(numbers) or numbers.min() < n_classes or numbers.max() >= n_labels:
        raise InputError(
            f"sizes must lie between {n_classes} and {n_labels - 1}, got {list(sizes)}"
        )
    return numbers


def accuracies(model: GPGCClassifier, sizes: Integers, n_repeats: int, seed: int) -> Array:
    """Return the accuracy (n_sizes, n_repeats) on the labels that were not drawn."""
    rng = np.random.default_rng(seed)
    labelled, given = model.labelled_nodes_, model.transduction_[model.labelled_nodes_]
    scores = np.empty((len(sizes), n_repeats))
    other = copy(model)
    for row, column in tracked(list(np.ndindex(*scores.shape))):
        order = rng.permutation(len(labelled))
        _, first = np.unique(model.codes_[order], return_index=True)
        order = np.concatenate([order[first], np.delete(order, first)])
        used, tested = order[: sizes[row]], order[sizes[row] :]
        y = np.full(len(model.prior_.nodes), None, dtype=object)
        y[labelled[used]] = given[used]
        predicted = other.relabel(y).predict()
        scores[row, column] = np.mean(predicted[labelled[tested]] == given[tested])
    return scores
