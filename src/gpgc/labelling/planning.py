"""What the labels of nodes would be worth before they are known, and which are taken next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.kernels import Center, Covariance
from gpgc.labelling.growing import GrowingPosterior

LABEL_NOISE = 0.05
"""Noise of a label, relative to the mean variance of the nodes."""

ROUNDING = 10_000
"""Rounding errors of the variance before centering that count as variance, so that nodes that
hardly differ have gains near 0 and not those of their rounding."""

EXACT_NODES = 4000
"""Number of nodes up to which gains are summed over all of them."""

N_WITNESSES = 1000
"""Nodes that stand for all others, drawn with a seed: those of larger graphs over which gains are
summed, and those of which probabilities are computed many times."""

MAX_CANDIDATES = 20_000
"""Candidates that are looked at; of more, a seeded sample."""

CACHED_ROWS = 16
"""Rows of the residual covariance that are worked on at once."""


class Plan:
    r"""The covariance R that remains among nodes once chosen ones are labelled.

    R begins as the centered covariance of the nodes, since what all nodes share moves no decision.
    It is kept between witnesses, over which gains are summed, and candidates; a label takes
    :math:`r r^\top / (R_{jj} + s^2)` away, with r the column of its node j and s² its noise. From
    no label at all, taking the best candidate again and again is a pivoted factorisation of the
    covariance by columns.
    """

    def __init__(self, covariance: Covariance, candidates: Integers, seed: int = 0) -> None:
        n_nodes, rng = covariance.n_nodes, np.random.default_rng(seed)
        self.candidates = _sample(candidates, MAX_CANDIDATES, rng)
        everyone = np.arange(n_nodes)
        self.sample = _sample(everyone, N_WITNESSES, rng)
        self.witnesses = everyone if n_nodes <= EXACT_NODES else self.sample
        centered = Center(covariance, None if n_nodes <= EXACT_NODES else self.witnesses)
        mean_variance = float(np.mean(centered.diag(), dtype=np.float64))
        self.nodes = np.union1d(np.union1d(self.witnesses, self.candidates), self.sample)
        usual = float(np.mean(covariance.diag(self.witnesses), dtype=np.float64))
        rounding = ROUNDING * float(np.finfo(covariance.dtype).eps) * usual
        noise = LABEL_NOISE * (max(mean_variance, rounding) or 1.0)
        self._posterior = GrowingPosterior(centered, noise, nodes=self.nodes)
        self._at_witnesses = self._posterior.index(self.witnesses)
        self._at_candidates = self._posterior.index(self.candidates)
        self._residual = centered.block(self.witnesses, self.candidates)

    @property
    def noise_variance(self) -> float:
        """The noise s² of a label."""
        return self._posterior.noise_variance

    @property
    def variance(self) -> Array:
        """The variance R_jj that remains at each candidate."""
        return np.asarray(self._posterior.variance[self._at_candidates])

    def observe(self, nodes: Any) -> None:
        """Condition on labels of nodes, whatever they will be."""
        before = len(self._posterior.observed)
        self._posterior.observe(nodes)
        self._lower(self._posterior.rows(before))

    def remove(self, nodes: Any) -> None:
        """Forget that nodes are labelled."""
        gone = set(np.asarray(nodes, dtype=np.intp).tolist())
        observed = self._posterior.observed
        first = next((i for i, node in enumerate(observed) if node in gone), len(observed))
        before = self._posterior.rows(first).copy()
        self._posterior.remove(nodes)
        self._lower(before, -1)
        self._lower(self._posterior.rows(first))

    def _lower(self, rows: Array, sign: int = 1) -> None:
        """Take fᵀf of the rows f away from what is kept of R."""
        falls = rows.astype(self._residual.dtype)
        left, right = sign * falls[:, self._at_witnesses].T, falls[:, self._at_candidates]
        for part in _parts(len(left)):
            self._residual[part] -= left[part] @ right

    def gains(self, weights: Array) -> Array:
        r"""Return by how much a label of each candidate j lowers the weighted total variance.

        .. math:: w_j \sum_i w_i R_{ij}^2 / (R_{jj} + s^2)
        """
        total = np.zeros(len(self.candidates))
        witnesses = weights[self.witnesses].astype(self._residual.dtype)
        for part in _parts(len(witnesses)):
            total += witnesses[part] @ self._residual[part] ** 2
        return np.asarray(weights[self.candidates] * total / (self.variance + self.noise_variance))

    def copy(self) -> Self:
        """Return a plan that may go on by itself."""
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {
            "_posterior": self._posterior.copy(),
            "_residual": self._residual.copy(),
        }
        return other


def _parts(n_rows: int) -> Iterator[slice]:
    """Give the rows in parts that stay in cache."""
    return (slice(start, start + CACHED_ROWS) for start in range(0, n_rows, CACHED_ROWS))


def _sample(nodes: Integers, at_most: int, rng: np.random.Generator) -> Integers:
    if len(nodes) <= at_most:
        return nodes
    return np.sort(rng.choice(nodes, at_most, replace=False))


Strategy = Literal["weighted", "variance"]

LABELS_PER_CLASS = 4
"""Labels for each class seen from which on probabilities are trusted to weigh nodes."""


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


def doubt(probability: Array) -> Array:
    """Return how undecided each row of probabilities is, 1 − Σ p²."""
    return np.asarray(1 - np.einsum("ic,ic->i", probability, probability))


def pick(
    n: int,
    plan: Plan,
    is_free: NDArray[np.bool_],
    weights: Array,
    costs: Array,
) -> Suggestions:
    """Take the best candidate again and again, each given those before it."""
    here, free = plan.candidates, is_free.copy()
    nodes: list[int] = []
    gains: list[float] = []
    for _ in range(min(n, int(free.sum()))):
        if nodes:
            plan.observe(nodes[-1:])
        gain = np.where(free, plan.gains(weights) / costs[here], -np.inf)
        best = int(np.argmax(gain))
        free[best] = False
        nodes.append(int(here[best]))
        gains.append(float(gain[best]))
    return Suggestions(np.array(nodes, dtype=np.intp), np.array(gains))
