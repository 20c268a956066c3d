"""How sharp probabilities are: the inverse temperature t of softmax(t · scores)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from gpgc._typing import Array
from gpgc.probability.softmax import cross_entropies


class Sharpness(NamedTuple):
    """Mean and standard deviation of log(t · r), how sharp probabilities are before labels say it.

    r is the root mean square of the latent means around their mean over classes.
    """

    mean: float
    std: float


SURE = 0.9
"""Where neighbours are alike, the probability of its class at a node whose latent means are as long
as usual and all in one class."""

ALIKE_STD = 0.5
"""Standard deviation of log(t · r) over graphs of many kinds whose neighbours are alike."""

UNLIKE = Sharpness(-2.5, 1.0)
"""Where the features of linked nodes are unlike: next to nothing is known without labels."""

LEAST_CONTRAST = 1e-3
"""Differences between classes, relative to the latent means themselves, below which they are as
likely to come from rounding and from a sample of landmarks as from the labels."""

SHARPEST = 5.0
"""How many units of log t the labels may move the sharpness from its usual value."""

SHARPNESS_STEPS = 41
"""Values of log t that are tried before the best one is refined."""

CHANCE_GAIN = 2.0
"""Nats that leave-one-out gains by chance over the labels' fractions, since it has chosen noise and
views too; with few labels a fifteenth of a nat for each."""

LABELS_A_NAT = 15.0

BISECTIONS = 10
NEWTON_STEPS = 3


def fit_temperature(
    scores: Array,
    targets: Array,
    weights: Array | None = None,
    bounds: tuple[float, float] = (1e-2, 1e3),
) -> Array:
    """Return the inverse temperatures t that minimise the cross-entropy of softmax(t · scores).

    The cross-entropy is convex in t: bisection of log t brackets the root of its slope, and
    Newton's method polishes it.

    Parameters
    ----------
    scores : array of shape (..., D, k)
        Any number of sets of scores of the same nodes.
    targets : array of shape (D, k)
        One-hot, or rows of probabilities.
    weights : array of shape (D,), optional
        What each node counts; 1 when not given.
    bounds : pair of float
        Smallest and largest t.

    Returns
    -------
    array of shape (...)

    Examples
    --------
    >>> means = np.array([[0.6, 0.4], [0.3, 0.7], [0.6, 0.4]])
    >>> fit_temperature(means, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])).round(2)
    np.float64(3.78)
    """
    by_class = np.moveaxis(scores, -1, 0)
    by_class = np.ascontiguousarray(by_class - by_class.max(axis=0))
    observed = (by_class * np.moveaxis(targets, -1, 0).reshape(_last_of(by_class))).sum(axis=0)
    observed = np.average(observed, axis=-1, weights=weights)
    low, high = (np.full(observed.shape, bound) for bound in bounds)
    t = np.sqrt(low * high)
    for step in range(BISECTIONS + NEWTON_STEPS):
        powers = np.exp(t[..., None] * by_class)
        total = powers.sum(axis=0)
        powers *= by_class
        expected = powers.sum(axis=0) / total
        powers *= by_class
        slope = np.average(expected, axis=-1, weights=weights) - observed
        variance = powers.sum(axis=0) / total - expected**2
        curvature = np.average(variance, axis=-1, weights=weights)
        low, high = np.where(slope < 0, t, low), np.where(slope < 0, high, t)
        newton = t - slope / np.maximum(curvature, np.finfo(np.float64).tiny)
        inside = (step >= BISECTIONS) & (newton > low) & (newton < high)
        t = np.where(inside, newton, np.sqrt(low * high))
    return np.asarray(t)


def _last_of(by_class: Array) -> tuple[int, ...]:
    """Return the shape (k, 1, …, D) in which targets broadcast against scores (k, …, D)."""
    return (by_class.shape[0], *(1,) * (by_class.ndim - 2), by_class.shape[-1])


class SquareSums(NamedTuple):
    """Sums over nodes: squares of latent means around their mean over classes, squares, nodes.

    Those of several sets of nodes add up.

    Examples
    --------
    >>> square_sums(np.array([[1.0, 0.0]])).joined(square_sums(np.array([[0.0, 1.0]])))
    SquareSums(around=1.0, squares=2.0, n_nodes=2)
    """

    around: float
    squares: float
    n_nodes: int

    def joined(self, other: SquareSums) -> SquareSums:
        """Return the sums over both sets of nodes."""
        around, squares = self.around + other.around, self.squares + other.squares
        return SquareSums(around, squares, self.n_nodes + other.n_nodes)

    @property
    def root_mean_square(self) -> float:
        """See :func:`root_mean_square`."""
        if not self.n_nodes:
            return 1.0
        contrast, size = np.sqrt(self.around / self.n_nodes), np.sqrt(self.squares / self.n_nodes)
        return float(max(contrast, LEAST_CONTRAST * size))


def square_sums(means: Array) -> SquareSums:
    """Return the sums of squares of latent means (n, k)."""
    around = means - means.mean(axis=1, keepdims=True)
    return SquareSums(float(np.vdot(around, around)), float(np.vdot(means, means)), len(means))


def root_mean_square(means: Array) -> float:
    """Return the root mean square length of latent means (n, k) around their mean over classes.

    It is at least a thousandth of their own, below which they say nothing, and 1 where there are
    none, the range of 0/1 targets.

    Examples
    --------
    >>> root_mean_square(np.array([[1.0, 0.0], [0.0, 1.0]])).__round__(3)
    0.707
    """
    return square_sums(means).root_mean_square


def usual_sharpness(n_labels: int, alike: float, n_classes: int) -> Sharpness:
    r"""Return how sharp probabilities usually are.

    Where neighbours are alike, a node whose latent means are r long, all in one of k classes, is
    90 % sure of it: :math:`t\,r = \sqrt{1 - 1/k}\, \log(9 (k - 1))`; or log(t r) is
    :math:`\log D - 1` with fewer labels: of one label a class, those of 3 classes are wrong more
    often than those of 10. Where neighbours are not alike, the graph may mislead, and a few labels
    cannot tell.

    Parameters
    ----------
    n_labels : int
        D.
    alike : float
        How far neighbours are alike, from 0 to 1 (:func:`gpgc.models.likeness.alikeness`).
    n_classes : int
        k; one class is as two.

    Examples
    --------
    >>> usual_sharpness(20, 0.0, 7)
    Sharpness(mean=-2.5, std=1.0)
    >>> [round(usual_sharpness(2000, 1.0, k).mean, 2) for k in (2, 7, 500)]
    [0.44, 1.31, 2.13]
    >>> round(usual_sharpness(3, 1.0, 3).mean, 2)
    0.1
    """
    k = max(n_classes, 2)
    sure = np.sqrt(1 - 1 / k) * np.log(SURE / (1 - SURE) * (k - 1))
    mean = min(float(np.log(sure)), float(np.log(n_labels)) - 1)
    return Sharpness(
        alike * mean + (1 - alike) * UNLIKE.mean, alike * ALIKE_STD + (1 - alike) * UNLIKE.std
    )


def flatness(sharpness: float) -> float:
    """Return a = exp(−t r), the part of the labels' fractions that scores t · m do not know.

    Examples
    --------
    >>> flatness(0.0), round(flatness(3.7), 3)
    (1.0, 0.025)
    """
    return float(np.exp(-sharpness))


def sharpness_penalty(log_sharpness: float, usual: Sharpness) -> float:
    """Return how unusual log(t · r) is, in nats: a parabola within one deviation, straight outside.

    So that leave-one-out is believed where it says that the usual is wrong by far.

    Examples
    --------
    >>> sharpness_penalty(0.5, Sharpness(0.0, 1.0)), sharpness_penalty(-3.0, Sharpness(0.0, 1.0))
    (0.125, 2.5)
    """
    far = abs(log_sharpness - usual.mean) / usual.std
    return far**2 / 2 if far < 1 else far - 0.5


def credibility(gain: float, n_counted: float) -> float:
    """Return the part of the sharpness that is believed: min(1, exp(G − min(2, n/15))).

    G is what leave-one-out gains over the labels' fractions, in nats. Where it gains nothing,
    nothing was learnt, however usual it is that something is; no label to leave out says nothing.

    Parameters
    ----------
    gain : float
        G, of all labels.
    n_counted : float
        n, what all labels count when they are left out.

    Examples
    --------
    >>> credibility(0.0, 0.0), credibility(3.0, 100.0), round(credibility(-1.0, 15.0), 3)
    (1.0, 1.0, 0.135)
    """
    return float(np.exp(min(0.0, gain - min(CHANCE_GAIN, n_counted / LABELS_A_NAT))))


def fit_temperature_with_prior(
    scores: Array,
    targets: Array,
    weights: Array,
    spread: float,
    usual: Sharpness,
    fractions: Array,
) -> float:
    """Return the inverse temperature t of softmax(t · scores + a log f), a = exp(−t · spread).

    Leave-one-out is blind with few labels: the class of the node that is left out has one label
    less than the others, so each node counts 1 − 1/n for n labels of its class, and
    :func:`sharpness_penalty` takes over where nothing is left. What is found is shrunk by its
    :func:`credibility`.

    Parameters
    ----------
    scores, targets : arrays of shape (D, k)
        Leave-one-out means and one-hot labels.
    weights : array of shape (D,)
        What each node counts.
    spread : float
        :func:`root_mean_square` of the unlabelled nodes' means; t lies within e^±5 of what is
        usual for it.
    usual : Sharpness
        Of log(t · spread).
    fractions : array of shape (k,)
        f, of the classes among the labels.

    Returns
    -------
    float
    """
    if spread <= 0:
        return 1.0
    if not weights.any():
        return float(np.exp(usual.mean) / spread)

    known = np.log(fractions)

    def cost(sharpness: float) -> float:
        logits = sharpness / spread * scores + flatness(sharpness) * known
        return float(weights @ cross_entropies(logits, targets, np.asarray(1.0)))

    def loss(log_sharpness: float) -> float:
        return cost(np.exp(log_sharpness)) + sharpness_penalty(log_sharpness, usual)

    tried = np.linspace(usual.mean - SHARPEST, usual.mean + SHARPEST, SHARPNESS_STEPS)
    best, step = tried[int(np.argmin([loss(one) for one in tried]))], tried[1] - tried[0]
    found = minimize_scalar(loss, bounds=(best - step, best + step), method="bounded")
    sharpness = float(np.exp(found.x))
    return credibility(cost(0.0) - cost(sharpness), weights.sum()) * sharpness / spread
