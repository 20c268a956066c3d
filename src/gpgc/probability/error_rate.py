"""How many labels are wrong, from how each is predicted by the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from gpgc._typing import Array, Integers
from gpgc.probability.softmax import softmax
from gpgc.probability.temperature import Sharpness, flatness, sharpness_penalty

RATE_PRIOR = (0.5, 9.5)
"""Exponents of ε and 1 − ε in the prior of the error rate ε: its mode is 5 %, and it counts as much
as ten labels."""

STARTS = (0.02, 0.2)
"""Error rates from which the fit starts; the better end counts."""


class LabelErrors(NamedTuple):
    """What the other labels say about each one.

    Attributes
    ----------
    wrong : array of shape (D,)
        Probability that a label is wrong.
    likely : int array of shape (D,)
        The most likely class by the other labels.
    rate : float
        ε, the fitted fraction of wrong labels.
    """

    wrong: Array
    likely: Integers
    rate: float


def label_errors(
    left_out: Array,
    codes: Integers,
    weights: Array,
    spread: float,
    usual: Sharpness,
    fractions: Array,
) -> LabelErrors:
    r"""Return how likely each label is wrong.

    Let a label be wrong with probability ε, and then any other class alike. With
    :math:`p = \mathrm{softmax}(t\,m + a \log f)` of the leave-one-out means m, as in
    :func:`gpgc.probability.temperature.fit_temperature_with_prior`, a label c is seen with
    probability :math:`(1 - ε) p_c + ε (1 - p_c) / (k - 1)`, and is wrong, once seen, with
    probability :math:`ε (1 - p_c) / (k - 1)` over that. t and ε together maximise the likelihood
    of the labels, so that errors make ε larger and not the probabilities p softer; priors on both
    decide where labels are few.

    Parameters
    ----------
    left_out : array of shape (D, k)
        Leave-one-out means, 0 where no other label says anything.
    codes : int array of shape (D,)
        Classes of the labels.
    weights : array of shape (D,)
        What leaving each label out counts.
    spread : float
        Root mean square of the unlabelled nodes' means, to which the prior of t refers
        (:func:`gpgc.probability.temperature.fit_temperature_with_prior`).
    usual : Sharpness
        Of log(t · spread), as for the probabilities of unlabelled nodes.
    fractions : array of shape (k,)
        f, of the classes among the labels.

    Examples
    --------
    >>> means = np.repeat([[0.9, 0.1], [0.1, 0.9]], 20, axis=0)
    >>> codes = np.repeat([0, 1], 20)
    >>> codes[0] = 1
    >>> alike = Sharpness(1.3, 0.5)
    >>> found = label_errors(means, codes, np.ones(40), 0.6, alike, np.full(2, 0.5))
    >>> int(found.wrong.argmax()), bool(found.wrong[0] > 0.8), found.likely[:2]
    (0, True, array([0, 0]))
    """
    n_classes = left_out.shape[1]
    likely = left_out.argmax(axis=1)
    if n_classes == 1:
        return LabelErrors(np.zeros(len(codes)), likely, 0.0)
    offset = np.log(fractions)

    def seen(parameters: Array) -> tuple[Array, Array, float]:
        """Return the probabilities of the labels if right, if wrong, and the rate."""
        rate = 1 / (1 + np.exp(-parameters[1]))
        sharpness = np.exp(parameters[0])
        logits = sharpness / spread * left_out + flatness(sharpness) * offset
        own = softmax(logits)[np.arange(len(codes)), codes]
        return (1 - rate) * own, rate * (1 - own) / (n_classes - 1), float(rate)

    def loss(parameters: Array) -> float:
        right, wrong, rate = seen(parameters)
        likelihood = weights @ np.log(np.maximum(right + wrong, np.finfo(np.float64).tiny))
        prior = RATE_PRIOR[0] * np.log(rate) + RATE_PRIOR[1] * np.log1p(-rate)
        return float(sharpness_penalty(parameters[0], usual) - likelihood - prior)

    found = [
        minimize(loss, [usual.mean, np.log(start / (1 - start))], method="Nelder-Mead")
        for start in STARTS
    ]
    right, wrong, rate = seen(min(found, key=lambda one: one.fun).x)
    return LabelErrors(wrong / (right + wrong), likely, rate)
