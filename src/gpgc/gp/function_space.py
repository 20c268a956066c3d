"""The posterior in function space: D × D, exact for any covariance."""

from __future__ import annotations

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.gp.factor import Factor
from gpgc.gp.from_root import label_means
from gpgc.gp.posterior import LeaveOneOut, Posterior
from gpgc.kernels import Covariance

CROSS_BYTES = 2**28
"""Size of the covariances between nodes and labels that are held at once for variances."""


class FunctionSpace(Posterior):
    r"""Gaussian process regression by the D × D matrix of the labelled nodes.

    With :math:`K = \Gamma_{DD} + \sigma_\tau^2 I` (section "Semi-supervised Classification with
    Gaussian Process") the mean is :math:`\Gamma_{UD} K^{-1} Y` and the covariance is
    :math:`\Lambda = \Gamma_{UU} - \Gamma_{UD} K^{-1} \Gamma_{DU}`.

    Parameters
    ----------
    covariance : Covariance
        Γ.
    labelled : int array of shape (D,)
        The labelled nodes.
    targets : array of shape (D, k)
        Y.
    factor : Factor
        K, factorised.
    weights : array of shape (D, k), optional
        K⁻¹Y where it is known already.

    Examples
    --------
    >>> import gpgc
    >>> from gpgc.gp.factor import CholeskyFactor
    >>> covariance = gpgc.covariance(([0, 1], [1, 2]))
    >>> labelled = np.array([0])
    >>> factor = CholeskyFactor(covariance.block(labelled, labelled), 0.1)
    >>> FunctionSpace(covariance, labelled, np.array([[1.0]]), factor).mean().round(2).T
    array([[0.76, 0.87, 0.65]])
    """

    space = "function"

    def __init__(
        self,
        covariance: Covariance,
        labelled: Integers,
        targets: Array,
        factor: Factor,
        weights: Array | None = None,
    ) -> None:
        self.covariance, self.labelled, self.factor = covariance, labelled, factor
        self.targets = np.asarray(targets, dtype=np.float64)
        if self.targets.ndim != 2 or len(self.targets) != len(labelled):
            raise InputError(
                f"targets must be of shape ({len(labelled)}, k), got {self.targets.shape}"
            )
        self.weights = factor.solve(self.targets) if weights is None else weights

    def mean(self, rows: Index = None) -> Array:
        """Return Γ[rows, D] K⁻¹ Y."""
        return label_means(self.covariance, self.labelled, self.weights, rows)

    def variance(self, rows: Index = None) -> Array:
        """Return diag(Γ) − ‖W Γ[D, rows]‖² by columns, with K⁻¹ = WᵀW, some nodes at a time."""
        variance = np.asarray(self.covariance.diag(rows), dtype=np.float64).copy()
        row_bytes = max(1, len(self.labelled)) * (self.covariance.dtype.itemsize + 3 * 8)
        size = max(16, self.covariance.context.whole(CROSS_BYTES) // row_bytes)
        chosen = self.covariance.indices(rows)
        for start in range(0, len(variance), size):
            part = slice(start, start + size)
            among = rows if size >= len(variance) else chosen[part]
            explained = self.factor.whiten(self.covariance.block(among, self.labelled))
            variance[part] -= np.einsum("dn,dn->n", explained, explained)
        return np.asarray(np.maximum(variance, 0.0))

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return Λ."""
        n_rows = self.covariance.count(rows)
        size = 8 * 3 * n_rows * (n_rows + len(self.labelled))
        self.covariance.context.require(size, f"the covariance of {n_rows:,} nodes")
        explained = self.factor.whiten(self.covariance.block(rows, self.labelled))
        prior = np.asarray(self.covariance.block(rows, rows), dtype=np.float64)
        posterior = prior - explained.T @ explained
        return np.asarray(posterior + posterior.T) / 2

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return y − K⁻¹y / q and 1 / q with q = diag(K⁻¹) (Rasmussen and Williams, 5.12)."""
        chosen = slice(None) if among is None else among
        precision = self.factor.inverse_diagonal(among)
        mean = self.targets[chosen] - self.weights[chosen] / precision[:, None]
        return LeaveOneOut(mean, 1 / precision)

    def influence(self, rows: Index = None) -> Array:
        """Return S = Γ[rows, D] K⁻¹."""
        cross = np.asarray(self.covariance.block(rows, self.labelled), dtype=np.float64)
        return self.factor.solve(cross.T).T

    def dual_weights(self) -> Array:
        """Return K⁻¹Y."""
        return self.weights

    def log_marginal_likelihood(self) -> float:
        """Return −½ Σ_k (y_kᵀK⁻¹y_k + log det K + D log 2π)."""
        n, k = self.targets.shape
        fit = float((self.targets * self.weights).sum())
        volume = self.factor.log_determinant() + n * np.log(2 * np.pi)
        return float(-0.5 * (fit + k * volume))

    def elsewhere(self, covariance: Covariance, labelled: Integers) -> FunctionSpace:
        """Return the same observations in a covariance that holds other nodes too."""
        return FunctionSpace(covariance, labelled, self.targets, self.factor, self.weights)
