r"""A weighted mean of labels, by a kernel that need not be inverted.

With :math:`\kappa_{ij} = K_{ij} w_j` the mean of a node is
:math:`m_i = \sum_j \kappa_{ij} y_j / \sum_j \kappa_{ij}`, that of a label that is left out the same
without j = i (Nadaraya and Watson). Of 0/1 labels these are shares of the classes.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Literal, Protocol

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.gp.factor import LeaveOneOut

LEAST_SUM = 1e-9
"""ε, relative to the largest sum of weights: nodes that no label reaches have the mean of all."""


class SmoothingKernel(Protocol):
    """K of N nodes, by its products."""

    @property
    def n_nodes(self) -> int:
        """N."""

    def times(self, right: Array) -> Array:
        """Return K @ right (N, m)."""

    def block(self, rows: Index, cols: Index) -> Array:
        """Return K[rows, cols]."""

    def diag(self, rows: Index) -> Array:
        """Return K_ii of some nodes."""

    def extended(self, sums: Array) -> Array:
        """Return sums over labels at the nodes of this kernel from those at the fitted nodes."""


class Smoother:
    """Means of labels by a smoothing kernel; ``apart``: variances have a column for each target.

    K_ii is computed at the labels ``among``; the others have the mean of these.
    """

    space: Literal["function"] = "function"
    approximations: tuple[str, ...] = ()

    def __init__(
        self,
        kernel: SmoothingKernel,
        labelled: Integers,
        targets: Array,
        relative_noise: Array | None = None,
        apart: bool = False,
        among: Integers | None = None,
    ) -> None:
        self.kernel, self.labelled, self.apart = kernel, labelled, apart
        self.targets = np.asarray(targets, dtype=np.float64)
        trust = np.ones(len(labelled)) if relative_noise is None else 1 / relative_noise
        self._weights = trust[:, None] * ~np.isnan(self.targets)
        known, tiny = np.nan_to_num(self.targets) * self._weights, np.finfo(np.float64).tiny
        self._usual = known.sum(axis=0) / np.maximum(self._weights.sum(axis=0), tiny)
        shared = bool((self._weights == self._weights[:, :1]).all())
        right = np.hstack([known, self._weights[:, :1] if shared else self._weights])
        whole = np.zeros((kernel.n_nodes, right.shape[1]))
        np.add.at(whole, labelled, right)
        found, k = kernel.times(whole), known.shape[1]
        found[:, k:] = np.maximum(found[:, k:], 0.0)
        if (known >= 0).all():
            found = np.maximum(found, 0.0)
        self._above, self._below = found[:, :k], np.broadcast_to(found[:, k:], (len(found), k))
        self._least = LEAST_SUM * max(float(self._below.max(initial=0.0)), tiny)
        self._among = np.arange(len(labelled)) if among is None else among
        diagonal = kernel.diag(labelled[self._among])
        self._typical = float(np.mean(diagonal)) if len(diagonal) else 1.0
        own = np.full((len(labelled), 1), self._typical)
        own[self._among, 0] = diagonal
        own = own * self._weights
        rest = np.maximum(self._below[labelled] - own, 0.0)
        is_alone = rest <= 1e3 * LEAST_SUM * np.maximum(self._below[labelled], tiny)  # rounding
        above = self._above[labelled] - own * np.nan_to_num(self.targets)
        left_out = self._ratio(np.where(is_alone, 0.0, above), np.where(is_alone, 0.0, rest))
        self._left_out = np.where(np.isnan(self.targets), np.nan, left_out)
        self._errors = (self.targets - self._left_out)[self._among]
        self.noise = np.zeros(k)
        if len(self._errors):
            self.noise = np.nan_to_num(np.nanmean(self._errors**2, axis=0))

    def mean(self, rows: Index = None) -> Array:
        """Return the weighted mean (n, k) of the labels at nodes; at all when not given."""
        index = slice(None) if rows is None else rows
        return self._ratio(self._above[index], self._below[index])

    def prior_variance(self, rows: Index = None) -> Array:
        """Return what a node varies by before any label is known."""
        index = slice(None) if rows is None else rows
        return np.ones(len(self._below[index]))

    def variance(self, rows: Index = None) -> Array:
        """Return K̄ / (K̄ + Σ κ), K̄ the usual K_ii: the part of a variance of 1 that is left."""
        index = slice(None) if rows is None else rows
        part = self._typical / (self._typical + self._below[index])
        return part if self.apart else np.asarray(part.mean(axis=1))

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return the variances on the diagonal, (n, n) or (n, n, k)."""
        variance = self.variance(rows)
        out = np.zeros((len(variance), *variance.shape))
        out[np.arange(len(variance)), np.arange(len(variance))] = variance
        return out

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return the means at labels without their own, and variances with the noise of these."""
        chosen = slice(None) if among is None else among
        noise = self.noise if self.apart else self.noise.mean()
        return LeaveOneOut(self._left_out[chosen], self.variance(self.labelled[chosen]) + noise)

    def influence(self, rows: Index = None) -> Array:
        """Return what each label adds to the mean of nodes: κ / Σ κ."""
        index = slice(None) if rows is None else rows
        block = self.kernel.block(rows, self.labelled)[:, :, None] * self._weights[None]
        share = block + self._least * self._weights / self._weights.sum(axis=0)
        share /= self._below[index][:, None] + self._least
        return share if self.apart else np.asarray(share[:, :, 0])

    def log_marginal_likelihood(self) -> float:
        """Return the log density of the labels that are left out, by normal errors."""
        variance = np.maximum(self.noise, np.finfo(np.float64).tiny)
        squares = np.nan_to_num(self._errors) ** 2 / variance
        return float(-0.5 * (squares + np.log(2 * np.pi * variance)).sum())

    def elsewhere(self, kernel: Any, labelled: Integers) -> Smoother:
        """Return the same labels at the nodes of another kernel."""
        other = copy(self)
        other.kernel, other.labelled = kernel, labelled
        if kernel is not None:
            other._above, other._below = map(kernel.extended, (self._above, self._below))
        return other

    def _ratio(self, above: Array, below: Array) -> Array:
        return np.asarray((above + self._least * self._usual) / (below + self._least))
