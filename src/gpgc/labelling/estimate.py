"""How good the labels of the rest are: by random audit items, never by the labels it learnt from.

Labels that were chosen because they help most are the hard ones: leaving them out one at a time
says far too little. The audit items are drawn at random and kept out of the model.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from gpgc.probability.fraction import LEAST, Interval

WEIGHT = 10.0
"""Pseudo-counts that the model's own opinion is worth."""

OFTEN, SELDOM, MANY = 5, 10, 30
"""One audit item among so many, until there are many, and from then on."""


def audited_accuracy(hits: int, audited: int, belief: float) -> Interval | None:
    r"""Return the accuracy on the rest from audit items and the model's own opinion.

    .. math:: \mathrm{Beta}(h + w b + \tfrac12,\; m - h + w (1 - b) + \tfrac12)

    with h hits of m audit items, belief b and weight w = 10.

    Parameters
    ----------
    hits, audited : int
        Audit items that the model, which never saw them, gets right, and all of them.
    belief : float
        Mean of the largest probability over the rest.

    Returns
    -------
    Interval or None
        With a 95 % interval; None while there are fewer than five audit items.

    Examples
    --------
    >>> found = audited_accuracy(18, 20, 0.85)
    >>> round(found.mean, 2), round(found.low, 2), round(found.high, 2)
    (0.87, 0.73, 0.96)
    >>> audited_accuracy(4, 4, 0.9) is None
    True
    """
    if audited < LEAST:
        return None
    right = hits + WEIGHT * belief + 0.5
    wrong = audited - hits + WEIGHT * (1 - belief) + 0.5
    low, high = beta.ppf([0.025, 0.975], right, wrong)
    return Interval(right / (right + wrong), float(low), float(high))


def is_audit(position: int, seed: int) -> bool:
    """Return whether the item at a position of the session is an audit item.

    One in five, at a place within the five that nobody can guess; one in ten from 30 on.

    Examples
    --------
    >>> sum(is_audit(position, seed=0) for position in range(150))
    30
    >>> sum(is_audit(position, seed=0) for position in range(150, 250))
    10
    """
    turn = OFTEN * MANY
    every = OFTEN if position < turn else SELDOM
    block, place = divmod(position, every)
    return int(np.random.default_rng([seed, every, block]).integers(every)) == place
