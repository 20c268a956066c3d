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
from gpgc.probability.significance import clearly_better
from gpgc.probability.softmax import cross_entropies
from gpgc.probability.temperature import fit_temperature

CURVATURES = 2.0 ** np.arange(-1, 7)
"""Curvatures that are tried."""

FEWEST_LABELS = 2000
"""Labels from which on a curve is tried: fewer say little of its shape."""

N_ERRORS = 2.0
"""Standard errors by which the best of the curves must gain."""


@dataclass(frozen=True)
class ScoreCurve:
    """s(m) of the formula above.

    Attributes
    ----------
    temperature : float
        t, an inverse temperature.
    curvature : float, default 0
        c.

    Examples
    --------
    >>> ScoreCurve(2.0).scores(np.array([0.5, -1.0]))
    array([ 1., -2.])
    >>> ScoreCurve(2.0, 2.0).scores(np.array([0.5, -1.0])).round(3)
    array([ 0.693, -2.   ])
    """

    temperature: float
    curvature: float = 0.0

    def scores(self, means: Array) -> Array:
        """Return the scores of latent means of any shape."""
        return np.asarray(self.temperature * _bent(means, self.curvature))


def fit_curve(
    left_out: Array,
    targets: Array,
    weights: Array,
    temperature: float,
    offset: Array | float = 0.0,
) -> ScoreCurve:
    """Return the curve of least cross-entropy, a straight line unless another is clearly better.

    Parameters
    ----------
    left_out, targets : arrays of shape (D, k)
        Leave-one-out means, and labels as one-hot rows or as probabilities.
    weights : array of shape (D,)
        What each label counts.
    temperature : float
        t of the straight line.
    offset : array of shape (k,), default 0
        What is added to the straight line's scores.
    """
    straight = ScoreCurve(temperature)
    if np.count_nonzero(weights) < FEWEST_LABELS:
        return straight
    tried = [
        ScoreCurve(float(fit_temperature(_bent(left_out, c), targets, weights)), float(c))
        for c in CURVATURES
    ]
    losses = [_losses(curve, left_out, targets, weights) for curve in tried]
    best = int(np.argmin([loss.sum() for loss in losses]))
    usual = _losses(straight, left_out, targets, weights, offset)
    return tried[best] if clearly_better(losses[best], usual, N_ERRORS) else straight


def _bent(means: Array, curvature: float) -> Array:
    if not curvature:
        return means
    return np.where(means > 0, np.log1p(curvature * np.maximum(means, 0)) / curvature, means)


def _losses(
    curve: ScoreCurve, left_out: Array, targets: Array, weights: Array, offset: Array | float = 0.0
) -> Array:
    return weights * cross_entropies(curve.scores(left_out) + offset, targets, np.asarray(1.0))
