r"""Scores from latent means: t m, or a line that bends where many labels say so.

Latent means are regressions of 0/1 targets, so that they tend to be probabilities themselves with
many labels, and the logarithm of a probability is no straight line:

.. math::
    s(m) = \frac{t}{c} \log(1 + c\, m) \;\text{ for } m > 0, \qquad s(m) = t\, m \;\text{ else}

has the slope t at 0, is t m for c = 0, and for a large c a power of the mean within the softmax.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgc._typing import Array
from gpgc.probability.softmax import cross_entropies
from gpgc.probability.temperature import fit_temperature

CURVATURES = 2.0 ** np.arange(-1, 7)
"""Curvatures that are tried."""

FEWEST_LABELS = 2000
"""Labels from which on a curve is tried: fewer say little of its shape."""

FEWEST_DIFFERENCES = 6
"""Labels that must tell two curves apart: the spread of fewer may be nothing by symmetry."""

N_ERRORS = 2.0
"""Standard errors by which the best of the curves must gain."""


@dataclass(frozen=True)
class ScoreCurve:
    """s(m) of the formula above."""

    temperature: float
    curvature: float = 0.0

    def scores(self, means: Array) -> Array:
        """Return the scores of latent means of any shape."""
        if not self.curvature:
            return np.asarray(self.temperature * means)
        bent = np.log1p(self.curvature * np.maximum(means, 0)) / self.curvature
        return np.asarray(self.temperature * np.where(means > 0, bent, means))


def fit_curve(
    left_out: Array,
    targets: Array,
    weights: Array,
    temperature: float,
    offset: Array | float = 0.0,
) -> ScoreCurve:
    """Return the curve of least cross-entropy, a straight line unless another is clearly better."""
    straight = ScoreCurve(temperature)
    if np.count_nonzero(weights) < FEWEST_LABELS:
        return straight

    def losses_of(scores: Array) -> Array:
        return weights * cross_entropies(scores, targets)

    tried = []
    for c in CURVATURES.tolist():
        bent = ScoreCurve(1.0, c).scores(left_out)
        tried.append(ScoreCurve(float(fit_temperature(bent, targets, weights)), c))
    losses = [losses_of(curve.scores(left_out)) for curve in tried]
    best = int(np.argmin([loss.sum() for loss in losses]))
    gain = losses_of(straight.scores(left_out) + offset) - losses[best]
    if np.count_nonzero(gain) < FEWEST_DIFFERENCES:
        return straight
    return tried[best] if gain.mean() > N_ERRORS * gain.std() / np.sqrt(len(gain)) else straight
