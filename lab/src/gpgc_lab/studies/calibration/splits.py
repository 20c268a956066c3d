"""Splits of a data set, and what is built once for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gpgc.datasets import Dataset
from gpgc.estimators import GPGCClassifier
from gpgc.graph import normalize
from gpgc_lab.array_types import Integers
from gpgc_lab.datasets import random_split

N_HELD_OUT = 500
"""Validation labels of a random split, as of the public one."""


@dataclass(frozen=True)
class Split:
    """Which labels are learnt from, and which are held out to calibrate.

    Parameters
    ----------
    name : str or int
        ``"public"``, or the seed of a random split of 20 labels a class.
    train, validation : int arrays
        The nodes.
    left_out : int
        The class that goes without labels when novel nodes are looked for.
    """

    name: str | int
    train: Integers
    validation: Integers
    left_out: int

    @property
    def is_public(self) -> bool:
        """Whether it is the public split."""
        return self.name == "public"

    @property
    def seed(self) -> int:
        """Of what else is random on this split."""
        return 0 if isinstance(self.name, str) else self.name


def splits_of(data: Dataset, n_random: int, first_seed: int) -> list[Split]:
    """Return the public split and random ones, which leave out each class in turn."""
    splits = [Split("public", data.train, data.validation, left_out=0)]
    for seed in range(first_seed, first_seed + n_random):
        train, validation, _ = random_split(data.labels, 20, N_HELD_OUT, 0, seed)
        splits.append(Split(seed, train, validation, left_out=len(splits) % len(data.classes)))
    return splits


@dataclass
class Bench:
    """A data set, with what is built once for all splits."""

    data: Dataset

    @cached_property
    def process(self) -> GPGCClassifier:
        """Our classifier on the graph."""
        estimator = GPGCClassifier()
        return estimator.fit(self.data.features, self.only(self.data.train), self.data.adjacency)

    @cached_property
    def smooth(self) -> Any:
        """The features Â²X."""
        assert self.data.adjacency is not None
        step = normalize(self.data.adjacency, "symmetric")
        return step @ (step @ self.data.features)

    @cached_property
    def known(self) -> Integers:
        """The nodes whose class is known."""
        return np.flatnonzero(self.data.labels >= 0)

    def only(self, nodes: Integers) -> Integers:
        """Return the labels of some nodes, −1 elsewhere."""
        labels = np.full(len(self.data.labels), -1)
        labels[nodes] = self.data.labels[nodes]
        return labels

    def others(self, *nodes: Integers) -> Integers:
        """Return the nodes of known class beside these."""
        return np.setdiff1d(self.known, np.concatenate(nodes))
