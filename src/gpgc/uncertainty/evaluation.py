"""How good a classifier is on one graph: labels are hidden in turn, the graph stays whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.given import UNLABELLED, GivenLabels, check_sample_weight, encode_labels
from gpgc.estimators.notebook import Shown
from gpgc.problem.alignment import problem_of
from gpgc.uncertainty.measures import expected_calibration_error, log_loss


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """What hidden labels say of the predictions.

    Attributes
    ----------
    accuracy, log_loss, calibration_error : float
        Over all labels, each predicted while it was hidden.
    accuracies : array of shape (n_splits,)
        Of each split.
    confusion : int array of shape (k, k)
        True class in rows, predicted class in columns.
    classes : array of shape (k,)
        The labels.
    nodes : int array of shape (D,)
        The labelled nodes.
    probabilities : array of shape (D, k)
        What was predicted of each of them while its label was hidden.
    predicted : array of shape (D,)
        The label that ``predict`` gave it then.
    """

    accuracy: float
    log_loss: float
    calibration_error: float
    accuracies: Array
    confusion: NDArray[np.int64]
    classes: NDArray[Any]
    nodes: Integers
    probabilities: Array
    predicted: NDArray[Any]

    def _head(self) -> list[str]:
        return [
            f"accuracy {self.accuracy:.1%} of {len(self.nodes):,} labels, each hidden once; "
            f"{self.accuracies.min():.1%} to {self.accuracies.max():.1%} in "
            f"{len(self.accuracies)} splits",
            f"log loss {self.log_loss:.3f}, calibration error {self.calibration_error:.1%}",
            "true class in rows, predicted class in columns:",
        ]

    def __str__(self) -> str:
        names = [str(name) for name in self.classes]
        width = max(9, *map(len, names))
        lines = [*self._head(), " ".join(f"{name:>{width}}" for name in ("", *names))]
        for name, row in zip(names, self.confusion, strict=True):
            lines.append(" ".join([f"{name:>{width}}", *(f"{count:>{width}}" for count in row)]))
        return "\n".join(lines)

    def table(self) -> tuple[str, Iterable[Any], Iterable[Iterable[Any]]]:
        """Return the confusion matrix below what was measured."""
        rows = ((name, *row) for name, row in zip(self.classes, self.confusion, strict=True))
        return ". ".join(self._head()), ("", *self.classes), rows


def evaluate(
    X: Any,
    y: Any,
    adjacency: Any = None,
    *,
    sample_weight: Any = None,
    n_splits: int = 5,
    random_state: int = 0,
    **parameters: Any,
) -> Evaluation:
    """Hide part of the labels, predict them from the rest, and compare.

    The nodes whose labels are hidden stay in the graph, as unlabelled nodes do; only what was
    hidden counts. The labels should be drawn like the nodes that matter.

    Parameters
    ----------
    X, y, adjacency : optional
        As in :meth:`GPGCClassifier.fit`; labels are certain ones, not rows of probabilities.
    sample_weight : array of shape (N,), optional
        How much each label is to be trusted while it teaches, as in :meth:`GPGCClassifier.fit`;
        hidden labels count alike.
    n_splits : int, default 5
        In how many parts the labels are cut, each hidden once; every class needs two labels.
    random_state : int, default 0
        Of the cut.
    **parameters
        Of :class:`GPGCClassifier`.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import gpgc
    >>> cliques = np.kron(np.eye(2), np.ones((6, 6)))
    >>> print(gpgc.evaluate(None, [0] * 6 + [1] * 6, cliques, n_splits=3))
    accuracy 100.0% of 12 labels, each hidden once; 100.0% to 100.0% in 3 splits
    log loss 0.059, calibration error 5.7%
    true class in rows, predicted class in columns:
                      0         1
            0         6         0
            1         0         6
    """
    problem = problem_of(X, y, adjacency, sample_weight)
    codes, classes = encode_labels(problem.y)
    weights = check_sample_weight(problem.sample_weight, len(codes))
    known = np.flatnonzero(codes != UNLABELLED)
    counts = np.bincount(codes[known])
    if counts.min() < 2:
        single = classes[counts.argmin()]
        raise InputError(
            f"class {single!r:.60} has 1 label; evaluation needs at least 2 of each class"
        )
    if type(n_splits) is not int or not 2 <= n_splits <= counts.max():
        raise InputError(
            f"n_splits must be a whole number from 2 to {counts.max()}, the labels of the largest "
            f"class, got {n_splits!r:.60}"
        )
    estimator = GPGCClassifier(**parameters)
    prior = estimator.make_prior(problem.X, problem.adjacency, len(codes), problem.names)
    found, accuracies = np.zeros((len(known), len(classes))), []
    predicted, truth = np.zeros(len(known), dtype=np.intp), codes[known]
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    for _, hidden in folds.split(known, codes[known]):
        seen = codes.copy()
        seen[known[hidden]] = UNLABELLED
        if len(np.unique(seen)) - (seen == UNLABELLED).any() < len(classes):
            raise InputError(
                "n_splits must leave each class a label in every split, got too few: take more"
            )
        given = GivenLabels.certain(seen, classes)
        estimator.fit_prior(prior, replace(given, weights=weights[given.nodes]))
        found[hidden] = estimator.predict_proba()[known[hidden]]
        predicted[hidden] = estimator.codes_of(estimator.predict()[known[hidden]])
        accuracies.append(np.mean(predicted[hidden] == truth[hidden]))
    return Evaluation(
        float(np.mean(predicted == truth)),
        log_loss(found, truth),
        expected_calibration_error(found, truth),
        np.array(accuracies),
        confusion_matrix(truth, predicted, labels=np.arange(len(classes))),
        classes,
        known,
        found,
        classes[predicted],
    )
