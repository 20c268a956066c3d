"""How many labels are given, and which: the divisions of a graph that every system is run on."""

from __future__ import annotations

from dataclasses import dataclass, field
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from gpgc_lab.array_types import Integers
from gpgc_lab.studies.graphs.graph_sources import LabelledGraph

PER_CLASS = {"1 a class": 1, "5 a class": 5, "20 a class": 20}
IN_PROPORTION, MASKS, MANY = "20·C in proportion", "own masks", "half of the nodes"
SHARES = {"10 / 10 / 80": (0.1, 0.1), "50 / 25 / 25": (0.5, 0.25)}
"""Parts of the known nodes that are trained on and validated on, drawn without their classes."""

REGIMES = (*PER_CLASS, IN_PROPORTION, MASKS, MANY, *SHARES)

FIRST_SEED = 1000
"""Of the table; settings are designed on seeds 0 to 99."""

TABLE_MASKS = (0, 1)
"""Masks of the table, those of the published numbers; settings are designed on the others."""


@dataclass(frozen=True, eq=False)
class Division:
    """Training and test nodes, with a name such as ``"seed 1000"`` or ``"mask 0"``.

    Validation nodes are seen only by what says so, and there are none where none are named.
    """

    name: str
    seed: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    validation: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


def divisions(
    graph: LabelledGraph, regime: str, n_seeds: int, design: bool = False
) -> list[Division]:
    """Return the divisions of a graph in a regime; none where it brings no masks.

    Parameters
    ----------
    graph : LabelledGraph
    regime : str
        One of `REGIMES`.
    n_seeds : int
        How many are drawn at random; of the masks, at most as many.
    design : bool, default False
        Whether seeds start at 0 and masks are those that the table leaves out.

    Returns
    -------
    list of Division
        Test nodes are those of the mask, else all others whose class is known.
    """
    if regime == MASKS:
        numbers = [index for index in range(graph.n_masks) if (index in TABLE_MASKS) != design]
        return [Division(f"mask {index}", index, *graph.mask(index)) for index in numbers[:n_seeds]]
    first = 0 if design else FIRST_SEED
    return [_draw(graph, regime, seed) for seed in range(first, first + n_seeds)]


def counts(labels: Integers, n_classes: int, regime: str) -> Integers:
    """Return how many labels of each class (C,) are drawn: one at least, at most half of a class.

    Examples
    --------
    >>> labels = np.repeat([0, 1, 2], [100, 50, 4])
    >>> counts(labels, 3, "5 a class"), counts(labels, 3, "20·C in proportion")
    (array([5, 5, 2]), array([39, 19,  2]))
    """
    sizes = np.bincount(labels[labels >= 0], minlength=n_classes)
    if regime in PER_CLASS:
        wanted = np.full(n_classes, PER_CLASS[regime])
    elif regime == IN_PROPORTION:
        wanted = np.rint(20 * n_classes * sizes / sizes.sum()).astype(np.int64)
    else:
        wanted = sizes
    return np.asarray(np.minimum(sizes, np.clip(wanted, 1, np.maximum(1, sizes // 2))))


def _draw(graph: LabelledGraph, regime: str, seed: int) -> Division:
    rng = np.random.default_rng([seed, crc32(regime.encode()), crc32(graph.name.encode())])
    labels = graph.labels
    if regime in SHARES:
        known = rng.permutation(np.flatnonzero(labels >= 0))
        ends = np.rint(np.cumsum(SHARES[regime]) * len(known)).astype(np.int64)
        train, validation, test = (np.sort(part) for part in np.split(known, ends))
        return Division(f"seed {seed}", seed, train, test, validation)
    wanted = counts(labels, graph.n_classes, regime)
    drawn = [
        rng.choice(np.flatnonzero(labels == code), count, replace=False)
        for code, count in enumerate(wanted)
    ]
    train = np.sort(np.concatenate(drawn))
    test = np.setdiff1d(np.flatnonzero(labels >= 0), train)
    return Division(f"seed {seed}", seed, train, test)
