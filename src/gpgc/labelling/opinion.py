"""What the model says on every node, in two bytes each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers

SURE = 0.9
"""Probability from which on the 90 % set of a node holds one class."""

NOTHING = np.iinfo(np.uint8).max
"""Code of a node on which there is no opinion."""


def strongest(probability: Array) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the most probable class of each row, and its probability in 254ths."""
    certainty = np.rint(probability.max(axis=1) * (NOTHING - 1))
    return probability.argmax(axis=1).astype(np.uint8), certainty.astype(np.uint8)


def recode(
    codes: NDArray[np.uint8], old: tuple[Any, ...], new: tuple[Any, ...]
) -> NDArray[np.uint8]:
    """Return codes of classes in another order; those of classes that are gone say nothing."""
    table = np.full(NOTHING + 1, NOTHING, dtype=np.uint8)
    table[: len(old)] = [new.index(name) if name in new else NOTHING for name in old]
    return np.asarray(table[codes])


@dataclass(frozen=True, eq=False)
class Opinion:
    """What the model says after some labels; never changed once it is published."""

    revision: int
    n_labels: int
    classes: tuple[Any, ...]
    codes: NDArray[np.uint8]
    certainty: NDArray[np.uint8]
    nodes: Integers | None
    probability: Array
    n_changed: int = 0
    explained: float = 0.0
    n_pictured: int = 0

    def of(self, node: int) -> tuple[Any, float] | None:
        """Return the most probable class of a node and its probability, if it is known."""
        code = int(self.codes[node])
        if code == NOTHING or not len(self.classes):
            return None
        return self.classes[code], float(self.certainty[node]) / (NOTHING - 1)

    def rest(self, labelled: Iterable[int]) -> Array:
        """Return the largest probabilities of nodes without a label, as far as they are kept."""
        largest = self.probability.max(axis=1) if self.probability.size else np.empty(0)
        known = np.fromiter(labelled, dtype=np.intp)
        if not len(largest):
            return largest
        if self.nodes is None:
            return np.asarray(np.delete(largest, known))
        return np.asarray(largest[~np.isin(self.nodes, known)])
