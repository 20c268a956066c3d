"""Latent means of all blocks: what probabilities are calibrated on, by sums over blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.dask.cluster import Cluster, task, tree
from gpgc.probability.class_prior import Reweigh, reweighed_sum
from gpgc.probability.decision import Decision
from gpgc.probability.score_curve import ScoreCurve
from gpgc.probability.softmax import softmax
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

    def reweigh(self, curve: ScoreCurve) -> Reweigh | None:
        """Return ratios of class priors ↦ mean reweighed probabilities; None of no nodes."""
        n_nodes = self.square_sums().n_nodes
        if not n_nodes:
            return None
        kept = self.cluster.keep(task(block_softmax, *b, curve) for b in self._blocks())

        def mean(ratio: Array) -> Array:
            parts = [task(reweighed_sum, probabilities, ratio) for probabilities in kept]
            return np.asarray(self.cluster.fetch_one(tree(np.add, parts)) / n_nodes)

        return mean

    def _blocks(self) -> list[tuple[Any, Any, Integers]]:
        return list(zip(self.means, self.reached, self.labelled, strict=True))


def block_square_sums(means: Array, reached: NDArray[np.bool_], labelled: Integers) -> SquareSums:
    """Return the sums of squares over the unlabelled nodes of a block that labels reach."""
    return square_sums(_speaking(means, reached, labelled))


def block_softmax(
    means: Array, reached: NDArray[np.bool_], labelled: Integers, curve: ScoreCurve
) -> Array:
    """Return the probabilities of the same nodes under the class fractions of the labels."""
    return softmax(curve.scores(_speaking(means, reached, labelled)))


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
