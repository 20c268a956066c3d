"""By what the next nodes to label are chosen."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.labelling.growing import Growing
from gpgc.labelling.label_posterior import LabelPosterior
from gpgc.labelling.planning import Plan, error_reduction

Strategy = Literal["weighted", "variance", "error", "margin"]

LABELS_PER_CLASS = 4
"""Labels for each class seen from which on probabilities are trusted to weigh nodes."""

SHORTLIST = 40
"""Candidates, the best by ``"weighted"``, whose expected reduction of errors is computed."""


class Suggestions(NamedTuple):
    """Nodes worth a label, best first, each given that those before it are labelled.

    ``gains`` is what each is worth by the strategy, over its cost.
    """

    nodes: Integers
    gains: Array


def trusted(strategy: Strategy, n_labels: int, n_classes: int) -> Strategy:
    """Return the strategy, or ``"variance"`` while labels are too few for it.

    Examples
    --------
    >>> trusted("weighted", n_labels=7, n_classes=2), trusted("weighted", n_labels=8, n_classes=2)
    ('variance', 'weighted')
    """
    if strategy not in get_args(Strategy):
        raise InputError(
            f"strategy must be one of {', '.join(get_args(Strategy))}, got {strategy!r}"
        )
    return "variance" if n_labels < LABELS_PER_CLASS * max(n_classes, 2) else strategy


def doubt(probability: Array, strategy: Strategy) -> Array:
    """Return how undecided each row of probabilities is.

    One minus the gap between the two largest for ``"margin"``, else 1 − Σ p².

    Examples
    --------
    >>> doubt(np.array([[0.5, 0.5], [1.0, 0.0]]), "weighted")
    array([0.5, 0. ])
    """
    if strategy == "margin":
        second, first = np.partition(probability, -2, axis=1)[:, -2:].T
        return np.asarray(1 - (first - second))
    return np.asarray(1 - np.einsum("ic,ic->i", probability, probability))


def pick(
    n: int,
    strategy: Strategy,
    plan: Plan,
    is_free: NDArray[np.bool_],
    weights: Array,
    costs: Array,
    posterior: LabelPosterior | None,
) -> Suggestions:
    """Take the best candidate again and again, each given those before it.

    Parameters
    ----------
    n : int
        How many; fewer where candidates run out.
    strategy : str
        See :class:`gpgc.Labelling`.
    plan : Plan
        Conditioned on the labels so far; for n above 1 it is conditioned further.
    is_free : array of shape (n_candidates,)
        Which candidates may be taken.
    weights, costs : arrays of shape (N,)
        What each node counts, and what its label costs.
    posterior : LabelPosterior, optional
        Needed by ``"error"`` alone.
    """
    here, free = plan.candidates, is_free.copy()
    believed = posterior.growing.copy() if posterior is not None else None
    nodes: list[int] = []
    gains: list[float] = []
    for _ in range(min(n, int(free.sum()))):
        if nodes:
            plan.observe(nodes[-1:])
        if nodes and believed is not None:
            believed.observe(nodes[-1:], believed.mean[believed.index(np.array(nodes[-1:]))])
        gain = weights[here] * plan.variance if strategy == "margin" else plan.gains(weights)
        gain = np.where(free, gain / costs[here], -np.inf)
        if believed is not None and posterior is not None:
            gain = _fewer_errors(believed, posterior.temperature, plan, gain, costs)
        best = int(np.argmax(gain))
        free[best] = False
        nodes.append(int(here[best]))
        gains.append(float(gain[best]))
    return Suggestions(np.array(nodes, dtype=np.intp), np.array(gains))


def _fewer_errors(
    believed: Growing, temperature: float, plan: Plan, gain: Array, costs: Array
) -> Array:
    """Return the expected reduction of errors, over costs, of those that gain most."""
    shortlist = np.argsort(-gain)[:SHORTLIST]
    nodes = plan.candidates[shortlist]
    falls = error_reduction(believed, temperature, nodes, plan.sample)
    worth = np.full(len(gain), -np.inf)
    worth[shortlist] = np.where(np.isfinite(gain[shortlist]), falls / costs[nodes], -np.inf)
    return worth
