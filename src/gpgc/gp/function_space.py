"""The posterior in function space: D × D, exact for any covariance."""

from __future__ import annotations

from copy import copy

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.gp.factor import Inverse, LabelFactor
from gpgc.gp.posterior import Posterior
from gpgc.kernels import Covariance

CROSS_BYTES = 2**28
"""Size of the covariances between nodes and labels that are held at once for variances."""

MOST_COLUMNS = 6000
"""Columns up to which a root is worth more than blocks: those of *broad* on small graphs."""

ROOT_BYTES = 2**27
"""Size of the labelled rows of a root that are held at once."""

COPIES = 16
"""What an entry of these rows takes while it is computed and put into float64, in bytes."""


class FunctionSpace(Posterior):
    """Mean Γ_UD K⁻¹Y and covariance Γ_UU − Γ_UD K⁻¹Γ_DU, by the D × D matrix K = Γ_DD + σ_τ²R."""

    space = "function"
    factor: LabelFactor

    def __init__(
        self, covariance: Covariance, labelled: Integers, targets: Array, inverse: Inverse
    ) -> None:
        self.covariance, self.labelled = covariance, labelled
        self.targets = np.asarray(targets, dtype=np.float64)
        if self.targets.ndim != 2 or len(self.targets) != len(labelled):
            raise InputError(
                f"targets must be of shape ({len(labelled)}, k), got {self.targets.shape}"
            )
        self.factor = LabelFactor(self.targets, inverse)

    def mean(self, rows: Index = None) -> Array:
        """Return Γ[rows, D] K⁻¹ Y, by a root of few columns where there is one.

        Weights of labels are many times larger than what is left of their sum: with 2,000 of them
        and a noise of .005, means by blocks in float32 are off by .007, and by the root by .000002.
        """
        weights, parts = self.factor.weights, _root_tiles(self.covariance, self.labelled)
        if parts is None:
            return np.asarray(self.covariance.matmul(rows, self.labelled, weights), np.float64)
        of_columns = np.zeros((self.covariance.rank or 0, weights.shape[1]))
        for part in parts:
            root = self.covariance.root(self.labelled[part]).astype(np.float64)
            of_columns += root.T @ weights[part]
        return np.asarray(self.covariance.root_times(rows, of_columns), np.float64)

    def variance(self, rows: Index = None) -> Array:
        """Return diag(Γ) − ‖W Γ[D, rows]‖² by columns, with K⁻¹ = WᵀW, some nodes at a time."""
        variance = np.asarray(self.covariance.diag(rows), dtype=np.float64).copy()
        row_bytes = max(1, len(self.labelled)) * (self.covariance.dtype.itemsize + 3 * 8)
        size = max(16, self.covariance.context.whole(CROSS_BYTES) // row_bytes)
        chosen = self.covariance.indices(rows)
        for start in range(0, len(variance), size):
            part = slice(start, start + size)
            among = rows if size >= len(variance) else chosen[part]
            cross = self.covariance.block(among, self.labelled)
            variance[part] -= self.factor.inverse.quadratic(cross)
        return np.asarray(np.maximum(variance, 0.0))

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return Λ."""
        n_rows = self.covariance.count(rows)
        size = 8 * 3 * n_rows * (n_rows + len(self.labelled))
        self.covariance.context.require(size, f"the covariance of {n_rows:,} nodes")
        explained = self.factor.inverse.whiten(self.covariance.block(rows, self.labelled))
        prior = np.asarray(self.covariance.block(rows, rows), dtype=np.float64)
        posterior = prior - explained.T @ explained
        return np.asarray(posterior + posterior.T) / 2

    def influence(self, rows: Index = None) -> Array:
        """Return S = Γ[rows, D] K⁻¹."""
        cross = np.asarray(self.covariance.block(rows, self.labelled), dtype=np.float64)
        return self.factor.inverse.solve(cross.T).T

    def elsewhere(self, covariance: Covariance, labelled: Integers) -> FunctionSpace:
        """Return the same observations in a covariance that holds other nodes too."""
        other = copy(self)
        other.covariance, other.labelled = covariance, labelled
        return other


def label_gram(covariance: Covariance, labelled: Integers) -> Array:
    """Return Γ_DD, in float64 from the root where there is one of few columns.

    Nor does the root compute and keep columns of all nodes, as a block may.
    """
    parts = _root_tiles(covariance, labelled)
    if parts is None:
        return covariance.block(labelled, labelled)
    gram = np.empty((len(labelled), len(labelled)))
    for number, part in enumerate(parts):
        rows = covariance.root(labelled[part]).astype(np.float64)
        gram[part, part] = rows @ rows.T
        for other in parts[:number]:
            gram[part, other] = rows @ covariance.root(labelled[other]).astype(np.float64).T
            gram[other, part] = gram[part, other].T
    return gram


def _root_tiles(covariance: Covariance, labelled: Integers) -> list[slice] | None:
    """Return tiles of labelled rows of a root of few columns; None where there is none."""
    if covariance.rank is None or covariance.rank > MOST_COLUMNS:
        return None
    row_bytes = COPIES * max(1, covariance.rank)
    size = max(16, covariance.context.budget(ROOT_BYTES) // row_bytes)
    return [slice(start, start + size) for start in range(0, len(labelled), size)]
