"""How many labels are wrong, from how each is predicted by the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from gpgc._typing import Array, Integers
from gpgc.probability.softmax import softmax
from gpgc.probability.temperature import Sharpness, sharpness_penalty

RATE_PRIOR = (0.5, 9.5)
"""Exponents of ε and 1 − ε in the prior of the error rate ε: its mode is 5 %, and it counts as much
as ten labels."""

STARTS = (0.02, 0.2)
"""Error rates from which the fit starts; the better end counts."""


class LabelErrors(NamedTuple):
    """What the other labels say about each one."""

    wrong: Array
    likely: Integers
    rate: float


def label_errors(
    left_out: Array,
    codes: Integers,
    weights: Array,
    contrast: float,
    usual: Sharpness,
    fractions: Array,
) -> LabelErrors:
    """Return how likely each label is wrong, at a rate ε, and then any other class alike.

    A label c is seen with probability (1 − ε) p_c + ε (1 − p_c) / (k − 1), with left-out means m,
    p = softmax(t m + a log f). t and ε maximise the likelihood together, so that errors make ε
    larger and not p softer; priors on both decide where labels are few.
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
        logits = sharpness / contrast * left_out + np.exp(-sharpness) * offset
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
