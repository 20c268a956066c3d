"""A posterior that grows by one observation at a time."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.kernels import Covariance


class GrowingPosterior:
    r"""Gaussian process regression to which observations are added without refitting.

    Beside the Cholesky factor L of :math:`K = \Gamma_{DD} + \sigma^2 I` it keeps
    :math:`F = L^{-1}\Gamma_{D,\cdot}` and :math:`z = L^{-1}Y`, so that the mean is
    :math:`F^\top z` and the residual covariance :math:`R = \Gamma - F^\top F`. The next row of L
    is then a column of F, and one observation costs one column of Γ and O(N·D).

    Parameters
    ----------
    covariance : Covariance
        Γ of all N nodes.
    noise_variance : float
        σ² > 0.
    n_targets : int
        Columns of Y; 0 where only variances matter.

    Attributes
    ----------
    mean : array of shape (N, k)
        Posterior mean of every node.
    variance : array of shape (N,)
        Posterior variance of every node, without noise.

    Examples
    --------
    >>> import gpgc
    >>> covariance = gpgc.covariance(([0, 1], [1, 2]))
    >>> posterior = GrowingPosterior(covariance, 0.1, n_targets=1)
    >>> posterior.observe([0], [[1.0]])
    >>> posterior.mean.round(2).T
    array([[0.76, 0.87, 0.65]])
    """

    def __init__(self, covariance: Covariance, noise_variance: float, n_targets: int = 0) -> None:
        if not (np.isfinite(noise_variance) and noise_variance > 0):
            raise InputError(
                f"noise_variance must be positive and finite, got {float(noise_variance):g}"
            )
        n_nodes = covariance.n_nodes
        self.covariance, self.noise_variance = covariance, float(noise_variance)
        self.mean: Array = np.zeros((n_nodes, n_targets))
        self.variance: Array = np.asarray(covariance.diag(), dtype=np.float64)
        self._size = 0
        self._rows: Array = np.empty((0, n_nodes))
        self._whitened_targets: Array = np.empty((0, n_targets))

    def observe(self, nodes: Any, targets: Any = None) -> None:
        """Condition on noisy values of nodes.

        Parameters
        ----------
        nodes : int array of shape (n,)
            Which nodes.
        targets : array of shape (n, k), optional
            Their values; may be left out where k is 0.
        """
        chosen = np.asarray(nodes, dtype=np.intp)
        values = np.zeros((len(chosen), 0)) if targets is None else np.asarray(targets, np.float64)
        if values.shape != (len(chosen), self.mean.shape[1]):
            raise InputError(
                f"targets must have shape {(len(chosen), self.mean.shape[1])}, got {values.shape}"
            )
        columns = np.asarray(self.covariance.block(None, chosen), dtype=np.float64)
        for node, column, value in zip(chosen, columns.T, values, strict=True):
            known = self._factor[:, node].copy()
            residual = column - known @ self._factor
            surprise = value - known @ self._whitened_targets[: self._size]
            scale = np.sqrt(max(residual[node], 0.0) + self.noise_variance)
            self._append(residual / scale, surprise / scale)

    def residual(self, rows: Integers, columns: Integers) -> Array:
        """Return the covariance R[rows, columns] that remains."""
        block = self.covariance.block(rows, columns)
        if self._size:
            left, right = self._factor[:, rows], self._factor[:, columns]
            block -= (left.T @ right).astype(block.dtype)
        return block

    def last_row(self) -> Array:
        """Return the last row f of F, by which the residual covariance fell: R − f fᵀ."""
        return np.asarray(self._rows[self._size - 1])

    def widen(self, n_targets: int) -> None:
        """Add columns to the targets, which are 0 in all observations so far."""
        more = n_targets - self.mean.shape[1]
        self.mean = np.pad(self.mean, ((0, 0), (0, more)))
        self._whitened_targets = np.pad(self._whitened_targets, ((0, 0), (0, more)))

    def copy(self) -> Self:
        """Return a posterior that may grow on its own."""
        other = object.__new__(type(self))
        other.__dict__ = {
            name: value.copy() if isinstance(value, np.ndarray) else value
            for name, value in self.__dict__.items()
        }
        return other

    @property
    def _factor(self) -> Array:
        return self._rows[: self._size]

    def _append(self, row: Array, whitened_target: Array) -> None:
        if self._size == len(self._rows):
            room = ((0, max(16, self._size)), (0, 0))
            self._rows = np.pad(self._rows, room)
            self._whitened_targets = np.pad(self._whitened_targets, room)
        self._rows[self._size] = row
        self._whitened_targets[self._size] = whitened_target
        self._size += 1
        self.mean += np.outer(row, whitened_target)
        self.variance = np.maximum(self.variance - row**2, 0.0)
