"""Which of the given labels are wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.given import left_out_weights
from gpgc.estimators.notebook import Shown
from gpgc.probability.error_rate import label_errors
from gpgc.probability.temperature import root_mean_square, square_sums, usual_sharpness

SHOWN = 10
"""Labels that a printed record shows."""

DIGITS = 9
"""Of probabilities: further ones are rounding, which is not to put equal labels in order."""

PLACE_ALIKE = 0.5
"""How far linked nodes count as alike where no features tell: links at random are then not taken
for evidence (30 labels of 500 nodes: suspected with at most .09, against 1.0 with 1)."""


@dataclass(frozen=True, eq=False, repr=False)
class LabelCheck(Shown):
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

    def _head(self) -> str:
        return f"{len(self)} labels, about {self.expected_errors:.1f} of them wrong"

    def _rows(self) -> Iterator[tuple[str, float, Any, Any]]:
        for node, given, likely, wrong in zip(
            self.nodes[:SHOWN], self.given, self.likely, self.probability, strict=False
        ):
            yield str(node if self.names is None else self.names[node]), wrong, given, likely

    def __str__(self) -> str:
        rows = [f"{'node':>10}  {'wrong':>6}  given → likely"]
        for name, wrong, given, likely in self._rows():
            rows.append(f"{name:>10}  {wrong:>6.1%}  {given} → {likely}")
        more = len(self) - SHOWN
        return "\n".join(
            [self._head(), *rows, *([f"and {more} less suspicious"] if more > 0 else [])]
        )

    def table(self) -> tuple[str, Iterable[Any], Iterable[Iterable[Any]]]:
        """Return the most suspicious labels."""
        rows = (
            (name, f"{wrong:.1%}", given, likely) for name, wrong, given, likely in self._rows()
        )
        return self._head(), ("node", "probably wrong", "given", "likely"), rows


def check_labels(estimator: GPGCClassifier) -> LabelCheck:
    """Return how likely each given label is wrong, worst first."""
    check_is_fitted(estimator)
    labelled, codes = estimator.labelled_nodes_, estimator.codes_
    alone = estimator.prior_.nodes.reach.alone(labelled)
    rest = estimator.prior_.nodes.reach.reached(labelled)
    rest[labelled] = False
    contrast = root_mean_square(square_sums(estimator.predict_latent()[rest]))
    posterior, trust = estimator.posterior_, estimator.sample_weight_
    weights = left_out_weights(posterior.targets, trust, alone)
    silent = weights == 0  # the others know nothing of its class, or do not reach it
    left_out = np.where(silent[:, None], 0.0, posterior.leave_one_out().mean)
    homophily = estimator.prior_.homophily
    alike = homophily.alike if homophily.features_tell else PLACE_ALIKE
    agreement = estimator.fit_.choice.agreement
    usual = usual_sharpness(len(codes), alike, len(estimator.classes_), agreement)
    fractions = estimator.calibration_.fractions
    found = label_errors(left_out, codes, weights, contrast, usual, fractions)
    classes = estimator.classes_
    likely = np.where(silent, classes[codes], estimator.leave_one_out_predict())
    wrong = np.round(found.wrong, DIGITS)
    order = np.argsort(-wrong, kind="stable")
    return LabelCheck(
        labelled[order],
        classes[codes[order]],
        likely[order],
        wrong[order],
        estimator.node_names_,
    )
