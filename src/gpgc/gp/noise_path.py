"""Every noise level at once, from one eigendecomposition."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from scipy.linalg import eigh

from gpgc._typing import Array
from gpgc.compute import small_matrices
from gpgc.gp.factor import SpectralFactor
from gpgc.gp.rounding import MOST_UNITS, checked_gram


class NoisePath:
    """Evidence and leave-one-out predictions along a path of noise levels.

    With R^−½ Γ_DD R^−½ = Q diag(λ) Qᵀ, R the relative noise of the labels, the inverse of
    K = Γ_DD + σ²R is R^−½ Q diag(1 / (λ + σ²)) Qᵀ R^−½, so that a level costs O(D²) once Q is
    known. Negative eigenvalues are rounding; where the noise is not far above it, all are shifted
    up by the rounding of D entries, so that none counts as more certain than it is. As σ_b = 0
    makes δ_W a mere factor δ_W^L of Γ, the same path covers δ_W.

    Parameters
    ----------
    gamma : array of shape (D, D)
        Γ_DD, in the number format in which it was computed.
    targets : array of shape (D, k)
        Y.
    relative_noise : array of shape (D,), optional
        The diagonal of R: the noise of each label over σ²; 1 when not given.

    Attributes
    ----------
    scale : float
        The mean of the diagonal of Γ_DD, or 1 if that is 0: what relative noise refers to.
    rounding : float
        How far rounding has moved the eigenvalues of Γ_DD, of which none should be negative.

    Examples
    --------
    >>> path = NoisePath(np.eye(2), np.array([[1.0], [0.0]]))
    >>> path.weights(np.array([1.0, 3.0]))
    array([[[0.5 ],
            [0.  ]],
           [[0.25],
            [0.  ]]])
    """

    def __init__(self, gamma: Any, targets: Any, relative_noise: Array | None = None) -> None:
        matrix, self.scale, unit = checked_gram(gamma)
        self.targets: Array = np.asarray(targets, dtype=np.float64)
        ones = np.ones(len(matrix))
        self.relative_noise: Array = ones if relative_noise is None else np.asarray(relative_noise)
        root = np.sqrt(self.relative_noise)
        if relative_noise is not None:
            matrix = matrix / np.outer(root, root)
        with small_matrices(len(matrix)):
            self._values, self._vectors = eigh(matrix, driver="evd", check_finite=False)
        self._unit = len(matrix) * unit * self.scale
        lowest = float(self._values.min(initial=0.0))
        self._shift = max(-lowest, self._unit) if lowest < 0 else 0.0
        floor = np.finfo(np.float64).eps * len(matrix) * self.scale
        self.rounding = max(-lowest, floor)
        self._rotated = self._vectors.T @ (self.targets / root[:, None])

    def of_target(self, column: int) -> Self:
        """Return the path of one column of the targets, with the same eigendecomposition."""
        other = copy(self)
        other.targets = self.targets[:, [column]]
        other._rotated = self._rotated[:, [column]]
        return other

    def factor(self, noise_variance: float) -> SpectralFactor:
        """Return K at one noise level, factorised."""
        shrinkage = self._shrinkage(np.array([noise_variance]))[0]
        return SpectralFactor(self._vectors, shrinkage, self.relative_noise)

    def weights(self, noise: Array) -> Array:
        """Return K⁻¹ Y for each level, of shape (n_levels, D, k)."""
        shrunk = self._rotated[None] / self._shrinkage(noise)[:, :, None]
        levels, n, k = shrunk.shape
        side_by_side = shrunk.transpose(1, 0, 2).reshape(n, levels * k)
        side_by_side = self._vectors @ side_by_side / np.sqrt(self.relative_noise)[:, None]
        return np.asarray(side_by_side.reshape(n, levels, k).transpose(1, 0, 2))

    def means(self, cross: Any, noise: Array) -> Array:
        """Return Γ_ND K⁻¹ Y for each level, of shape (n_levels, N, k).

        Parameters
        ----------
        cross : array of shape (N, D)
            Γ_ND.
        noise : array of shape (n_levels,)
            σ².
        """
        weights = self.weights(noise)
        levels, n, k = weights.shape
        side_by_side = weights.transpose(1, 0, 2).reshape(n, levels * k)
        product = np.asarray(cross, dtype=np.float64) @ side_by_side
        return np.asarray(product.reshape(-1, levels, k).transpose(1, 0, 2))

    def log_marginal_likelihood(self, noise: Array) -> Array:
        """Return the log evidence of each level, summed over the columns of the targets."""
        n, k = self.targets.shape
        total = self._shrinkage(noise)
        fit = (self._rotated[None] ** 2 / total[:, :, None]).sum(axis=(1, 2))
        volume = np.log(total).sum(axis=1) + np.log(self.relative_noise).sum()
        return np.asarray(-0.5 * (fit + k * volume + n * k * np.log(2 * np.pi)))

    def leave_one_out(self, noise: Array) -> tuple[Array, Array]:
        """Return leave-one-out means (n_levels, D, k) and variances (n_levels, D).

        The variances are those of noisy observations.
        """
        precision = (1 / self._shrinkage(noise)) @ (self._vectors**2).T / self.relative_noise
        return self.targets - self.weights(noise) / precision[:, :, None], 1 / precision

    def _shrinkage(self, noise: Array) -> Array:
        """Return λ + σ² (n_levels, D), kept away from 0 by the rounding of the eigenvalues."""
        levels = np.asarray(noise, dtype=np.float64)[:, None]
        shifted = levels + np.where(levels > MOST_UNITS * self._unit, 0.0, self._shift)
        floor = np.finfo(np.float64).eps * len(self._values) * self.scale
        return np.asarray(np.maximum(self._values + shifted, floor))
