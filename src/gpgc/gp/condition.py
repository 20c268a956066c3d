"""A covariance and labels become a posterior, by the cheaper of two ways."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.gp.factor import CholeskyFactor
from gpgc.gp.from_root import label_gram
from gpgc.gp.function_space import FunctionSpace
from gpgc.gp.gaps import gap_groups
from gpgc.gp.labelled_root import LabelledRoot
from gpgc.gp.noise_path import NoisePath
from gpgc.gp.nystrom_space import NystromSpace
from gpgc.gp.posterior import Posterior
from gpgc.gp.targetwise import TargetGroup, Targetwise
from gpgc.gp.weight_space import WeightSpace
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
    path: NoisePath | None = None,
    root: LabelledRoot | None = None,
    space: Space = "auto",
) -> Posterior:
    """Condition a covariance on noisy values of labelled nodes.

    Parameters
    ----------
    covariance : Covariance
        Γ of all nodes.
    labelled : int array of shape (D,)
        The labelled nodes.
    targets : array of shape (D, k)
        Y; with a level for each target NaN where one is not known.
    levels : array of shape (1,) or (k,)
        σ_τ², one for all targets or one each.
    relative_noise : array of shape (D,), optional
        The noise of each label over σ_τ²; 1 when not given.
    path : NoisePath, optional
        Of all labels under this covariance, where it is known: nothing is factorised again.
    root : LabelledRoot, optional
        Of all labels under this covariance, where it is known.
    space : {"auto", "function", "weight"}, default "auto"
        Function space takes D³, weight space D r² + r³ for a covariance of rank r; both are
        exact. By default the cheaper one. For a covariance without a finite root weight space
        approximates it from landmarks (:class:`gpgc.gp.nystrom_space.NystromSpace`), by default
        where the matrices of function space do not fit in memory.

    Returns
    -------
    Posterior
        With variances of shape (n,) for one level, (n, k) for several targets of their own.
    """
    chosen = space_for(covariance, len(labelled), space)
    if space == "auto" and (levels == 0).any():
        chosen = "function"
    gram = None
    if chosen == "function" and path is None:
        covariance.context.require(
            _label_bytes(len(labelled)), f"the covariance of {len(labelled):,} labels"
        )
        gram = label_gram(covariance, labelled)

    def part(labels: Integers | slice, columns: Integers | slice, level: float) -> Posterior:
        nodes, known = labelled[labels], targets[labels][:, columns]
        relative = None if relative_noise is None else relative_noise[labels]
        is_whole = len(nodes) == len(labelled)
        if chosen == "weight" and covariance.rank is None:
            return NystromSpace(covariance, nodes, known, level, relative)
        if chosen == "weight":
            own = root.of_targets(columns) if root is not None and is_whole else None
            return WeightSpace(covariance, nodes, known, level, relative, own)
        if path is not None:
            return FunctionSpace(covariance, nodes, known, path.factor(level))
        assert gram is not None
        block = gram if is_whole else gram[labels][:, labels]
        noise = level if relative is None else level * relative
        return FunctionSpace(covariance, nodes, known, CholeskyFactor(block, noise))

    if len(levels) == 1:
        return part(slice(None), slice(None), float(levels[0]))
    groups = []
    for labels, columns in gap_groups(targets):
        for level in np.unique(levels[columns]).tolist():
            own = columns[levels[columns] == level]
            groups.append(TargetGroup(part(labels, own, level), own, labels))
    return Targetwise(groups, labelled)


def space_for(covariance: Covariance, n_labels: int, space: Space = "auto") -> Space:
    """Return the space in which a covariance is conditioned on so many labels.

    Parameters
    ----------
    covariance : Covariance
        Γ of all nodes.
    n_labels : int
        D.
    space : {"auto", "function", "weight"}, default "auto"
        The cheaper one, or which.
    """
    rank = covariance.rank
    if space not in get_args(Space):
        raise InputError(f"space must be one of {', '.join(get_args(Space))}, got {space!r}")
    if space != "auto":
        return space
    if rank is None:
        fits = covariance.context.memory.fits(_label_bytes(n_labels))
        return "function" if fits else "weight"
    return "weight" if rank < n_labels else "function"


def _label_bytes(n_labels: int) -> int:
    return 8 * LABEL_MATRICES * n_labels**2
