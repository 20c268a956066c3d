"""Which views of the nodes count, and how much: steps taken only where leaving labels out gains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp.from_root import label_gram
from gpgc.models import GRAPH, Prior, ViewWeights
from gpgc.models.likeness import alikeness
from gpgc.probability.significance import clearly_better
from gpgc.selection.judge import Judge, Verdict
from gpgc.selection.subset import label_sample

FIRST_LABELS = 300
"""Labels that say which steps are promising."""

PROMISING = 2
"""Steps of which all labels choose."""

SECOND_VIEWS = ("graph", "features")
"""Views that must gain one standard error, or two where neighbours are alike; without features the
graph and hubs are those."""

LATER_ERRORS = 2.0
"""Standard errors that all others must gain: of many, one gains by chance; one more where
neighbours are alike."""

UNLIKE_VIEWS = ("features", "neighbours")
"""Views, half each, from which the choice starts where neighbours are unlike."""

STEPS = (1 / 3, 2 / 3, 1.0)
"""Fractions of the weight that a further view takes from those before it."""

MOST_RANK = 4000
"""Sum of the ranks of the views that are mixed, where all ranks are finite."""

LEAST_SPREAD = 1e-9
"""Variance between nodes, relative to all of it, below which a view tells nothing apart."""


class ViewChoice(NamedTuple):
    """Weights of views, and what leaving labels out says of the covariance they lead to."""

    view_weights: ViewWeights
    verdict: Verdict


def choose_views(prior: Prior, labelled: Integers, judge: Judge) -> ViewChoice:
    """Choose the weights of the views, starting from the usual ones (:func:`usual_shares`).

    Each step tries every view that is not in yet, at a third of the weight, at two thirds and at
    all of it. Few labels say which of these are promising; all of them, whether the best of those
    is taken: where leaving labels out then costs less by over a standard error, or two of them for
    views other than the features' own (hubs where there are no features); one more of each where
    the features of linked nodes are alike, since the graph then says much, and few labels little.
    Weights are in proportion to the variance *between* the labelled nodes that a view accounts for:
    what all nodes share is most of some covariances, and says nothing.

    Parameters
    ----------
    prior : Prior
        Of all nodes.
    labelled : int array of shape (D,)
        Labelled nodes that judge.
    judge : Judge
        Of their covariances.
    """
    usual, alike = prior.views[0], alikeness(prior.likeness, unknown=0.0)
    if judge.criterion == "density" and prior.nodes.from_features:
        alike = 0.0  # nearest neighbours are alike whatever their values are
    seen = {name: prior.seen_at(name, labelled) for name in prior.views}
    grams = {name: label_gram(*found) for name, found in seen.items()}
    if len(prior.views) == 1:
        return ViewChoice(GRAPH, judge.on_gram(grams[usual]))
    ranks = {name: found.covariance.rank for name, found in seen.items()}
    spreads = {name: spread(gram) for name, gram in grams.items()}
    telling = [name for name, value in spreads.items() if value > LEAST_SPREAD]
    few = label_sample(prior.keys[labelled], judge.targets, FIRST_LABELS)
    every = first = Trials(judge, grams)
    if len(few) < len(labelled):
        at = np.ix_(few, few)
        first = Trials(judge.of(few), {name: gram[at] for name, gram in grams.items()})
    shares = usual_shares(prior, spreads)
    chosen = weights_of(shares, spreads) if len(shares) > 1 else shares
    least = every.losses(chosen)
    second_views = SECOND_VIEWS if "features" in prior.views else (usual, "hubs")
    while True:
        steps = [step for step in _steps(shares, telling) if _fits(ranks, step.shares)]
        steps.sort(key=lambda step: first.loss(weights_of(step.shares, spreads)))
        seconds = [step for step in steps[PROMISING:] if step.view in second_views]
        promising = steps[:PROMISING] + seconds[:1]
        promising.sort(key=lambda step: every.loss(weights_of(step.shares, spreads)))
        for step in promising:
            weights = weights_of(step.shares, spreads)
            losses = every.losses(weights)
            n_errors = 1.0 if step.view in second_views else LATER_ERRORS
            if clearly_better(losses, least, n_errors + alike):
                shares, chosen, least = step.shares, weights, losses
                break
        else:
            break
    return ViewChoice(chosen, judge.on_gram(mixture(grams, chosen)))


def usual_shares(prior: Prior, spreads: Mapping[str, float]) -> dict[str, float]:
    """Return the shares of views that are taken where labels say nothing else.

    The graph alone, or where the features of linked nodes are unlike, own features and the
    neighbours' side by side: neither then stands for the other.

    Parameters
    ----------
    prior : Prior
        Of all nodes.
    spreads : mapping
        Name of a view → variance between labelled nodes (:func:`spread`).
    """
    if alikeness(prior.likeness, unknown=1.0) < 0.5:
        telling = [name for name in UNLIKE_VIEWS if spreads.get(name, 0.0) > LEAST_SPREAD]
        if len(telling) == len(UNLIKE_VIEWS):
            return dict.fromkeys(telling, 1 / len(telling))
    return {prior.views[0]: 1.0}


def usual_weights(prior: Prior, labelled: Integers) -> ViewWeights:
    """Return the weights of views where labels cannot be left out, as with one of each class."""
    names = [name for name in UNLIKE_VIEWS if name in prior.views]
    if alikeness(prior.likeness, unknown=1.0) >= 0.5 or len(labelled) < 2:
        return GRAPH
    spreads = {name: spread(label_gram(prior.view(name), labelled)) for name in names}
    shares = usual_shares(prior, spreads)
    return weights_of(shares, spreads) if len(shares) > 1 else GRAPH


class Trials:
    """What leaving labels out of mixtures of views costs, each computed once.

    Losses alone are kept: a verdict holds a D × D matrix, and there are dozens of mixtures.

    Parameters
    ----------
    judge : Judge
        Of covariances of some labels.
    grams : mapping
        Name of a view → its covariance of these labels.
    """

    def __init__(self, judge: Judge, grams: Mapping[str, Array]) -> None:
        self._judge, self._grams = judge, grams
        self._known: dict[tuple[tuple[str, float], ...], Array] = {}

    def losses(self, weights: ViewWeights) -> Array:
        """Return what leaving each label out of one mixture costs, of shape (D,)."""
        key = tuple(weights.items())
        if key not in self._known:
            self._known[key] = self._judge.on_gram(mixture(self._grams, weights)).losses
        return self._known[key]

    def loss(self, weights: ViewWeights) -> float:
        """Return the mean loss of leaving a label out."""
        return float(self.losses(weights).mean())


class Step(NamedTuple):
    """A view that is taken in, and the shares of the variance between nodes after it."""

    view: str
    shares: dict[str, float]


def _steps(shares: Mapping[str, float], views: list[str]) -> Iterator[Step]:
    """Give each step that is worth a try."""
    for name in views:
        if name in shares:
            if len(shares) > 1:
                yield Step(name, {name: 1.0})
            continue
        for step in STEPS:
            kept = {old: share * (1 - step) for old, share in shares.items() if old in views}
            if step == 1 or kept:
                yield Step(name, {name: 1.0} if step == 1 else {**kept, name: step})


def spread(gram: Array) -> float:
    """Return the variance between nodes, the mean variance less the mean covariance.

    Examples
    --------
    >>> spread(np.array([[1.0, 0.5], [0.5, 1.0]]))
    0.5
    """
    n = len(gram)
    if n < 2:
        return 0.0
    trace = float(np.trace(gram, dtype=np.float64))
    return (trace - float(gram.sum(dtype=np.float64)) / n) / (n - 1)


def weights_of(shares: Mapping[str, float], spreads: Mapping[str, float]) -> dict[str, float]:
    """Return weights, summing to 1, by which views account for given shares of the variance.

    Parameters
    ----------
    shares : mapping
        Name of a view → its share of the variance between nodes.
    spreads : mapping
        Name → that variance of the view itself (:func:`spread`).

    Examples
    --------
    >>> weights_of({"graph": 0.5, "features": 0.5}, {"graph": 0.1, "features": 0.3})
    {'graph': 0.75, 'features': 0.25}
    """
    raw = {name: share / spreads[name] for name, share in shares.items() if share}
    total = sum(raw.values())
    return {name: weight / total for name, weight in raw.items()}


def mixture(grams: Mapping[str, Array], weights: ViewWeights) -> Array:
    """Return the weighted sum of the views' matrices, in the coarsest of their number formats.

    The format tells what counts as rounding (:func:`gpgc.gp.rounding.checked_gram`).
    """
    terms = [weight * grams[name] for name, weight in weights.items() if weight]
    coarsest = min((term.dtype for term in terms), key=lambda dtype: dtype.itemsize)
    return np.asarray(reduce(np.add, terms), dtype=coarsest)


def _fits(ranks: Mapping[str, int | None], shares: Mapping[str, float]) -> bool:
    mixed = [ranks[name] for name, share in shares.items() if share]
    finite = [rank for rank in mixed if rank is not None]
    return len(finite) < len(mixed) or len(finite) == 1 or sum(finite) <= MOST_RANK
