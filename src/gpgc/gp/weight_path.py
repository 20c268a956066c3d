"""Noise levels in weight space: all at once, or one after the other."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np
from scipy.linalg import eigh

from gpgc._typing import Array, Integers
from gpgc.compute import small_matrices
from gpgc.gp.labelled_root import LabelledRoot
from gpgc.gp.weight_space import WeightSpace
from gpgc.kernels import Covariance, LowRank


class WeightPath:
    r"""Evidence and leave-one-out along all noise levels, from one r × r eigendecomposition.

    With :math:`\tilde\Phi^\top\tilde\Phi = Q \Lambda Q^\top` a level costs O(D r):

    .. math::
        E[w] = Q (\Lambda + \sigma^2)^{-1} Q^\top \tilde\Phi^\top \tilde Y, \qquad
        h_i = \sum_j (\tilde\varphi_i^\top q_j)^2 / (\lambda_j + \sigma^2)

    Parameters
    ----------
    root : LabelledRoot
        The labelled rows of the root.

    Examples
    --------
    >>> from gpgc.kernels import Features, InnerProduct
    >>> covariance = Features.of(InnerProduct(), np.array([[1.0], [2.0], [3.0]]))
    >>> root = LabelledRoot(covariance, np.array([0, 1]), np.array([[1.0], [2.0]]))
    >>> mean, variance = WeightPath(root).leave_one_out(np.array([0.1, 1.0]))
    >>> mean.round(2)[:, :, 0]
    array([[0.98, 1.82],
           [0.8 , 1.  ]])
    """

    def __init__(self, root: LabelledRoot) -> None:
        self._root, self.scale = root, root.scale
        self.targets: Array = root.targets
        self.relative_noise: Array = root.relative_noise
        with small_matrices(root.rank):
            values, self._vectors = eigh(root.gram, driver="evd", check_finite=False)
        self._values = np.maximum(values, 0.0)
        self.rounding = float(np.finfo(np.float64).eps * self._values.max(initial=0.0))
        self._rotated = self._vectors.T @ root.moments
        self._squares = root.squares

    def of_target(self, column: int) -> Self:
        """Return the path of one column of the targets, with the same eigendecomposition."""
        other = copy(self)
        other.targets, other._rotated = self.targets[:, [column]], self._rotated[:, [column]]
        other._squares = self._squares[[column]]
        return other

    def at_labels(self, part: slice, covariance: Covariance, labelled: Integers) -> Self:
        """Return the path of some of the labels, each still predicted from all others.

        Parameters
        ----------
        part : slice
            Which of the labels.
        covariance : Covariance
            With the root of the same columns, that holds the nodes of these labels.
        labelled : int array
            These nodes.
        """
        other = copy(self)
        other._root = self._root.at_labels(part, covariance, labelled)
        other.targets, other.relative_noise = other._root.targets, other._root.relative_noise
        return other

    def leave_one_out(self, noise: Array) -> tuple[Array, Array]:
        """Return leave-one-out means (n_levels, D, k) and variances (n_levels, D) with noise."""
        levels = np.asarray(noise, dtype=np.float64)
        inverse = 1 / (self._values + levels[:, None])
        n_levels, (n_labels, k) = len(levels), self.targets.shape
        # (r, n_levels · k): Q(Λ + σ²)⁻¹Qᵀm of all levels side by side, still rotated.
        shrunk = (inverse[:, :, None] * self._rotated).transpose(1, 0, 2).reshape(-1, n_levels * k)
        fitted, leverage = np.empty((n_labels, n_levels * k)), np.empty((n_labels, n_levels))
        for part, rows in self._root.tiles():
            rotated = rows @ self._vectors
            fitted[part] = rotated @ shrunk
            leverage[part] = rotated**2 @ inverse.T
        relative = self.relative_noise
        left = np.maximum(1 - leverage.T, np.finfo(np.float64).eps)
        means = fitted.reshape(n_labels, n_levels, k).transpose(1, 0, 2)
        means = means * np.sqrt(relative)[:, None]
        variance = levels[:, None] * relative / left
        return self.targets - (self.targets - means) / left[:, :, None], variance

    def log_marginal_likelihood(self, noise: Array) -> Array:
        """Return the log evidence of each level; formula in :class:`WeightSpace`."""
        levels = np.asarray(noise, dtype=np.float64)
        n, k = self.targets.shape
        total = self._values + levels[:, None]
        explained = (self._rotated**2 / total[:, :, None]).sum(axis=(1, 2))
        fit = (self._squares.sum() - explained) / levels
        volume = (n - len(self._values)) * np.log(levels) + np.log(total).sum(axis=1)
        volume += np.log(self.relative_noise).sum()
        return np.asarray(-0.5 * (fit + k * volume + n * k * np.log(2 * np.pi)))


class SampledLevels:
    """Evidence of all labels, and leave-one-out of a sample of them, one noise level at a time.

    A level is one Cholesky factor: r³/3, and r² for each label that is left out. Cheaper than all
    levels at once where r is large and few levels are asked for. The rows of the root of those
    labels are computed once.

    Parameters
    ----------
    root : LabelledRoot
        The labelled rows of the root.
    among : int array of shape (m,)
        Which labels are left out in turn, each predicted from all others.
    """

    def __init__(self, root: LabelledRoot, among: Integers) -> None:
        self._root, self._among, self._column = root, among, slice(None)
        self._own = root  # with the targets of this path alone
        self.targets: Array = root.targets[among]
        self.relative_noise: Array = root.relative_noise[among]
        self.scale = root.scale
        self.rounding = float(np.finfo(np.float64).eps * np.trace(root.gram))
        self._rows = LowRank(root.covariance.root(root.labelled[among]), root.covariance.context)
        self._left_out: dict[float, tuple[Array, Array]] = {}

    def of_target(self, column: int) -> Self:
        """Return the path of one column of the targets, which shares what is computed."""
        other = copy(self)
        other.targets, other._column = self.targets[:, [column]], slice(column, column + 1)
        other._own = self._root.of_targets(other._column)
        return other

    def leave_one_out(self, noise: Array) -> tuple[Array, Array]:
        """Return leave-one-out means (n_levels, m, k) and variances (n_levels, m) with noise."""
        found = [self._leave_out(float(level)) for level in noise]
        means = np.stack([mean[:, self._column] for mean, _ in found])
        return means, np.stack([variance for _, variance in found])

    def log_marginal_likelihood(self, noise: Array) -> Array:
        """Return the log evidence of each level, of all labels and the targets of the path."""
        found = [_at(self._own, float(level)).log_marginal_likelihood() for level in noise]
        return np.array(found)

    def _leave_out(self, level: float) -> tuple[Array, Array]:
        if level not in self._left_out:
            places = np.zeros(len(self._root.labelled), dtype=np.intp)
            places[self._among] = np.arange(len(self._among))
            there = _at(self._root, level).elsewhere(self._rows, places)
            self._left_out[level] = there.leave_one_out(self._among)
        return self._left_out[level]


def _at(root: LabelledRoot, level: float) -> WeightSpace:
    """Return the posterior of a root's targets at one noise level."""
    return WeightSpace(
        root.covariance, root.labelled, root.targets, level, root.relative_noise, root
    )
