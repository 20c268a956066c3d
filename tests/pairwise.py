"""Products of parameters, of which the tests that run every time hold each pair of values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import pytest


def pairwise(*factors: Sequence, unless=lambda *_: False) -> list:
    """Return the full product as parameters: few of them hold every pair, the others are slow.

    Parameters
    ----------
    *factors : sequence
        The values of each parameter.
    unless : callable, optional
        Called with the values of a case; true for one that makes no sense.

    Examples
    --------
    >>> cases = pairwise("abc", "xyz", [1, 2, 3])
    >>> len(cases), sum(not case.marks for case in cases) < 14
    (27, True)
    """
    cases = [case for case in product(*factors) if not unless(*case)]
    places = [case for case in _places(factors) if not unless(*_values(factors, case))]
    chosen, missing = set(), {pair for case in places for pair in _pairs(case)}
    while missing:
        best = max(places, key=lambda case: len(missing.intersection(_pairs(case))))
        chosen.add(best)
        missing.difference_update(_pairs(best))
    return [
        pytest.param(*case, marks=() if place in chosen else pytest.mark.slow)
        for case, place in zip(cases, places, strict=True)
    ]


def _places(factors: Sequence[Sequence]) -> Iterator[tuple[int, ...]]:
    return product(*(range(len(factor)) for factor in factors))


def _values(factors: Sequence[Sequence], case: tuple[int, ...]) -> tuple:
    return tuple(factor[place] for factor, place in zip(factors, case, strict=True))


def _pairs(case: tuple[int, ...]) -> list:
    return list(combinations(enumerate(case), 2))
