"""Several targets, each at a noise level and with labelled nodes of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.gp.posterior import LeaveOneOut, Posterior
from gpgc.kernels import Covariance


class TargetGroup(NamedTuple):
    """Targets that share noise and labelled nodes.

    Attributes
    ----------
    posterior : Posterior
        Of these targets.
    columns : int array
        Which of all k targets they are.
    labels : int array
        Their labelled nodes, as sorted indices of all D labelled ones.
    """

    posterior: Posterior
    columns: Integers
    labels: Integers


class Targetwise(Posterior):
    """Independent Gaussian process regressions of k targets.

    Variances have a column a target: (n, k) in place of (n,). Where a target is not known at one
    of the labelled nodes, ``targets`` and leave-one-out are NaN, and the node adds nothing to that
    target's mean.

    Parameters
    ----------
    groups : sequence of TargetGroup
        One for each distinct noise level and set of labelled nodes.
    labelled : int array of shape (D,)
        The nodes at which some target is known.
    """

    def __init__(self, groups: Sequence[TargetGroup], labelled: Integers) -> None:
        self.groups, self.labelled = tuple(groups), labelled
        self.n_targets = sum(len(group.columns) for group in groups)
        first = groups[0].posterior
        self.space, self.covariance = first.space, first.covariance
        said = [phrase for group in groups for phrase in group.posterior.approximations]
        self.approximations = tuple(dict.fromkeys(said))
        self.targets = self._at_labels(lambda part: part.targets, np.nan)

    def mean(self, rows: Index = None) -> Array:
        """Return the posterior mean (n, k)."""
        return self._of_each(lambda part: part.mean(rows))

    def variance(self, rows: Index = None) -> Array:
        """Return the posterior variance (n, k)."""
        return self._of_each(lambda part: part.variance(rows)[:, None])

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return the posterior covariance (n, n, k)."""
        return self._of_each(lambda part: part.joint_covariance(rows)[:, :, None])

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return means and variances, both (D, k), NaN where a target is not known."""
        chosen = np.arange(len(self.labelled)) if among is None else among
        mean = np.full((len(chosen), self.n_targets), np.nan)
        variance = mean.copy()
        for posterior, columns, labels in self.groups:
            known = np.flatnonzero(np.isin(chosen, labels))
            found = posterior.leave_one_out(np.searchsorted(labels, chosen[known]))
            mean[np.ix_(known, columns)] = found.mean
            variance[np.ix_(known, columns)] = found.variance[:, None]
        return LeaveOneOut(mean, variance)

    def influence(self, rows: Index = None) -> Array:
        """Return what each label adds to the mean of nodes, (n, D, k)."""
        parts = [group.posterior.influence(rows) for group in self.groups]
        out = np.zeros((len(parts[0]), len(self.labelled), self.n_targets))
        for part, (_, columns, labels) in zip(parts, self.groups, strict=True):
            out[:, labels[:, None], columns] = part[:, :, None]
        return out

    def dual_weights(self) -> Array:
        """Return K⁻¹Y (D, k), of each target by its own noise; 0 where it is not known."""
        return self._at_labels(lambda part: part.dual_weights(), 0.0)

    def log_marginal_likelihood(self) -> float:
        """Return the log evidence, summed over the targets."""
        return sum(group.posterior.log_marginal_likelihood() for group in self.groups)

    def elsewhere(self, covariance: Covariance, labelled: Integers) -> Targetwise:
        """Return the same observations in a covariance that holds other nodes too."""
        groups = [
            group._replace(posterior=group.posterior.elsewhere(covariance, labelled[group.labels]))
            for group in self.groups
        ]
        return Targetwise(groups, labelled)

    def _of_each(self, answer: Callable[[Posterior], Array]) -> Array:
        """Return answers whose last axis is that of the targets."""
        parts = [answer(group.posterior) for group in self.groups]
        out = np.empty((*parts[0].shape[:-1], self.n_targets))
        for part, group in zip(parts, self.groups, strict=True):
            out[..., group.columns] = part
        return out

    def _at_labels(self, answer: Callable[[Posterior], Array], elsewhere: float) -> Array:
        """Return answers (D, k) about labels."""
        out = np.full((len(self.labelled), self.n_targets), elsewhere)
        for posterior, columns, labels in self.groups:
            out[np.ix_(labels, columns)] = answer(posterior)
        return out
