"""A posterior that grows by one observation at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.kernels import Covariance


class Growing(ABC):
    """Gaussian process regression to which observations are added, and taken away again.

    Parameters
    ----------
    covariance : Covariance
        Γ of all N nodes.
    noise_variance : float
        σ² > 0.
    n_targets : int, default 0
        Columns of Y; 0 where only variances matter.
    nodes : int array of shape (n,), optional
        Sorted nodes whose mean and variance are kept; all N when not given. Any node may be
        observed.

    Attributes
    ----------
    mean : array of shape (n, k)
        Posterior mean of every kept node.
    variance : array of shape (n,)
        Posterior variance of every kept node, without noise.
    observed : list of int
        The nodes D.
    """

    def __init__(
        self,
        covariance: Covariance,
        noise_variance: float,
        n_targets: int = 0,
        nodes: Integers | None = None,
    ) -> None:
        if not (np.isfinite(noise_variance) and noise_variance > 0):
            raise InputError(
                f"noise_variance must be positive and finite, got {float(noise_variance):g}"
            )
        n_kept = covariance.n_nodes if nodes is None else len(nodes)
        self.covariance, self.noise_variance = covariance, float(noise_variance)
        self.nodes = nodes
        self.mean: Array = np.zeros((n_kept, n_targets))
        self.variance: Array = np.asarray(covariance.diag(nodes), dtype=np.float64)
        self.observed: list[int] = []

    def index(self, nodes: Integers) -> Integers:
        """Return where nodes stand among those that are kept."""
        return nodes if self.nodes is None else np.searchsorted(self.nodes, nodes)

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
        if len(chosen):
            self._observe(chosen, values)

    @abstractmethod
    def _observe(self, chosen: Integers, values: Array) -> None:
        """Condition on checked values of at least one node."""

    @abstractmethod
    def retarget(self, targets: Any) -> None:
        """Give all observations so far other values, of shape (D, k) with any k."""

    @abstractmethod
    def remove(self, nodes: Any) -> None:
        """Forget observations."""

    @abstractmethod
    def residual(self, rows: Integers, columns: Integers) -> Array:
        """Return the covariance R[rows, columns] that remains."""

    @abstractmethod
    def widen(self, n_targets: int) -> None:
        """Add columns to the targets, which are 0 in all observations so far."""

    def copy(self) -> Self:
        """Return a posterior that may grow on its own."""
        other = object.__new__(type(self))
        other.__dict__ = {
            name: value.copy() if isinstance(value, np.ndarray | list) else value
            for name, value in self.__dict__.items()
        }
        return other


class GrowingPosterior(Growing):
    r"""Gaussian process regression to which observations are added without refitting.

    Beside the Cholesky factor L of :math:`K = \Gamma_{DD} + \sigma^2 I` it keeps
    :math:`F = L^{-1}\Gamma_{D,\cdot}` and :math:`z = L^{-1}Y`, so that the mean is
    :math:`F^\top z` and the residual covariance :math:`R = \Gamma - F^\top F`. One observation
    costs one column of Γ and O(n·D) for n nodes.

    Parameters and attributes are those of :class:`Growing`; ``observed`` has the order of the rows
    of F.

    Examples
    --------
    >>> import gpgc
    >>> covariance = gpgc.covariance(([0, 1], [1, 2]))
    >>> posterior = GrowingPosterior(covariance, 0.1, n_targets=1)
    >>> posterior.observe([0], [[1.0]])
    >>> posterior.mean.round(2).T
    array([[0.76, 0.87, 0.65]])
    >>> posterior.remove([0])
    >>> posterior.mean.T
    array([[0., 0., 0.]])
    """

    def __init__(
        self,
        covariance: Covariance,
        noise_variance: float,
        n_targets: int = 0,
        nodes: Integers | None = None,
    ) -> None:
        super().__init__(covariance, noise_variance, n_targets, nodes)
        n_kept = len(self.mean)
        self._rows: Array = np.empty((0, n_kept))
        self._cholesky: Array = np.empty((0, 0))
        self._whitened_targets: Array = np.empty((0, n_targets))

    def _observe(self, chosen: Integers, values: Array) -> None:
        columns = np.asarray(self.covariance.block(self.nodes, chosen), dtype=np.float64)
        both = np.array([*self.observed, *chosen], dtype=np.intp)
        among = columns[both] if self.nodes is None else self.covariance.block(both, chosen)
        prior = np.asarray(self.covariance.diag(chosen), dtype=np.float64)
        for place, (node, value) in enumerate(zip(chosen, values, strict=True)):
            known = np.asarray(among[: self._size, place], dtype=np.float64)
            self._append(int(node), columns[:, place], known, prior[place], value)

    def retarget(self, targets: Any) -> None:
        """Give all observations so far other values, of shape (D, k) with any k."""
        values = np.asarray(targets, dtype=np.float64)
        self._whitened_targets = np.zeros((len(self._rows), values.shape[1]))
        if self._size:
            # L z = Y
            factor = self._cholesky[: self._size, : self._size]
            self._whitened_targets[: self._size] = solve_triangular(factor, values, lower=True)
        self.mean = self._factor.T @ self._whitened_targets[: self._size]

    def remove(self, nodes: Any) -> None:
        """Forget observations, without computing a column of Γ again."""
        gone = set(np.asarray(nodes, dtype=np.intp).tolist())
        keep = [place for place, node in enumerate(self.observed) if node not in gone]
        first = next((i for i, place in enumerate(keep) if i != place), len(keep))
        L, F = self._cholesky[: self._size, : self._size].copy(), self._factor.copy()
        z = self._whitened_targets[: self._size].copy()
        observed = self.observed
        # Γ_D. = L F and Y = L z give back what the later rows were computed from.
        self.mean = self.mean - F[first:].T @ z[first:]
        self.variance = self.variance + np.einsum("ij,ij->j", F[first:], F[first:])
        self.observed = observed[:first]
        for place in keep[first:]:
            known = L[keep[: self._size]] @ L[place]
            prior = L[place] @ L[place] - self.noise_variance
            self._append(observed[place], L[place] @ F, known, prior, L[place] @ z)

    def residual(self, rows: Integers, columns: Integers) -> Array:
        """Return the covariance R[rows, columns] that remains."""
        block = self.covariance.block(rows, columns)
        if self._size:
            left, right = self._factor[:, self.index(rows)], self._factor[:, self.index(columns)]
            block -= (left.T @ right).astype(block.dtype)
        return block

    def rows(self, since: int = 0) -> Array:
        """Return the rows f of F from one on; each lowered the residual covariance by f fᵀ."""
        return np.asarray(self._rows[since : self._size])

    def widen(self, n_targets: int) -> None:
        """Add columns to the targets, which are 0 in all observations so far."""
        more = n_targets - self.mean.shape[1]
        self.mean = np.pad(self.mean, ((0, 0), (0, more)))
        self._whitened_targets = np.pad(self._whitened_targets, ((0, 0), (0, more)))

    @property
    def _size(self) -> int:
        return len(self.observed)

    @property
    def _factor(self) -> Array:
        return self._rows[: self._size]

    def _append(self, node: int, column: Array, known: Array, prior: float, value: Array) -> None:
        """Add a row to L, F and z: of one node, its Γ_.j, Γ_Dj, Γ_jj and value."""
        size = self._size
        if size == len(self._rows):
            more = max(16, size)
            self._rows = np.pad(self._rows, ((0, more), (0, 0)))
            self._whitened_targets = np.pad(self._whitened_targets, ((0, more), (0, 0)))
            self._cholesky = np.pad(self._cholesky, ((0, more), (0, more)))
        factor = self._cholesky[:size, :size]
        whitened = solve_triangular(factor, known, lower=True) if size else known
        # sums of as many entries of Γ are known up to their rounding, which counts as noise
        rounding = (size + 1) * np.finfo(self.covariance.dtype).eps * prior
        noise = max(self.noise_variance, rounding)
        scale = np.sqrt(max(prior - whitened @ whitened, 0.0) + noise)
        row = (column - whitened @ self._factor) / scale
        target = (value - whitened @ self._whitened_targets[:size]) / scale
        self._cholesky[size, :size], self._cholesky[size, size] = whitened, scale
        self._rows[size], self._whitened_targets[size] = row, target
        self.observed.append(node)
        self.mean += np.outer(row, target)
        self.variance = np.maximum(self.variance - row**2, 0.0)
