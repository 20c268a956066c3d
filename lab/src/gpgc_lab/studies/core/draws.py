"""Which labels or values are given: the draws of each set and budget."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np

from gpgc_lab.array_types import Integers
from gpgc_lab.studies.core.core_sets import (
    AT_RANDOM,
    HALF,
    IN_PROPORTION,
    OWN_MASKS,
    PER_CLASS,
    PUBLIC,
    VALUES,
    CoreSet,
)
from gpgc_lab.studies.core.open_sets import own_divisions
from gpgc_lab.studies.core.package_sets import OpenedSet
from gpgc_lab.studies.graphs.regimes import counts


class Draw(NamedTuple):
    """A name such as ``"seed 7000"``, and the nodes that are given and judged."""

    name: str
    given: Integers
    judged: Integers


def draws_of(
    core_set: CoreSet,
    opened: OpenedSet,
    budget: str,
    first_seed: int,
    n_draws: int,
    data_dir: Path | None = None,
) -> list[Draw]:
    """Return the draws of a budget; of divisions that come with a graph, as many as there are."""
    if budget in (OWN_MASKS, PUBLIC):
        found = own_divisions(core_set.name, data_dir, budget == PUBLIC)
        first = 0 if budget == PUBLIC else 2
        masks = [Draw(f"mask {first + place}", *nodes) for place, nodes in enumerate(found)]
        return masks if budget == PUBLIC else masks[:n_draws]
    seeds = range(first_seed, first_seed + min(n_draws, core_set.draws))
    return [draw(core_set.name, opened.targets, budget, seed) for seed in seeds]


def draw(name: str, targets: Integers, budget: str, seed: int) -> Draw:
    """Return the nodes given and judged; equal names, budgets and seeds give the same nodes.

    Examples
    --------
    >>> labels = np.repeat([0, 1, -1], [10, 30, 5])
    >>> one = draw("toy", labels, "5 a class", seed=0)
    >>> np.bincount(labels[one.given]).tolist(), len(one.judged)
    ([5, 5], 30)
    """
    rng = np.random.default_rng([seed, crc32(budget.encode()), crc32(name.encode())])
    if budget in VALUES:
        known = np.flatnonzero(~np.isnan(targets))
        n_given = min(VALUES[budget], len(known) // 2)
    else:
        known = np.flatnonzero(targets >= 0)
        n_given = round(AT_RANDOM.get(budget, 0) * len(known))
    if budget in (*PER_CLASS, IN_PROPORTION, HALF):
        n_classes = int(targets.max()) + 1
        wanted = counts(targets, n_classes, budget)
        given = np.concatenate(
            [
                rng.choice(np.flatnonzero(targets == code), count, replace=False)
                for code, count in enumerate(wanted)
            ]
        )
    else:
        given = rng.choice(known, n_given, replace=False)
    given = np.sort(given)
    return Draw(f"seed {seed}", given, np.setdiff1d(known, given))
