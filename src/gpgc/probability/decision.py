"""From latent means to one label: probabilities, scores and class codes that agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.probability.calibration import Calibration

DecisionRule = Literal["probable", "balanced"]
"""The most probable class, or that of the largest probability over its fraction of all nodes."""


@dataclass(frozen=True, eq=False)
class Decision:
    """A calibration and a rule: whatever is said of a node's class comes from here.

    A node that labels do not reach has the class prior for probabilities, and its largest entry
    for a class under either rule: over the prior all classes would be equal there.

    Attributes
    ----------
    calibration : Calibration
        What makes probabilities of latent means.
    rule : {"probable", "balanced"}
        Which class is taken.

    Examples
    --------
    >>> from gpgc.probability.score_curve import ScoreCurve
    >>> calibration = Calibration.of(ScoreCurve(1.0), np.log([1.5, 0.5]), np.array([0.5, 0.5]))
    >>> means, reached = np.array([[0.4, 0.6]]), np.array([True])
    >>> Decision(calibration).codes(means, reached)
    array([0])
    >>> Decision(calibration, "balanced").codes(means, reached)
    array([1])
    """

    calibration: Calibration
    rule: DecisionRule = "probable"

    def probabilities(self, mean: Array, reached: NDArray[np.bool_]) -> Array:
        """Return class probabilities (n, k); they do not depend on the rule.

        Parameters
        ----------
        mean : array of shape (n, k)
            Latent means.
        reached : bool array of shape (n,)
            Which nodes the labels can say anything about.
        """
        return self.calibration.probabilities(mean, reached)

    def scores(self, mean: Array, reached: NDArray[np.bool_]) -> Array:
        """Return scores (n, k), the largest of which is that of the class that is taken."""
        logits = self.calibration.logits(mean, reached)
        if self.rule == "balanced":
            logits[reached] -= np.log(self.calibration.class_prior)
        return logits

    def codes(self, mean: Array, reached: NDArray[np.bool_]) -> Integers:
        """Return the class (n,) that is taken, as a column of the means."""
        return np.asarray(self.scores(mean, reached).argmax(axis=1))
