"""What the labels of nodes would be worth, before they are known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.kernels import Centre, Covariance
from gpgc.labelling.growing import Growing, GrowingPosterior
from gpgc.probability.softmax import softmax

LABEL_NOISE = 0.05
"""Noise of a label, relative to the mean variance of the nodes."""

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

    R begins as the centred covariance of the nodes, since what all nodes share moves no decision.
    It is kept between witnesses, over which gains are summed, and candidates; a label takes
    :math:`r r^\top / (R_{jj} + s^2)` away, with r the column of its node j and s² its noise. From
    no label at all, taking the best candidate again and again is a pivoted factorisation of the
    covariance by columns.

    Parameters
    ----------
    covariance : Covariance
        Of all N nodes, before any label.
    candidates : int array
        Nodes that may be labelled.
    seed : int
        Of the witnesses of large graphs, and of the candidates where there are very many.

    Attributes
    ----------
    candidates, witnesses : int arrays
        Nodes whose gains are known, and those over which they are summed.
    sample : int array
        Nodes drawn with a seed, few enough to compute with their probabilities many times.
    nodes : int array
        All of these, sorted.
    """

    def __init__(self, covariance: Covariance, candidates: Integers, seed: int = 0) -> None:
        n_nodes, rng = covariance.n_nodes, np.random.default_rng(seed)
        self.candidates = _sample(candidates, MAX_CANDIDATES, rng)
        everyone = np.arange(n_nodes)
        self.sample = _sample(everyone, N_WITNESSES, rng)
        self.witnesses = everyone if n_nodes <= EXACT_NODES else self.sample
        centred = Centre(covariance, None if n_nodes <= EXACT_NODES else self.witnesses)
        mean_variance = float(np.mean(centred.diag(), dtype=np.float64))
        self.nodes = np.union1d(np.union1d(self.witnesses, self.candidates), self.sample)
        noise = LABEL_NOISE * (mean_variance or 1.0)
        self._posterior = GrowingPosterior(centred, noise, nodes=self.nodes)
        self._at_witnesses = self._posterior.index(self.witnesses)
        self._at_candidates = self._posterior.index(self.candidates)
        self._residual = centred.block(self.witnesses, self.candidates)

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

        Parameters
        ----------
        weights : array of shape (N,)
            w, what each node counts.

        Returns
        -------
        array of shape (n_candidates,)
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


def error_reduction(
    posterior: Growing, temperature: float, nodes: Integers, witnesses: Integers
) -> Array:
    r"""Return by how much a label of each node is expected to lower the share of wrong labels.

    With p = softmax(t · mean), the expected share of wrong labels is the mean of 1 − max p over
    the witnesses i. If node j turns out to be of class c, which has probability p_jc, the means
    move by :math:`R_{ij} (e_c - m_j) / (R_{jj} + \sigma^2)`, so that nothing is refitted.

    Parameters
    ----------
    posterior : Growing
        Of 0/1 labels.
    temperature : float
        t.
    nodes, witnesses : int arrays
        Which labels, and the nodes over which errors are counted.

    Returns
    -------
    array of shape (n_nodes,)
        Positive where the label is expected to help.
    """
    at_nodes = posterior.index(nodes)
    by_class = np.ascontiguousarray(posterior.mean[posterior.index(witnesses)].T)
    chances = softmax(temperature * posterior.mean[at_nodes])
    outcomes = np.eye(len(by_class))
    before = _expected_error(temperature * by_class)
    columns = posterior.residual(witnesses, nodes).T
    falls = np.empty(len(nodes))
    for place, (node, column) in enumerate(zip(at_nodes, columns, strict=True)):
        step = column / (posterior.variance[node] + posterior.noise_variance)
        surprises = outcomes - posterior.mean[node]
        after = [_expected_error(temperature * (by_class + np.outer(s, step))) for s in surprises]
        falls[place] = before - chances[place] @ after
    return falls


def _expected_error(logits: Array) -> float:
    """Return the mean over columns of 1 − the largest probability of their softmax."""
    weights = np.exp(logits - logits.max(axis=0))
    return float(1 - np.mean(1 / weights.sum(axis=0)))


def _parts(n_rows: int) -> Iterator[slice]:
    """Give the rows in parts that stay in cache."""
    return (slice(start, start + CACHED_ROWS) for start in range(0, n_rows, CACHED_ROWS))


def _sample(nodes: Integers, at_most: int, rng: np.random.Generator) -> Integers:
    if len(nodes) <= at_most:
        return nodes
    return np.sort(rng.choice(nodes, at_most, replace=False))
