"""Choosing a network for images, on training and validation labels alone.

A network has learnt the training images' labels, so their features look better than those of other
images, and leaving a training image out flatters every model. Validation images are like the test
images: noise and model are chosen by them, and once they are learnt from as well, by leaving each
of *them* out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc.estimators import GPGCClassifier
from gpgc.estimators.inputs import FeatureNorm
from gpgc.gp import NoisePath
from gpgc.kernels import BaseKernel, Covariance, InnerProduct, SquaredExponential
from gpgc.probability.softmax import cross_entropies
from gpgc.probability.temperature import fit_temperature
from gpgc_lab.array_types import Array, Integers

KERNELS: tuple[BaseKernel, ...] = (InnerProduct(), SquaredExponential(1.0))
FEATURE_NORMS: tuple[FeatureNorm, ...] = ("none", "l2")
RELATIVE_NOISE = np.logspace(-5, 1, 61)


LOSS_WEIGHT = 0.1
"""What cross-entropy counts against accuracy: a thousand images leave many levels equally right."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A covariance of all images, and its block of those whose labels may be seen.

    Attributes
    ----------
    model : {"small", "big"}
        Which network.
    settings : str
        The rest, in words.
    covariance : Covariance
        Of all N images.
    seen : int array of shape (n,)
        Training and validation images, sorted.
    gamma : array of shape (n, n)
        Their covariance.
    """

    model: str
    settings: str
    covariance: Covariance
    seen: Integers
    gamma: Array

    def block(self, rows: Integers, columns: Integers) -> Array:
        """Return the covariance between seen images."""
        places = (np.searchsorted(self.seen, nodes) for nodes in (rows, columns))
        return np.asarray(self.gamma[np.ix_(*places)], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Choice:
    """A candidate with its noise σ_τ², and how it did on the validation images."""

    candidate: Candidate
    noise: float
    accuracy: float
    loss: float

    def predict(self, labels: Integers, learnt: Integers, nodes: Integers) -> Integers:
        """Return the class of the largest mean (the paper's rule) given the learnt labels."""
        candidate = self.candidate
        path = NoisePath(candidate.block(learnt, learnt), _one_hot(labels, learnt))
        weights = path.inverse(self.noise).solve(path.targets)
        mean = candidate.covariance.matmul(nodes, learnt, weights)
        return np.asarray(mean.argmax(axis=1))

    @property
    def cost(self) -> float:
        """What the best choice has least of: errors and a little cross-entropy."""
        return 1 - self.accuracy + LOSS_WEIGHT * self.loss


def candidates(
    features: Array, graph: sp.csr_array, seen: Integers, models: Sequence[str]
) -> Iterator[Candidate]:
    """Give every covariance that is tried on a graph of images."""
    seen = np.sort(seen)
    for model in models:
        for kernel, norm in product(KERNELS, FEATURE_NORMS):
            estimator = GPGCClassifier(model, base_kernel=kernel, feature_norm=norm)
            prior = estimator.make_prior(features, graph, graph.shape[0])
            covariance = prior.covariance()
            words = f"{kernel}, {norm}"
            yield Candidate(model, words, covariance, seen, covariance.block(seen, seen))


def choose(
    tried: Iterable[Candidate],
    labels: Integers,
    train: Integers,
    validation: Integers,
) -> Choice:
    """Return the candidate and noise that, given the training labels, do best on validation."""
    found = (_score(one, labels, train, validation) for one in tried)
    return min(found, key=lambda choice: choice.cost)


def learn_from_validation(
    choice: Choice, labels: Integers, train: Integers, validation: Integers
) -> Choice:
    """Choose the noise again for all labels, leaving each validation image out."""
    every = np.concatenate([train, validation])
    path = NoisePath(choice.candidate.block(every, every), _one_hot(labels, every))
    grid = RELATIVE_NOISE * path.scale
    left_out = path.at(grid).leave_one_out().mean[:, len(train) :]
    return _best_level(choice.candidate, grid, left_out, _one_hot(labels, validation))


def _score(
    candidate: Candidate,
    labels: Integers,
    train: Integers,
    validation: Integers,
) -> Choice:
    path = NoisePath(candidate.block(train, train), _one_hot(labels, train))
    grid = RELATIVE_NOISE * path.scale
    scores = candidate.block(validation, train) @ path.inverse(grid).solve(path.targets)
    return _best_level(candidate, grid, scores, _one_hot(labels, validation))


def _best_level(candidate: Candidate, grid: Array, scores: Array, truth: Array) -> Choice:
    """Return the best of noise levels by the scores (n_levels, n, k) of held-out images."""
    right = (scores.argmax(axis=2) == truth.argmax(axis=1)).mean(axis=1)
    loss = cross_entropies(scores, truth, fit_temperature(scores, truth)).mean(axis=1)
    levels = (
        Choice(candidate, *map(float, level)) for level in zip(grid, right, loss, strict=True)
    )
    return min(levels, key=lambda level: level.cost)


def _one_hot(labels: Integers, nodes: Any) -> Array:
    targets: Array = np.eye(int(labels.max()) + 1)[labels[nodes]]
    return targets
