"""A covariance and labels become a posterior, by the cheaper of two ways; several targets apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from gpgc._typing import Array, Index, Integers
from gpgc.errors import InputError
from gpgc.gp.factor import LeaveOneOut, NoisePath, factorised
from gpgc.gp.function_space import FunctionSpace, label_gram
from gpgc.gp.nystrom_space import NystromSpace
from gpgc.gp.posterior import Posterior
from gpgc.gp.weight_space import LabelledRoot, WeightSpace
from gpgc.kernels import Covariance

Space: TypeAlias = Literal["auto", "function", "weight"]

LABEL_MATRICES = 4
"""D × D matrices in float64 that a factorisation holds at once."""


def condition(
    covariance: Covariance,
    labelled: Integers,
    targets: Array,
    levels: Array,
    *,
    relative_noise: Array | None = None,
    known: NoisePath | LabelledRoot | None = None,
    space: Space = "auto",
) -> Posterior:
    """Condition Γ on noisy Y (D, k), NaN where unknown, at σ_τ² levels of shape (1,) or (k,).

    All noise levels, or the root, of these labels under this covariance may be known already.
    """
    chosen = space_for(covariance, len(labelled), space)
    if space == "auto" and (levels == 0).any():
        chosen = "function"
    gram: Array = np.empty((0, 0))
    path = known if isinstance(known, NoisePath) else None
    if chosen == "function" and path is None:
        size = 8 * LABEL_MATRICES * len(labelled) ** 2
        covariance.context.require(size, f"the covariance of {len(labelled):,} labels")
        gram = label_gram(covariance, labelled)

    def part(labels: Integers | slice, columns: Integers | slice, level: float) -> Posterior:
        nodes, values = labelled[labels], targets[labels][:, columns]
        relative = None if relative_noise is None else relative_noise[labels]
        is_whole = len(nodes) == len(labelled)
        if chosen == "weight" and covariance.rank is None:
            return NystromSpace(covariance, nodes, values, level, relative)
        if chosen == "weight":
            if isinstance(known, LabelledRoot) and is_whole:
                return WeightSpace(known.of_targets(columns), level)
            return WeightSpace(LabelledRoot.of(covariance, nodes, values, relative), level)
        if path is not None:
            return FunctionSpace(covariance, nodes, values, path.inverse(level))
        block = gram if is_whole else gram[labels][:, labels]
        noise = level if relative is None else level * relative
        return FunctionSpace(covariance, nodes, values, factorised(block, noise))

    if len(levels) == 1:
        return part(slice(None), slice(None), float(levels[0]))
    groups = []
    for labels, columns in gap_groups(targets):
        for level in np.unique(levels[columns]).tolist():
            own = columns[levels[columns] == level]
            groups.append(TargetGroup(part(labels, own, level), own, labels))
    return Targetwise(groups, labelled)


def space_for(covariance: Covariance, n_labels: int, space: Space = "auto") -> Space:
    """Return the space that conditions Γ: function space takes D³, weight space D r² + r³.

    Both are exact. Without a finite root, weight space is that of landmarks (:class:`NystromSpace`)
    where the matrices of function space do not fit in memory.
    """
    rank = covariance.rank
    if space not in get_args(Space):
        raise InputError(f"space must be one of {', '.join(get_args(Space))}, got {space!r}")
    if space != "auto":
        return space
    if rank is None:
        fits = covariance.context.fits(8 * LABEL_MATRICES * n_labels**2)
        return "function" if fits else "weight"
    return "weight" if rank < n_labels else "function"


class GapGroup(NamedTuple):
    """Columns of the targets that are known at the same labels, sorted indices of all D."""

    labels: Integers
    columns: Integers


def gap_groups(targets: Array) -> list[GapGroup]:
    """Return targets of shape (D, k), NaN where one is not known, grouped by where they are.

    >>> nan = np.nan
    >>> for group in gap_groups(np.array([[1.0, nan, 2.0], [3.0, 4.0, 5.0], [nan, 6.0, nan]])):
    ...     print(group.columns, "known at", group.labels)
    [0 2] known at [0 1]
    [1] known at [1 2]
    """
    known = ~np.isnan(targets)
    if known.all():
        return [GapGroup(np.arange(len(targets)), np.arange(targets.shape[1]))]
    patterns: dict[bytes, list[int]] = {}
    for column in range(targets.shape[1]):
        patterns.setdefault(known[:, column].tobytes(), []).append(column)
    return [
        GapGroup(np.flatnonzero(known[:, columns[0]]), np.array(columns))
        for columns in patterns.values()
    ]


class TargetGroup(NamedTuple):
    """Columns of the targets that share noise and labels, and their posterior."""

    posterior: Posterior
    columns: Integers
    labels: Integers


class Targetwise(Posterior):
    """Independent regressions of k targets: variances (n, k), joint covariances (n, n, k).

    Where a target is not known, ``targets`` and leave-one-out are NaN, and the label adds nothing.
    """

    def __init__(self, groups: Sequence[TargetGroup], labelled: Integers) -> None:
        self.groups, self.labelled = tuple(groups), labelled
        self.n_targets = sum(len(group.columns) for group in groups)
        first = groups[0].posterior
        self.space, self.covariance = first.space, first.covariance
        said = [phrase for group in groups for phrase in group.posterior.approximations]
        self.approximations = tuple(dict.fromkeys(said))
        self.targets = np.full((len(labelled), self.n_targets), np.nan)
        for posterior, columns, labels in self.groups:
            self.targets[np.ix_(labels, columns)] = posterior.targets

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
