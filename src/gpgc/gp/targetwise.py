"""Several targets, each at a noise level of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.gp.posterior import LeaveOneOut, Posterior
from gpgc.kernels import Covariance


class Targetwise(Posterior):
    """Independent Gaussian process regressions of k targets on the same labelled nodes.

    Variances have a column a target: (n, k) in place of (n,).

    Parameters
    ----------
    posteriors : sequence of Posterior
        One for each distinct noise level, of the targets that have it.
    level : int array of shape (k,)
        Which of them each target belongs to.
    """

    def __init__(self, posteriors: Sequence[Posterior], level: Integers) -> None:
        self.posteriors, self.level = tuple(posteriors), np.asarray(level)
        self.space = posteriors[0].space
        self.approximations = posteriors[0].approximations
        self.covariance, self.labelled = posteriors[0].covariance, posteriors[0].labelled
        self.targets = self._by_target([part.targets for part in self.posteriors])

    def mean(self, rows: Index = None) -> Array:
        """Return the posterior mean (n, k)."""
        return self._by_target([part.mean(rows) for part in self.posteriors])

    def variance(self, rows: Index = None) -> Array:
        """Return the posterior variance (n, k)."""
        return self._for_each(lambda part: part.variance(rows))

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return the posterior covariance (n, n, k)."""
        return self._for_each(lambda part: part.joint_covariance(rows))

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return means and variances, both (D, k)."""
        parts = [part.leave_one_out(among) for part in self.posteriors]
        variance = np.stack([part.variance for part in parts], axis=-1)[..., self.level]
        return LeaveOneOut(self._by_target([part.mean for part in parts]), variance)

    def influence(self, rows: Index = None) -> Array:
        """Return what each label adds to the mean of nodes, (n, D, k)."""
        return self._for_each(lambda part: part.influence(rows))

    def dual_weights(self) -> Array:
        """Return K⁻¹Y (D, k), of each target by its own noise."""
        return self._by_target([part.dual_weights() for part in self.posteriors])

    def log_marginal_likelihood(self) -> float:
        """Return the log evidence, summed over the targets."""
        return sum(part.log_marginal_likelihood() for part in self.posteriors)

    def elsewhere(self, covariance: Covariance, labelled: Integers) -> Targetwise:
        """Return the same observations in a covariance that holds other nodes too."""
        parts = [part.elsewhere(covariance, labelled) for part in self.posteriors]
        return Targetwise(parts, self.level)

    def _by_target(self, parts: Sequence[Array]) -> Array:
        """Put the columns of the parts into the order of the targets."""
        out = np.empty((len(parts[0]), len(self.level)))
        for index, part in enumerate(parts):
            out[:, self.level == index] = part
        return out

    def _for_each(self, answer: Callable[[Posterior], Array]) -> Array:
        return np.asarray(np.stack([answer(p) for p in self.posteriors], axis=-1)[..., self.level])
