"""Which of the given labels are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.estimators.class_answers import ClassAnswers
from gpgc.estimators.given_labels import left_out_weights
from gpgc.models.likeness import alikeness
from gpgc.probability.error_rate import label_errors
from gpgc.probability.temperature import root_mean_square, usual_sharpness

SHOWN = 10
"""Labels that a printed record shows."""


@dataclass(frozen=True, eq=False)
class LabelCheck:
    """The given labels, the most suspicious first.

    Attributes
    ----------
    nodes : int array of shape (D,)
        The labelled nodes, worst first.
    given : array of shape (D,)
        Their labels.
    likely : array of shape (D,)
        The label of each by the other labels, as ``leave_one_out_predict`` says; may be the given
        one, and is where the others say nothing.
    probability : array of shape (D,)
        How likely the given label is wrong.
    names : array of shape (N,), or None
        The names of all nodes, where they have any.
    expected_errors : float
        How many of the labels are wrong: the sum of the probabilities.
    """

    nodes: Integers
    given: NDArray[Any]
    likely: NDArray[Any]
    probability: Array
    names: NDArray[Any] | None = None

    @property
    def expected_errors(self) -> float:
        """How many of the labels are wrong: the sum of the probabilities."""
        return float(self.probability.sum())

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        head = f"{len(self)} labels, about {self.expected_errors:.1f} of them wrong"
        rows = [f"{'node':>10}  {'wrong':>6}  given → likely"]
        for node, given, likely, wrong in zip(
            self.nodes[:SHOWN], self.given, self.likely, self.probability, strict=False
        ):
            name = node if self.names is None else str(self.names[node])
            rows.append(f"{name:>10}  {wrong:>6.1%}  {given} → {likely}")
        more = len(self) - SHOWN
        return "\n".join([head, *rows, *([f"and {more} less suspicious"] if more > 0 else [])])


def check_labels(estimator: ClassAnswers) -> LabelCheck:
    """Return how likely each given label is wrong, worst first.

    Each label is compared with what the others say about its node
    (:func:`gpgc.probability.error_rate.label_errors`).

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted.

    Examples
    --------
    >>> from gpgc import GPGCClassifier
    >>> cliques = np.kron(np.eye(2), np.ones((8, 8)))
    >>> y = [*"aaabaaaa", *"bbbbbbbb"]
    >>> print(str(check_labels(GPGCClassifier().fit(None, y, adjacency=cliques)))[:35])
    16 labels, about 0.8 of them wrong
    """
    check_is_fitted(estimator)
    labelled, codes = estimator.labelled_nodes_, estimator.codes_
    alone = estimator.prior_.nodes.reach.alone(labelled)
    rest = estimator.prior_.nodes.reach.reached(labelled)
    rest[labelled] = False
    spread = root_mean_square(estimator.predict_latent()[rest])
    posterior, trust = estimator.posterior_, estimator.sample_weight_
    weights = left_out_weights(posterior.targets, trust, alone)
    silent = weights == 0  # the others know nothing of its class, or do not reach it
    left_out = np.where(silent[:, None], 0.0, posterior.leave_one_out().mean)
    alike = alikeness(estimator.prior_.likeness, unknown=1.0)
    usual = usual_sharpness(len(codes), alike, len(estimator.classes_))
    fractions = estimator.label_fractions()
    found = label_errors(left_out, codes, weights, spread, usual, fractions)
    classes = estimator.classes_
    likely = np.where(silent, classes[codes], estimator.leave_one_out_predict())
    order = np.argsort(-found.wrong, kind="stable")
    return LabelCheck(
        labelled[order],
        classes[codes[order]],
        likely[order],
        found.wrong[order],
        estimator.node_names_,
    )
