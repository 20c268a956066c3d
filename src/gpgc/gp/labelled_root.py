"""The rows of a covariance's root at the labelled nodes, and what is summed over them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.kernels import Covariance

TILE_BYTES = 2**27
"""Size of the labelled rows of the root that are multiplied at once."""

LEAST_ROWS = 256
"""Labelled rows that are multiplied at once however small the memory limit is."""


class LabelledRoot:
    r"""Φ̃ᵀΦ̃ and Φ̃ᵀỸ, summed over tiles of labelled nodes in float64.

    :math:`\tilde\Phi` and :math:`\tilde Y` are the labelled rows of the root Φ, Γ = ΦΦᵀ, and the
    targets, each divided by the square root of its relative noise.

    Parameters
    ----------
    covariance : Covariance
        Γ, with a ``rank``.
    labelled : int array of shape (D,)
        The labelled nodes.
    targets : array of shape (D, k)
        Y.
    relative_noise : array of shape (D,), optional
        The noise of each label over σ²; 1 when not given.

    Attributes
    ----------
    gram : array of shape (r, r)
        Φ̃ᵀΦ̃.
    moments : array of shape (r, k)
        Φ̃ᵀỸ.
    squares : array of shape (k,)
        The sums of the squares of Ỹ.
    scale : float
        The mean prior variance of the labelled nodes, or 1 if that is 0.

    Examples
    --------
    >>> from gpgc.kernels import Features, InnerProduct
    >>> covariance = Features.of(InnerProduct(), np.array([[1.0], [2.0], [3.0]]))
    >>> root = LabelledRoot(covariance, np.array([0, 1]), np.array([[1.0], [2.0]]))
    >>> root.gram, root.moments
    (array([[5.]]), array([[5.]]))
    """

    relative_noise: Array
    gram: Array
    moments: Array
    squares: Array
    scale: float

    def __init__(
        self,
        covariance: Covariance,
        labelled: Integers,
        targets: Array,
        relative_noise: Array | None = None,
    ) -> None:
        self.covariance, self.labelled = covariance, np.asarray(labelled, dtype=np.intp)
        self.targets = np.asarray(targets, dtype=np.float64)
        ones = np.ones(len(self.labelled))
        self.relative_noise = (
            ones if relative_noise is None else np.asarray(relative_noise, np.float64)
        )
        self._sum_up()

    def _sum_up(self) -> None:
        rank = self.covariance.rank or 0
        self.covariance.context.require(
            2 * rank**2 * 8, f"the {rank:,} × {rank:,} matrices of the weights"
        )
        targets = self.targets / np.sqrt(self.relative_noise)[:, None]
        self.gram, self.moments = np.zeros((rank, rank)), np.zeros((rank, targets.shape[1]))
        self.squares = np.einsum("ij,ij->j", targets, targets)
        total = 0.0
        for part, rows in self.tiles():
            self.gram += rows.T @ rows
            self.moments += rows.T @ targets[part]
            total += float(self.relative_noise[part] @ np.einsum("ij,ij->i", rows, rows))
        self.scale = total / max(1, len(self.labelled)) or 1.0

    @classmethod
    def summed(
        cls,
        covariance: Covariance,
        labelled: Integers,
        targets: Array,
        relative_noise: Array,
        gram: Array,
        moments: Array,
        scale: float,
    ) -> LabelledRoot:
        """Return the same from sums that were added up elsewhere, such as on a cluster.

        Parameters
        ----------
        covariance : Covariance
            Of all labelled nodes, or of those alone that are left out in turn.
        labelled, targets, relative_noise, gram, moments, scale
            As in the class.
        """
        known = object.__new__(cls)
        known.covariance, known.labelled = covariance, np.asarray(labelled, dtype=np.intp)
        known.targets, known.relative_noise = np.asarray(targets, np.float64), relative_noise
        scaled = known.targets / np.sqrt(relative_noise)[:, None]
        known.squares = np.einsum("ij,ij->j", scaled, scaled)
        known.gram, known.moments, known.scale = gram, moments, scale
        return known

    def tiles(self, among: Integers | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield slices of the labels, or of some of them, with their rows of Φ̃ in float64."""
        chosen = np.arange(len(self.labelled)) if among is None else among
        row_bytes = max(1, (self.covariance.rank or 0) * 8)
        size = max(LEAST_ROWS, self.covariance.context.budget(TILE_BYTES) // row_bytes)
        for start in range(0, len(chosen), size):
            part = slice(start, start + size)
            index = chosen[part]
            rows = self.covariance.root(self.labelled[index]).astype(np.float64)
            rows /= np.sqrt(self.relative_noise[index])[:, None]
            yield part, rows

    def at_labels(self, part: slice, covariance: Covariance, labelled: Integers) -> LabelledRoot:
        """Return the rows of some of the labels, beside the sums over all of them."""
        other = copy(self)
        other.covariance, other.labelled = covariance, np.asarray(labelled, dtype=np.intp)
        other.targets, other.relative_noise = self.targets[part], self.relative_noise[part]
        return other

    def of_targets(self, which: Any) -> LabelledRoot:
        """Return the same root with some columns of the targets."""
        other = copy(self)
        other.targets, other.moments = self.targets[:, which], self.moments[:, which]
        other.squares = self.squares[which]
        return other

    @property
    def rank(self) -> int:
        """The number r of columns."""
        return len(self.gram)
