"""What a fit chooses by its labels: the weights of the views, and the noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import LabelledRoot, LevelPath, NoisePath, Space, WeightPath, space_for
from gpgc.kernels import Mix
from gpgc.models import Prior, ViewWeights
from gpgc.selection.noise_choice import (
    Criterion,
    NoiseChoice,
    choose_noise,
    clearly_better,
    leave_out_at,
)
from gpgc.selection.noise_search import search_noise
from gpgc.selection.subset import evenly_spread

MANY_LABELS = 2000
"""Labels from which on so many of them, evenly spread, choose for all."""

LABEL_MATRICES = 7
"""D × D matrices in float64 that a choice holds at once."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Weights of the views and noise levels, with the path of noise levels behind them.

    Attributes
    ----------
    view_weights : mapping
        Name of a view → weight.
    levels : array of shape (1,) or (k,)
        σ_τ², one for all targets or one each.
    path : NoisePath or None
        Of all labels at these weights, where it was computed.
    root : LabelledRoot or None
        Of all labels at these weights, where the choice was made in weight space.
    """

    view_weights: ViewWeights
    levels: Array
    path: NoisePath | None = None
    root: LabelledRoot | None = None


def choose(
    prior: Prior,
    labelled: Integers,
    targets: Array,
    noise: Array | str,
    criterion: Criterion,
    weights: Array,
    relative_noise: Array | None = None,
    space: Space = "auto",
) -> Choice:
    """Choose the weights of the views and the noise by leaving labels out.

    Views are judged at the best noise of each, or at the one that is given; one is taken in place
    of the usual ones only if leaving out costs clearly less. Many labels of a covariance of small
    rank are judged all at once, in weight space. Otherwise 2,000 of them choose the views, and the
    noise too in function space; in weight space the search for the noise goes on from there, each
    of a sample of labels predicted from all others (:mod:`gpgc.selection.noise_search`).

    Parameters
    ----------
    prior : Prior
        Of all nodes.
    labelled : int array of shape (D,)
        The labelled nodes.
    targets : array of shape (D, k)
        Y.
    noise : array, "loo" or "evidence"
        σ_τ², one for all targets of ``"cross_entropy"`` and one each of ``"density"``, or how to
        choose it.
    criterion : {"cross_entropy", "density"}
        What leaving out is judged by; targets share their noise in the first, not in the second.
    weights : array of shape (D,)
        What leaving each labelled node out counts.
    relative_noise : array of shape (D,), optional
        The noise of each label over σ_τ²; 1 when not given.
    space : {"auto", "function", "weight"}, default "auto"
        As in :func:`gpgc.gp.condition`.
    """
    candidates = prior.view_weights
    if not isinstance(noise, str) and len(candidates) == 1:
        return Choice(candidates[0], noise)
    if isinstance(noise, str) and noise == "loo" and not weights.any():  # leaving out says nothing
        scale = float(np.mean(prior.covariance().diag(labelled), dtype=np.float64)) or 1.0
        n_levels = targets.shape[1] if criterion == "density" else 1
        return Choice(candidates[0], np.full(n_levels, prior.architecture.relative_noise * scale))
    few = evenly_spread(len(labelled), MANY_LABELS)
    usual = prior.architecture.relative_noise
    judge = _Judge(targets, noise, criterion, weights, usual)
    names = tuple(dict.fromkeys(name for weights_ in candidates for name in weights_))
    ranks = [prior.view(name).rank for name in names]
    total = None if None in ranks else sum(rank for rank in ranks if rank is not None)
    if space != "function" and total is not None and total < len(few) < len(labelled):
        root = _root_of_views(prior, names, labelled, targets, relative_noise)
        best = _best(candidates, judge, lambda w: WeightPath(_weighted(root, prior, names, w)))
        return Choice(
            best.view_weights, best.levels, root=_weighted(root, prior, names, best.view_weights)
        )
    prior.context.require(
        8 * LABEL_MATRICES * len(few) ** 2, f"the covariance of {len(few):,} labels"
    )
    nodes = labelled[few]
    grams = {name: prior.view(name).block(nodes, nodes) for name in names}
    relative = None if relative_noise is None else relative_noise[few]
    best = _best(
        candidates,
        replace(judge, targets=targets[few], weights=weights[few]),
        lambda w: NoisePath(_mixed(grams, w), targets[few], relative),
    )
    if len(few) == len(labelled):
        assert isinstance(best.path, NoisePath)
        return Choice(best.view_weights, best.levels, best.path)
    covariance = prior.covariance(best.view_weights)
    is_exact = covariance.rank is not None
    chosen = space_for(covariance, len(labelled), space)
    if not (isinstance(noise, str) and is_exact and chosen == "weight"):
        return Choice(best.view_weights, best.levels)
    root = LabelledRoot(covariance, labelled, targets, relative_noise)
    levels = search_noise(root, best.levels, noise, criterion, weights, usual)
    return Choice(best.view_weights, levels, root=root)


class _Best(NamedTuple):
    """The weights that were found best, with their noise and what was computed for them."""

    view_weights: ViewWeights
    path: LevelPath
    choices: list[NoiseChoice]

    @property
    def levels(self) -> Array:
        return np.array([choice.noise_variance for choice in self.choices])


def _best(
    candidates: Sequence[ViewWeights],
    judge: _Judge,
    path_of: Callable[[ViewWeights], LevelPath],
) -> _Best:
    """Return the first of the weights, or later ones where they are clearly better."""
    best: _Best | None = None
    for candidate in candidates:
        path = path_of(candidate)
        found = judge.choices(path)
        if best is None or clearly_better(_losses(found), _losses(best.choices)):
            best = _Best(candidate, path, found)
    assert best is not None
    return best


def _root_of_views(
    prior: Prior,
    names: Sequence[str],
    labelled: Integers,
    targets: Array,
    relative_noise: Array | None,
) -> LabelledRoot:
    """Return the labelled rows of the roots of all views, side by side."""
    every = Mix([prior.view(name) for name in names], [1.0] * len(names))
    return LabelledRoot(every, labelled, targets, relative_noise)


def _weighted(
    root: LabelledRoot, prior: Prior, names: Sequence[str], weights: ViewWeights
) -> LabelledRoot:
    """Return the root of views with weights, as rescaled columns of the root of all views."""
    ranks = [prior.view(name).rank or 0 for name in names]
    starts = dict(zip(names, np.cumsum([0, *ranks[:-1]]).tolist(), strict=True))
    columns, factors = [], []
    for name, weight in weights.items():
        if weight:
            rank = prior.view(name).rank or 0
            columns.append(np.arange(starts[name], starts[name] + rank))
            factors.append(np.full(rank, weight**0.5))
    return root.rescaled(
        prior.covariance(weights), np.concatenate(columns), np.concatenate(factors)
    )


@dataclass(frozen=True)
class _Judge:
    """Chooses the noise of one path, and says what leaving each label out costs at it."""

    targets: Array
    noise: Array | str
    criterion: Criterion
    weights: Array
    usual_noise: float

    def choices(self, path: LevelPath) -> list[NoiseChoice]:
        """Return one choice for all targets, or one for each."""
        apart = self.criterion == "density"
        parts = [path.of_target(j) for j in range(self.targets.shape[1])] if apart else [path]
        if isinstance(self.noise, str):
            return [self._choose(part, self.noise) for part in parts]
        return [
            leave_out_at(part, level, self.criterion, self.weights)
            for part, level in zip(parts, self.noise.tolist(), strict=True)
        ]

    def _choose(self, path: LevelPath, how: str) -> NoiseChoice:
        if not path.targets.any():  # a constant target tells nothing of its noise
            return NoiseChoice(self.usual_noise * path.scale, losses=np.zeros(len(self.weights)))
        if how == "loo":
            return choose_noise(path, self.criterion, self.weights, self.usual_noise)
        level = choose_noise(path, "evidence").noise_variance
        return leave_out_at(path, level, self.criterion, self.weights)


def _mixed(grams: Mapping[str, Array], weights: ViewWeights) -> Array:
    """Return the weighted sum of the views' matrices, in their number format."""
    terms = [weight * grams[name] for name, weight in weights.items() if weight]
    return reduce(np.add, terms)


def _losses(choices: list[NoiseChoice]) -> Array:
    return np.asarray(sum(choice.losses for choice in choices))
