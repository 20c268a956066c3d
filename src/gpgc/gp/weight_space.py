"""The posterior in weight space: r × r for a covariance of rank r, for any number of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from gpgc._typing import Array, Index, Integers
from gpgc.compute import small_matrices
from gpgc.errors import InputError
from gpgc.gp.labelled_root import LabelledRoot
from gpgc.gp.posterior import LeaveOneOut, Posterior
from gpgc.kernels import Covariance

RootFunction: TypeAlias = Callable[[Array], Array]

WHITENED_BYTES = 8
"""What L⁻¹Φᵀ in float64 takes beside each entry of Φ."""


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
    root : LabelledRoot, optional
        Of this covariance and these labels, where it is known.

    Examples
    --------
    >>> from gpgc.kernels import Features, InnerProduct
    >>> covariance = Features.of(InnerProduct(), np.array([[1.0], [2.0], [3.0]]))
    >>> posterior = WeightSpace(covariance, np.array([0, 1]), np.array([[1.0], [2.0]]), 0.1)
    >>> posterior.mean().round(2).T
    array([[0.98, 1.96, 2.94]])
    >>> posterior
    posterior in weight space, 2 labels of 3 nodes, rank 1
    """

    space = "weight"

    def __init__(
        self,
        covariance: Covariance,
        labelled: Integers,
        targets: Array,
        noise_variance: float,
        relative_noise: Array | None = None,
        root: LabelledRoot | None = None,
    ) -> None:
        if not (np.isfinite(noise_variance) and noise_variance > 0):
            raise InputError(
                f"noise_variance must be finite and above 0 in weight space, got {noise_variance!r}"
            )
        self.covariance, self.labelled = covariance, np.asarray(labelled, dtype=np.intp)
        self.targets = np.asarray(targets, dtype=np.float64)
        self.noise_variance = float(noise_variance)
        known = root or LabelledRoot(covariance, self.labelled, self.targets, relative_noise)
        self._relative, self._moments = known.relative_noise, known.moments
        with small_matrices(known.rank):
            gram = known.gram.copy()
            gram[np.diag_indices_from(gram)] += self.noise_variance
            self._lower = cholesky(gram, lower=True, overwrite_a=True, check_finite=False)
            self.weights = cho_solve((self._lower, True), self._moments)

    def mean(self, rows: Index = None) -> Array:
        """Return Φ[rows] E[w]."""
        return np.asarray(self.covariance.root_times(rows, self.weights), dtype=np.float64)

    def variance(self, rows: Index = None) -> Array:
        """Return σ² φᵀA⁻¹φ for each row φ of Φ."""

        def variances(root: Array) -> Array:
            white = self._whiten(root)
            return np.asarray(self.noise_variance * np.einsum("rn,rn->n", white, white))

        return self._over_roots(rows, variances, (), WHITENED_BYTES)

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return σ² Φ[rows] A⁻¹ Φ[rows]ᵀ."""
        white = self._whiten(self.covariance.root(rows))
        return np.asarray(self.noise_variance * (white.T @ white))

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return y − (y − φᵀE[w]) / (1 − h) and σ² r / (1 − h)."""
        chosen = slice(None) if among is None else among
        nodes, targets = self.labelled[chosen], self.targets[chosen]
        noise = self.noise_variance * self._relative[chosen]
        mean, variance = np.empty(targets.shape), np.empty(len(nodes))
        weights = self.weights

        def tile(part: slice) -> None:
            root = self.covariance.root(nodes[part])
            mean[part] = root @ weights
            white = self._whiten(root)
            variance[part] = np.einsum("rn,rn->n", white, white)

        self._in_tiles(len(nodes), tile, WHITENED_BYTES)
        leverage = self.noise_variance * variance / noise
        left = np.maximum(1 - leverage, np.finfo(np.float64).eps)
        return LeaveOneOut(targets - (targets - mean) / left[:, None], noise / left)

    def influence(self, rows: Index = None) -> Array:
        """Return S = Φ[rows] A⁻¹ Φ_Dᵀ R⁻¹, with R the relative noise of the labels."""
        solved = cho_solve((self._lower, True), self.covariance.root(rows).astype(np.float64).T)
        found = self._over_roots(self.labelled, lambda root: root @ solved, solved.shape[1:])
        return np.asarray(found.T / self._relative)

    def dual_weights(self) -> Array:
        """Return K⁻¹Y = (Y − Γ_DD K⁻¹Y) / noise: the residuals over their noise."""
        noise = self.noise_variance * self._relative
        return np.asarray((self.targets - self.mean(self.labelled)) / noise[:, None])

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
        right = np.array(root, dtype=np.float64, order="C").T
        solved = solve_triangular(
            self._lower, right, lower=True, overwrite_b=True, check_finite=False
        )
        return np.asarray(solved)

    def _over_roots(
        self, rows: Index, answer: RootFunction, shape: tuple[int, ...], scratch: int = 0
    ) -> Array:
        """Return answer(Φ[tile]) for tiles of rows, put together in float64."""
        chosen = self.covariance.indices(rows)
        out = np.empty((len(chosen), *shape))

        def tile(part: slice) -> None:
            out[part] = answer(self.covariance.root(chosen[part]))

        self._in_tiles(len(chosen), tile, scratch)
        return out

    def _in_tiles(self, n_rows: int, work: Callable[[slice], None], scratch: int = 0) -> None:
        """Call a function for tiles of rows of the root, side by side.

        ``scratch`` is what the function holds for each entry of the tile, in bytes.
        """
        context = self.covariance.context
        row_bytes = len(self._lower) * (self.covariance.dtype.itemsize + scratch)
        context.map(work, context.tiles(n_rows, row_bytes))
