"""The posterior in weight space: r × r for a covariance of rank r, for any number of labels."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.linalg import cholesky, eigh

from gpgc._typing import Array, Index, Integers
from gpgc.compute import small_matrices
from gpgc.errors import InputError
from gpgc.gp.factor import Cholesky, Factor, Inverse, NoisePath, times_each
from gpgc.gp.posterior import Posterior
from gpgc.kernels import Covariance

RootFunction: TypeAlias = Callable[[Array], Array]

TILE_BYTES = 2**27
"""Size of the labelled rows of the root that are multiplied at once."""

LEAST_ROWS = 256
"""Labelled rows that are multiplied at once however small the memory limit is."""

ROW_BYTES = 24
"""What the rows of a root, and what is solved of them, take beside each entry, in bytes."""

WHITENED_BYTES = 8
"""What L⁻¹Φᵀ in float64 takes beside each entry of Φ."""


@dataclass(frozen=True, eq=False)
class LabelledRoot:
    """Φ̃ᵀΦ̃ (r, r) and Φ̃ᵀỸ (r, k): labelled rows of the root and targets, over √relative noise."""

    covariance: Covariance
    labelled: Integers
    targets: Array
    relative_noise: Array
    gram: Array
    moments: Array
    squares: Array  # ỹᵀỹ (k,)
    scale: float  # the mean prior variance of the labelled nodes, or 1 if that is 0

    @classmethod
    def of(
        cls,
        covariance: Covariance,
        labelled: Integers,
        targets: Array,
        relative_noise: Array | None = None,
    ) -> LabelledRoot:
        """Sum up over tiles of labelled nodes in float64."""
        known = np.asarray(targets, dtype=np.float64)
        relative = np.ones(len(labelled)) if relative_noise is None else relative_noise
        empty = np.empty((0, 0))
        root = cls(covariance, labelled, known, relative, empty, empty, empty, 1.0)
        rank, context = root.rank, covariance.context
        context.require(2 * rank**2 * 8, f"the {rank:,} × {rank:,} matrices of the weights")
        weighted = known / np.sqrt(relative)[:, None]
        size = max(LEAST_ROWS, context.budget(TILE_BYTES) // max(1, rank * 8))
        gram, moments, total = covariance.sum_root(labelled, label_sums, (relative, weighted), size)
        squares = np.einsum("ij,ij->j", weighted, weighted)
        scale = float(total / max(1, len(labelled))) or 1.0
        return replace(root, gram=gram, moments=moments, squares=squares, scale=scale)

    def of_targets(self, columns: Any) -> LabelledRoot:
        """Return the same root with some columns of the targets."""
        return replace(
            self,
            targets=self.targets[:, columns],
            moments=self.moments[:, columns],
            squares=self.squares[columns],
        )

    def without_gram(self) -> LabelledRoot:
        """Return the same without Φ̃ᵀΦ̃, which nobody asks for once it is inverted."""
        return replace(self, gram=np.empty((0, 0)))

    @property
    def rank(self) -> int:
        """The number r of columns."""
        return self.covariance.rank or 0


def weighed_rows(rows: Array, relative_noise: Array) -> Array:
    """Return rows of Φ̃ in float64 from those of Φ."""
    own = rows.astype(np.float64)
    own /= np.sqrt(relative_noise)[:, None]
    return own


def label_sums(rows: Array, relative_noise: Array, weighted: Array) -> tuple[Array, Array, Array]:
    """Return what some labelled nodes add to Φ̃ᵀΦ̃ and Φ̃ᵀỸ, and the sum of their variances."""
    own = weighed_rows(rows, relative_noise)
    variances = relative_noise @ np.einsum("ij,ij->i", own, own)
    return own.T @ own, own.T @ weighted, np.asarray(variances)


def fitted_rows(
    weights: Array, inverse: Inverse, rows: Array, relative_noise: Array
) -> tuple[Array, Array]:
    """Return means (..., n, k) of labelled nodes, over √relative noise, and leverages (..., n)."""
    own = weighed_rows(rows, relative_noise)
    return times_each(own, weights), inverse.quadratic(own)


@dataclass(frozen=True, eq=False)
class RootFactor(Factor):
    """Of K = ΦΦᵀ + σ²R by A = Φ̃ᵀΦ̃ + σ²I, with means m and leverages h_i = φ̃_iᵀA⁻¹φ̃_i.

    K⁻¹y = (y − m) / σ²r and diag K⁻¹ = (1 − h) / σ²r, so that y − (y − m) / (1 − h) is left out.
    """

    root: LabelledRoot
    noise: Array
    inverse: Inverse

    @classmethod
    def of(cls, root: LabelledRoot, noise_variance: float) -> RootFactor:
        """Return the factor at one level, by the Cholesky factor of A."""
        if not (np.isfinite(noise_variance) and noise_variance > 0):
            raise InputError(
                f"noise_variance must be finite and above 0 in weight space, got {noise_variance!r}"
            )
        with small_matrices(root.rank):
            matrix = root.gram.copy()
            matrix[np.diag_indices_from(matrix)] += noise_variance
            lower = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        return cls(root.without_gram(), np.asarray(noise_variance), Cholesky(lower))

    @property
    def targets(self) -> Array:  # type: ignore[override]
        """Y (D, k)."""
        return self.root.targets

    @cached_property
    def weights(self) -> Array:
        """E[w] (..., r, k)."""
        return self.inverse.solve(self.root.moments)

    def solved(self, among: Integers | None = None) -> tuple[Array, Array]:
        """Return (y − m) / (σ² r) and (1 − h) / (σ² r), some labels at a time."""
        root, weights = self.root, self.weights
        chosen = np.arange(len(root.labelled)) if among is None else among
        relative, labelled = root.relative_noise[chosen], root.labelled[chosen]
        row_bytes = root.rank * (root.covariance.dtype.itemsize + ROW_BYTES)
        fitted = partial(fitted_rows, weights, self.inverse)
        found = root.covariance.map_root(labelled, fitted, (relative,), row_bytes)
        mean = np.concatenate([means for means, _ in found], axis=-2)
        leverage = np.concatenate([leverages for _, leverages in found], axis=-1)
        noise = self.noise[..., None] * relative
        left = np.maximum(1 - leverage, np.finfo(np.float64).eps)
        residual = root.targets[chosen] - mean * np.sqrt(relative)[:, None]
        return residual / noise[..., None], left / noise

    def fit_and_volume(self) -> tuple[Array, Array]:
        """Return Σ (ỹᵀỹ − E[w]ᵀΦ̃ᵀỹ) / σ² and (D − r) log σ² + log det A + Σ log r_i."""
        explained = (self.root.moments * self.weights).sum(axis=(-2, -1))
        volume = (len(self.root.labelled) - self.root.rank) * np.log(self.noise)
        volume += np.log(self.root.relative_noise).sum() + self.inverse.log_determinant()
        return np.asarray((self.root.squares.sum() - explained) / self.noise), volume


class WeightPath(NoisePath):
    """A = Q (Λ + σ²I) Qᵀ of :class:`RootFactor` at any σ², with Φ̃ᵀΦ̃ = Q Λ Qᵀ: O(D r) a level."""

    def __init__(self, root: LabelledRoot) -> None:
        self.scale, self.targets = root.scale, root.targets
        self.relative_noise = root.relative_noise
        with small_matrices(root.rank):
            values, self._vectors = eigh(root.gram, driver="evd", check_finite=False)
        self._values, self._scaling = np.maximum(values, 0.0), np.ones(len(values))
        self._unit = self._shift = self._floor = 0.0
        self.rounding = float(np.finfo(np.float64).eps * self._values.max(initial=0.0))
        self._root = root.without_gram()

    def of_targets(self, columns: Any) -> Self:
        """Return the path of some columns of the targets, with the same eigendecomposition."""
        other = super().of_targets(columns)
        other._root = self._root.of_targets(columns)
        return other

    def at(self, noise: float | Array) -> RootFactor:
        """Return the factor of noise levels."""
        return RootFactor(self._root, np.asarray(noise, dtype=np.float64), self.inverse(noise))


class WeightSpace(Posterior):
    """f = Φw with Γ = ΦΦᵀ: E[w] = A⁻¹Φ̃ᵀỸ, cov[w] = σ²A⁻¹ (Rasmussen and Williams, section 2.1)."""

    space = "weight"
    factor: RootFactor

    def __init__(self, root: LabelledRoot, noise_variance: float) -> None:
        self.covariance, self.labelled, self.targets = root.covariance, root.labelled, root.targets
        self.noise_variance = float(noise_variance)
        self.factor = RootFactor.of(root, self.noise_variance)

    def mean(self, rows: Index = None) -> Array:
        """Return Φ[rows] E[w]."""
        return np.asarray(self.covariance.root_times(rows, self.factor.weights), dtype=np.float64)

    def variance(self, rows: Index = None) -> Array:
        """Return σ² φᵀA⁻¹φ for each row φ of Φ."""
        inverse = self.factor.inverse
        return self.noise_variance * self._over_roots(rows, inverse.quadratic, (), WHITENED_BYTES)

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return σ² Φ[rows] A⁻¹ Φ[rows]ᵀ."""
        white = self.factor.inverse.whiten(self.covariance.root(rows))
        return np.asarray(self.noise_variance * (white.T @ white))

    def influence(self, rows: Index = None) -> Array:
        """Return S = Φ[rows] A⁻¹ Φ_Dᵀ R⁻¹, with R the relative noise of the labels."""
        solved = self.factor.inverse.solve(self.covariance.root(rows).astype(np.float64).T)
        found = self._over_roots(self.labelled, lambda root: root @ solved, solved.shape[1:])
        return np.asarray(found.T / self.factor.root.relative_noise)

    def elsewhere(self, covariance: Covariance, labelled: Integers) -> Self:
        """Return the same weights in a covariance whose root has the same columns."""
        other = copy(self)
        other.covariance, other.labelled = covariance, labelled
        root = replace(self.factor.root, covariance=covariance, labelled=labelled)
        other.factor = replace(self.factor, root=root)
        return other

    def _over_roots(
        self, rows: Index, answer: RootFunction, shape: tuple[int, ...], scratch: int = 0
    ) -> Array:
        """Return answer(Φ[tile]) for tiles of rows; ``scratch`` bytes are held for each entry."""
        covariance, chosen = self.covariance, self.covariance.indices(rows)
        out = np.empty((len(chosen), *shape))
        row_bytes = self.factor.root.rank * (covariance.dtype.itemsize + scratch)
        covariance.context.fill(out, lambda part: answer(covariance.root(chosen[part])), row_bytes)
        return out
