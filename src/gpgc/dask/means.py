"""Latent means of all blocks: what probabilities are calibrated on, by sums over blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.probability.calibration import probabilities_of
from gpgc.probability.decision import Decision
from gpgc.probability.score_curve import ScoreCurve
from gpgc.probability.temperature import SquareSums, square_sums


@dataclass(frozen=True, eq=False)
class BlockMeans:
    """Latent means of the unlabelled nodes that labels reach, on a cluster.

    Parameters
    ----------
    means : sequence of tasks of arrays (n, k)
        Of all nodes, a block each.
    reached : sequence of tasks of bool arrays (n,)
        Which nodes labels reach.
    labelled : sequence of int arrays
        Labelled nodes of each block, counted from its first.
    cluster : Cluster
        Where.
    """

    means: Sequence[Any]
    reached: Sequence[Any]
    labelled: Sequence[Integers]
    cluster: Cluster

    def square_sums(self) -> SquareSums:
        """Return the sums of squares over all unlabelled nodes that labels reach."""
        parts = [task(block_square_sums, *block) for block in self._blocks()]
        found: SquareSums = self.cluster.fetch_one(tree(SquareSums.joined, parts))
        return found

    def mean_probabilities(self, curve: ScoreCurve, offset: Array, chosen: Integers) -> Array:
        """Return the mean of softmax(s(means) + offset) over the chosen classes."""
        parts = [task(block_prediction, *b, curve, offset, chosen) for b in self._blocks()]
        total, n_nodes = self.cluster.fetch_one(tree(_added, parts))
        return np.asarray(total / n_nodes)

    def _blocks(self) -> list[tuple[Any, Any, Integers]]:
        return list(zip(self.means, self.reached, self.labelled, strict=True))


def block_square_sums(means: Array, reached: NDArray[np.bool_], labelled: Integers) -> SquareSums:
    """Return the sums of squares over the unlabelled nodes of a block that labels reach."""
    return square_sums(_speaking(means, reached, labelled))


def block_prediction(
    means: Array,
    reached: NDArray[np.bool_],
    labelled: Integers,
    curve: ScoreCurve,
    offset: Array,
    chosen: Integers,
) -> tuple[Array, int]:
    """Return the sum of the same nodes' probabilities of the chosen classes, and their number."""
    speaking = _speaking(means, reached, labelled)
    return probabilities_of(speaking, curve, offset, chosen).sum(axis=0), len(speaking)


def block_probabilities(means: Array, reached: NDArray[np.bool_], decision: Decision) -> Array:
    """Return class probabilities (n, k)."""
    return decision.probabilities(means.astype(np.float64), reached)


def block_labels(
    means: Array, reached: NDArray[np.bool_], decision: Decision, classes: NDArray[Any]
) -> NDArray[Any]:
    """Return the labels (n,) that are taken."""
    return np.asarray(classes[decision.codes(means.astype(np.float64), reached)])


def _speaking(means: Array, reached: NDArray[np.bool_], labelled: Integers) -> Array:
    chosen = reached.copy()
    chosen[labelled] = False
    return means[chosen].astype(np.float64)


def _added(one: tuple[Array, int], other: tuple[Array, int]) -> tuple[Array, int]:
    return one[0] + other[0], one[1] + other[1]
