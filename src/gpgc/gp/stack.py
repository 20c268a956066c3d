"""Several Gaussian processes of the same labels, one for each view, and their weighted sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.gp.factor import LeaveOneOut
from gpgc.gp.posterior import Posterior
from gpgc.gp.smoother import Smoother
from gpgc.kernels import Covariance, Mix


@dataclass(frozen=True, eq=False)
class StackedView:
    """One Gaussian process of a stack, and w_v, (1,) or (k,) for all targets or for each."""

    name: str
    weight: Array
    posterior: Posterior | Smoother


@dataclass(frozen=True, eq=False)
class Stack:
    """m = Σ w_v m_v and s² = c Σ p_v s_v², p_v = w_v / Σ w, of views given the same labels.

    c (``inflation``), from left-out residuals of values, says how far variances are to be believed.
    A node of which a view knows nothing, of prior variance 0, has the usual one of the labels.
    """

    views: Sequence[StackedView]
    inflation: Array = field(default_factory=lambda: np.ones(1))
    usual: Sequence[float] | None = None  # where it is known: a stack may hold no labelled nodes

    @property
    def labelled(self) -> Integers:
        """The labelled nodes (D,)."""
        return self.views[0].posterior.labelled

    @property
    def targets(self) -> Array:
        """Y (D, k), NaN where a target is not known."""
        return self.views[0].posterior.targets

    @property
    def space(self) -> Literal["function", "weight", "both"]:
        """Where the posteriors were computed."""
        spaces = {view.posterior.space for view in self.views}
        return spaces.pop() if len(spaces) == 1 else "both"

    @property
    def approximations(self) -> tuple[str, ...]:
        """What is not exact about the posteriors, a phrase each."""
        said = [phrase for view in self.views for phrase in view.posterior.approximations]
        return tuple(dict.fromkeys(said))

    @cached_property
    def shares(self) -> list[Array]:
        """P of each view, of shape (1,) or (k,); equal ones where all weights are 0."""
        return shares_of([view.weight for view in self.views])

    @cached_property
    def covariance(self) -> Covariance:
        """Σ p_v Γ_v of all nodes over the views that have a covariance, p the mean over targets."""
        known = [
            (view.posterior.covariance, float(share.mean()))
            for view, share in zip(self.views, self.shares, strict=True)
            if isinstance(view.posterior, Posterior)
        ]
        total = sum(share for _, share in known)
        if len(known) == 1:
            return known[0][0]
        shares = [share / total for _, share in known] if total else None
        return Mix([part for part, _ in known], shares)

    @cached_property
    def usual_variances(self) -> Sequence[float]:
        """Mean prior variance of the labelled nodes by each view, 1 where that is 0."""
        return self.usual or [
            float(np.mean(view.posterior.prior_variance(self.labelled))) or 1.0
            for view in self.views
        ]

    def mean(self, rows: Index = None) -> Array:
        """Return Σ w_v m_v (n, k) of nodes; of all when not given."""
        return np.asarray(sum(view.weight * view.posterior.mean(rows) for view in self.views))

    def variance(self, rows: Index = None) -> Array:
        """Return c Σ p_v s_v² of nodes, without noise, of shape (n,) or (n, k)."""
        found = []
        for view, usual in zip(self.views, self.usual_variances, strict=True):
            variance = view.posterior.variance(rows)
            variance[view.posterior.prior_variance(rows) == 0] = usual
            found.append(variance)
        return self._averaged(found)

    def joint_covariance(self, rows: Index = None) -> Array:
        """Return c Σ p_v Λ_v of nodes, of shape (n, n) or (n, n, k)."""
        found = []
        for view, usual in zip(self.views, self.usual_variances, strict=True):
            joint = view.posterior.joint_covariance(rows)
            blank = np.flatnonzero(view.posterior.prior_variance(rows) == 0)
            joint[blank, blank] = usual
            found.append(joint)
        return self._averaged(found)

    def leave_one_out(self, among: Integers | None = None) -> LeaveOneOut:
        """Return how each label, or each of some, is predicted from all others, in closed form."""
        found = [view.posterior.leave_one_out(among) for view in self.views]
        mean = sum(view.weight * one.mean for view, one in zip(self.views, found, strict=True))
        return LeaveOneOut(np.asarray(mean), self._averaged(one.variance for one in found))

    def influence(self, rows: Index = None) -> Array:
        """Return S of mean = S Y, (n, D), or (n, D, k) of targets with posteriors of their own."""
        found = [view.posterior.influence(rows) for view in self.views]
        weights = [view.weight for view in self.views]
        return np.asarray(
            sum(w * S if S.ndim == 3 else w[0] * S for w, S in zip(weights, found, strict=True))
        )

    def log_marginal_likelihood(self) -> float:
        """Return Σ p_v log evidence_v, with shares that are means over the targets."""
        found = [view.posterior.log_marginal_likelihood() for view in self.views]
        return float(sum(p.mean() * one for p, one in zip(self.shares, found, strict=True)))

    def elsewhere(self, covariances: Mapping[str, Any], labelled: Integers) -> Stack:
        """Return the same observations in covariances or kernels, by view, of other nodes too."""
        moved = [
            replace(view, posterior=view.posterior.elsewhere(covariances[view.name], labelled))
            for view in self.views
        ]
        return replace(self, views=moved)

    def _averaged(self, found: Iterable[Array]) -> Array:
        """Return c Σ p_v of what the views answer; of k targets, these are its last axis."""
        shares = zip(self.shares, found, strict=True)
        return np.asarray(sum(part * (share * self.inflation) for share, part in shares))


def shares_of(weights: Sequence[Array]) -> list[Array]:
    """Return p_v = w_v / Σ_u w_u of each view, of shape (1,) or (k,); equal ones of zeros."""
    total = np.sum(weights, axis=0)
    known = np.where(total > 0, total, 1.0)
    return [np.where(total > 0, weight / known, 1 / len(weights)) for weight in weights]
