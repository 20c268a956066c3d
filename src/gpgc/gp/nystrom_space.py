"""The posterior where there are more labels than a D × D matrix allows, and no finite root."""

from __future__ import annotations

from typing import Self

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.gp.factor import LeaveOneOut, factorised
from gpgc.gp.function_space import FunctionSpace
from gpgc.gp.weight_space import LabelledRoot, WeightSpace
from gpgc.kernels import Covariance
from gpgc.kernels.nystrom import Nystrom, choose_landmarks

MOST_LANDMARKS = 2000

CANDIDATES = 2
"""Labelled nodes that are looked at for each landmark."""

SAMPLE = 1000
"""Labels, and nodes, on which the approximation is held against the exact answer, at most."""

MATRICES = 16
"""r × r matrices in float64 that landmarks, the posterior and its check hold at once."""


class NystromSpace(WeightSpace):
    """The posterior under K[:, M] K_MM⁻¹ K[M, :] with landmarks M among the labelled nodes.

    Variances get back what the landmarks do not tell, K_mm − ‖φ_m‖², that nodes far from all
    landmarks are not taken for certain; joint covariances are those of the approximation.
    """

    def __init__(
        self,
        inner: Covariance,
        labelled: Integers,
        targets: Array,
        noise_variance: float,
        relative_noise: Array | None = None,
    ) -> None:
        rank = _fitting(min(MOST_LANDMARKS, len(labelled)), inner)
        among = evenly_spaced(len(labelled), CANDIDATES * rank)
        self._landmarks = among[choose_landmarks(inner, labelled[among], rank)]
        approximate = Nystrom(inner, labelled[self._landmarks])
        super().__init__(
            LabelledRoot.of(approximate, labelled, targets, relative_noise), noise_variance
        )
        self._whitening = approximate.whitening
        self.approximations = (self._error(inner, approximate),)

    def variance(self, rows: Index = None) -> Array:
        """Return σ² φᵀA⁻¹φ + K_mm − ‖φ‖²."""
        return super().variance(rows) + self._residual(rows)

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return means and variances of the approximation, and what the landmarks do not tell."""
        mean, variance = super().leave_one_out(among)
        nodes = self.labelled if among is None else self.labelled[among]
        return LeaveOneOut(mean, variance + self._residual(nodes))

    def elsewhere(self, covariance: Covariance, labelled: Integers) -> Self:
        """Return the same landmarks and weights in a covariance that holds other nodes too."""
        there = Nystrom(covariance, np.asarray(labelled)[self._landmarks], self._whitening)
        return super().elsewhere(there, labelled)

    def _residual(self, rows: Index) -> Array:
        covariance = self.covariance
        assert isinstance(covariance, Nystrom)
        left = np.asarray(covariance.inner.diag(rows), np.float64) - covariance.diag(rows)
        return np.asarray(np.maximum(left, 0.0))

    def _error(self, inner: Covariance, approximate: Nystrom) -> str:
        """Return how far a sample of labels and nodes is from the exact answer, in a phrase."""
        some = evenly_spaced(len(self.labelled), _fitting(SAMPLE, inner))
        nodes = evenly_spaced(inner.n_nodes, SAMPLE)
        labelled, targets = self.labelled[some], self.targets[some]
        relative = self.factor.root.relative_noise[some]
        inverse = factorised(inner.block(labelled, labelled), self.noise_variance * relative)
        exact = FunctionSpace(inner, labelled, targets, inverse).mean(nodes)
        root = LabelledRoot.of(approximate, labelled, targets, relative)
        found = WeightSpace(root, self.noise_variance)
        off = _length(found.mean(nodes) - exact) / (_length(exact) or 1.0)
        prior = np.asarray(inner.diag(nodes), dtype=np.float64)
        lost = float(self._residual(nodes).sum()) / (float(prior.sum()) or 1.0)
        return (
            f"Nyström with {len(self._landmarks):,} landmarks for {len(self.labelled):,} labels: "
            f"on a sample, means off by {off:.2%} and {lost:.2%} of the prior variance untold"
        )


def _fitting(most: int, covariance: Covariance) -> int:
    """Return a number, halved until so many landmarks or labels fit in memory."""
    context = covariance.context
    while most > 1 and not context.fits(MATRICES * 8 * most**2):
        most //= 2
    return most


def evenly_spaced(n_items: int, most: int) -> Integers:
    """Return at most so many of n items, in even steps."""
    return np.linspace(0, n_items - 1, min(n_items, most)).astype(np.intp)


def _length(values: Array) -> float:
    return float(np.linalg.norm(values))
