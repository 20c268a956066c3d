"""The posterior in weight space: r × r for a covariance of rank r, for any number of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from gpgc._typing import Array, Index, Integers
from gpgc.compute import small_matrices
from gpgc.errors import InputError
from gpgc.gp.posterior import LeaveOneOut, Posterior
from gpgc.kernels import Covariance

RootFunction: TypeAlias = Callable[[Array], Array]

TILE_BYTES = 2**27
"""Size of the labelled rows of the root that are multiplied at once."""

LEAST_ROWS = 256
"""Labelled rows that are multiplied at once however small the memory limit is."""


class WeightSpace(Posterior):
    r"""Gaussian process regression by the weights of the root's columns, Γ = ΦΦᵀ.

    With :math:`f = \Phi w`, weights :math:`w \sim N(0, I)` and noise :math:`\sigma^2 r_i` of label
    i, let :math:`\tilde\Phi, \tilde Y` be the labelled rows divided by :math:`\sqrt{r_i}` and
    :math:`A = \tilde\Phi^\top\tilde\Phi + \sigma^2 I`. Then

    .. math::
        E[w] = A^{-1} \tilde\Phi^\top \tilde Y, \qquad
        \mathrm{cov}[w] = \sigma^2 A^{-1}, \qquad
        h_i = \tilde\varphi_i^\top A^{-1} \tilde\varphi_i

    (Rasmussen and Williams, section 2.1). The same posterior as in function space, at a cost of
    D r² + r³ in place of D³; no D × D matrix is ever made.

    Parameters
    ----------
    covariance : Covariance
        Γ, with a ``rank``.
    labelled : int array of shape (D,)
        The labelled nodes.
    targets : array of shape (D, k)
        Y.
    noise_variance : float
        σ² > 0.
    relative_noise : array of shape (D,), optional
        r, the noise of each label over σ²; 1 when not given.

    Examples
    --------
    >>> from gpgc.kernels import Features, InnerProduct
    >>> covariance = Features.of(InnerProduct(), np.array([[1.0], [2.0], [3.0]]))
    >>> posterior = WeightSpace(covariance, np.array([0, 1]), np.array([[1.0], [2.0]]), 0.1)
    >>> posterior.mean().round(2).T
    array([[0.98, 1.96, 2.94]])
    """

    def __init__(
        self,
        covariance: Covariance,
        labelled: Integers,
        targets: Array,
        noise_variance: float,
        relative_noise: Array | None = None,
    ) -> None:
        if not (np.isfinite(noise_variance) and noise_variance > 0):
            raise InputError(
                f"noise_variance must be finite and above 0 in weight space, got {noise_variance!r}"
            )
        self.covariance, self.labelled = covariance, np.asarray(labelled, dtype=np.intp)
        self.targets = np.asarray(targets, dtype=np.float64)
        self.noise_variance = float(noise_variance)
        ones = np.ones(len(self.labelled))
        self._relative = ones if relative_noise is None else np.asarray(relative_noise, np.float64)
        gram, moments = root_moments(covariance, self.labelled, self.targets, self._relative)
        with small_matrices(len(gram)):
            gram[np.diag_indices_from(gram)] += self.noise_variance
            self._lower = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
            self.weights = cho_solve((self._lower, True), moments)
        self._moments = moments

    def mean(self, rows: Index = None) -> Array:
        """Return Φ[rows] E[w]."""
        weights = self.weights.astype(self.covariance.dtype)
        return self._over_roots(rows, lambda root: root @ weights, self.targets.shape[1:])

    def variance(self, rows: Index = None) -> Array:
        """Return σ² φᵀA⁻¹φ for each row φ of Φ."""

        def variances(root: Array) -> Array:
            white = self._whiten(root)
            return np.asarray(self.noise_variance * np.einsum("rn,rn->n", white, white))

        return self._over_roots(rows, variances, ())

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return σ² Φ[rows] A⁻¹ Φ[rows]ᵀ."""
        white = self._whiten(self.covariance.root(rows))
        return np.asarray(self.noise_variance * (white.T @ white))

    def leave_one_out(self) -> LeaveOneOut:
        """Return y − (y − φᵀE[w]) / (1 − h) and σ² r / (1 − h)."""
        leverage = self.variance(self.labelled) / self.noise_variance / self._relative
        left = np.maximum(1 - leverage, np.finfo(np.float64).eps)
        residual = self.targets - self.mean(self.labelled)
        mean = self.targets - residual / left[:, None]
        return LeaveOneOut(mean, self.noise_variance * self._relative / left)

    def log_marginal_likelihood(self) -> float:
        """Return the log evidence.

        log det K = (D − r) log σ² + log det A + Σ log r_i, and yᵀK⁻¹y = (ỹᵀỹ − m·w) / σ² with
        m = Φ̃ᵀỹ, both by the determinant and inversion lemmas.
        """
        n, k = self.targets.shape
        rank = len(self._lower)
        scaled = self.targets / np.sqrt(self._relative)[:, None]
        fit = float((scaled**2).sum() - (self._moments * self.weights).sum()) / self.noise_variance
        volume = (n - rank) * np.log(self.noise_variance) + np.log(self._relative).sum()
        volume += 2 * np.log(np.diagonal(self._lower)).sum()
        return float(-0.5 * (fit + k * (volume + n * np.log(2 * np.pi))))

    def elsewhere(self, covariance: Covariance, labelled: Integers) -> WeightSpace:
        """Return the same weights in a covariance whose root has the same columns."""
        other = object.__new__(WeightSpace)
        other.__dict__ = self.__dict__ | {"covariance": covariance, "labelled": labelled}
        return other

    def _whiten(self, root: Array) -> Array:
        """Return L⁻¹ Φ[rows]ᵀ (r, n) with A = L Lᵀ."""
        right = np.asarray(root, dtype=np.float64).T
        return np.asarray(solve_triangular(self._lower, right, lower=True, check_finite=False))

    def _over_roots(self, rows: Index, answer: RootFunction, shape: tuple[int, ...]) -> Array:
        """Return answer(Φ[tile]) for tiles of rows, put together in float64."""
        chosen = self.covariance.indices(rows)
        out = np.empty((len(chosen), *shape))
        self.covariance.context.fill(
            out,
            lambda part: answer(self.covariance.root(chosen[part])),
            len(self._lower) * self.covariance.dtype.itemsize,
        )
        return out


def root_moments(
    covariance: Covariance, labelled: Integers, targets: Array, relative_noise: Array
) -> tuple[Array, Array]:
    """Return Φ̃ᵀΦ̃ (r, r) and Φ̃ᵀỸ (r, k), summed over tiles of labelled nodes in float64."""
    context, rank = covariance.context, covariance.rank or 0
    context.require(2 * rank**2 * 8, f"the {rank:,} × {rank:,} matrices of the weights")
    gram, moments = np.zeros((rank, rank)), np.zeros((rank, targets.shape[1]))
    scale = 1 / np.sqrt(relative_noise)
    tile_rows = max(LEAST_ROWS, context.budget(TILE_BYTES) // max(1, rank * 8))
    for start in range(0, len(labelled), tile_rows):
        part = slice(start, start + tile_rows)
        root = covariance.root(labelled[part]).astype(np.float64)
        root *= scale[part, None]
        gram += root.T @ root
        moments += root.T @ (targets[part] * scale[part, None])
    return gram, moments
