"""Posteriors that grow by one label at a time: in function space, in weight space, by means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.errors import InputError
from gpgc.gp.smoother import LEAST_SUM
from gpgc.kernels import Covariance


class Growing(ABC):
    """Gaussian process regression to which observations are added, and taken away again."""

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
        """Condition on noisy values of nodes."""
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


AT_ONCE = 64
"""Observations from which all are taken in by one factorisation, not one at a time."""

TILE_BYTES = 2**26
"""Size of the rows of the root that are worked on at once."""


class GrowingWeights(Growing):
    r"""Regression on the r columns of the root, Γ = ΦΦᵀ, for more observations than columns.

    With :math:`A = \Phi_D^\top \Phi_D + \sigma^2 I` it keeps :math:`P = A^{-1}` and
    :math:`w = P\,\Phi_D^\top Y`. An observation y of a node with the row φ is

    .. math::
        w \leftarrow w + g\,(y - \varphi^\top w), \qquad
        P \leftarrow P - g\,(P\varphi)^\top, \qquad
        g = P\varphi / (1 + \varphi^\top P \varphi)

    and costs O(r² + n r) for n nodes, however many observations there are.

    Parameters and attributes are those of :class:`gpgc.labelling.growing.Growing`; the covariance
    has a ``rank``.
    """

    def __init__(
        self,
        covariance: Covariance,
        noise_variance: float,
        n_targets: int = 0,
        nodes: Integers | None = None,
    ) -> None:
        super().__init__(covariance, noise_variance, n_targets, nodes)
        rank = covariance.rank or 0
        covariance.context.require(3 * 8 * rank**2, f"{rank:,} × {rank:,} matrices of the weights")
        self._inverse: Array = np.eye(rank) / self.noise_variance
        self._weights: Array = np.zeros((rank, n_targets))
        self._values: Array = np.zeros((0, n_targets))

    def _observe(self, chosen: Integers, values: Array) -> None:
        self.observed += chosen.tolist()
        self._values = np.vstack([self._values, values])
        if len(chosen) >= AT_ONCE:
            self._factorise()
            return
        for row, value in zip(self._root(chosen), values, strict=True):
            self._change(row, value, 1.0)

    def retarget(self, targets: Any) -> None:
        """Give all observations so far other values, of shape (D, k) with any k."""
        self._values = np.asarray(targets, dtype=np.float64)
        self._weights = self._inverse @ self._moments()
        self._answer_means()

    def remove(self, nodes: Any) -> None:
        """Forget observations, one at a time or, of many, by factorising what is left."""
        gone = set(np.asarray(nodes, dtype=np.intp).tolist())
        keep = np.array([node not in gone for node in self.observed], dtype=bool)
        rows = np.array(self.observed, dtype=np.intp)[~keep]
        values, self._values = self._values[~keep], self._values[keep]
        self.observed = [node for node, kept in zip(self.observed, keep, strict=True) if kept]
        if len(rows) >= AT_ONCE:
            self._factorise()
            return
        for row, value in zip(self._root(rows), values, strict=True):
            self._change(row, value, -1.0)

    def residual(self, rows: Integers, columns: Integers) -> Array:
        """Return σ² Φ[rows] P Φ[columns]ᵀ."""
        left = self._root(rows) @ self._inverse
        return np.asarray(self.noise_variance * (left @ self._root(columns).T))

    def widen(self, n_targets: int) -> None:
        """Add columns to the targets, which are 0 in all observations so far."""
        more = ((0, 0), (0, n_targets - self.mean.shape[1]))
        self.mean, self._values = np.pad(self.mean, more), np.pad(self._values, more)
        self._weights = np.pad(self._weights, more)

    def _change(self, row: Array, value: Array, sign: float) -> None:
        """Add an observation, or with −1 take one away: A ± φφᵀ."""
        image = self._inverse @ row
        gain = sign * image / (1 + sign * float(row @ image))
        surprise = value - row @ self._weights
        self._inverse -= np.outer(gain, image)
        self._weights += np.outer(gain, surprise)
        for part, root in self._tiles():
            moved = root @ image
            self.mean[part] += np.outer(root @ gain, surprise)
            lower = self.noise_variance * moved * (root @ gain)
            self.variance[part] = np.maximum(self.variance[part] - lower, 0.0)

    def _factorise(self) -> None:
        """Compute P and w from all observations."""
        gram = np.zeros_like(self._inverse)
        gram[np.diag_indices_from(gram)] = self.noise_variance
        for _, root in self._tiles(np.array(self.observed, dtype=np.intp)):
            gram += root.T @ root
        with small_matrices(len(gram)):
            lower = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
            self._inverse = cho_solve((lower, True), np.eye(len(lower)))
        self._weights = self._inverse @ self._moments()
        self._answer_means()
        for part, root in self._tiles():
            spread = np.einsum("ij,ij->i", root @ self._inverse, root)
            self.variance[part] = self.noise_variance * spread

    def _answer_means(self) -> None:
        self.mean = np.empty((len(self.variance), self._values.shape[1]))
        for part, root in self._tiles():
            self.mean[part] = root @ self._weights

    def _moments(self) -> Array:
        """Return Φ_Dᵀ Y."""
        total: Array = np.zeros((len(self._inverse), self._values.shape[1]))
        for part, root in self._tiles(np.array(self.observed, dtype=np.intp)):
            total += root.T @ self._values[part]
        return total

    def _tiles(self, nodes: Integers | None = None) -> Iterator[tuple[slice, Array]]:
        """Yield slices of nodes, of the kept ones when not given, with their rows of Φ."""
        chosen = self.covariance.indices(self.nodes if nodes is None else nodes)
        size = max(256, self.covariance.context.whole(TILE_BYTES) // (8 * len(self._inverse)))
        for start in range(0, len(chosen), size):
            part = slice(start, start + size)
            yield part, self._root(chosen[part])

    def _root(self, nodes: Integers) -> Array:
        return self.covariance.root(nodes).astype(np.float64)


class GrowingSmoother(Growing):
    """Means of labels by a smoothing kernel K (gpgc.gp.Smoother): (K_iD Y + ε ȳ) / (K_iD 1 + ε)."""

    def __init__(self, kernel: Any, nodes: Integers | None = None) -> None:
        self.kernel, self.nodes, self.noise_variance = kernel, nodes, 1.0
        self._columns: Array = np.empty((kernel.n_nodes if nodes is None else len(nodes), 0))
        self._targets: Array = np.empty((0, 0))
        self.observed: list[int] = []
        self._answer()

    def _observe(self, chosen: Integers, values: Array) -> None:
        columns = np.maximum(self.kernel.block(self.nodes, chosen), 0.0)
        self._columns = np.hstack([self._columns, columns])
        self._targets = np.vstack([self._targets, values])
        self.observed = [*self.observed, *chosen.tolist()]
        self._answer()

    def retarget(self, targets: Any) -> None:
        """Give all observations so far other values, of shape (D, k) with any k."""
        self._targets = np.asarray(targets, dtype=np.float64)
        self._answer()

    def remove(self, nodes: Any) -> None:
        """Forget observations."""
        gone = set(np.asarray(nodes, dtype=np.intp).tolist())
        keep = np.array([node not in gone for node in self.observed], dtype=bool)
        self._columns, self._targets = self._columns[:, keep], self._targets[keep]
        self.observed = [node for node in self.observed if node not in gone]
        self._answer()

    def residual(self, rows: Integers, columns: Integers) -> Array:
        """Return no covariance: labels of a mean are not planned by it."""
        return np.zeros((len(rows), len(columns)))

    def widen(self, n_targets: int) -> None:
        """Add columns to the targets, which are 0 in all observations so far."""
        more = n_targets - self._targets.shape[1]
        self._targets = np.pad(self._targets, ((0, 0), (0, more)))
        self._answer()

    def _answer(self) -> None:
        sums = self._columns.sum(axis=1, keepdims=True)
        least = LEAST_SUM * max(float(sums.max(initial=0.0)), np.finfo(np.float64).tiny)
        usual = (
            self._targets.mean(axis=0) if len(self._targets) else np.zeros(self._targets.shape[1])
        )
        self.mean = (self._columns @ self._targets + least * usual) / (sums + least)
        typical = float(self._columns.max(initial=0.0)) or 1.0
        self.variance = typical / (typical + sums[:, 0])
