"""What a fit chooses by its labels: the weights of the views, and the noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp.noise_path import NoisePath
from gpgc.models import Prior, ViewWeights
from gpgc.selection.noise_choice import (
    Criterion,
    NoiseChoice,
    choose_noise,
    clearly_better,
    leave_out_at,
)

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
    """

    view_weights: ViewWeights
    levels: Array
    path: NoisePath | None = None


def choose(
    prior: Prior,
    labelled: Integers,
    targets: Array,
    noise: Array | str,
    criterion: Criterion,
    weights: Array,
    relative_noise: Array | None = None,
) -> Choice:
    """Choose the weights of the views and the noise by leaving labels out.

    Views are judged at the best noise of each, or at the one that is given; one is taken in place
    of the usual ones only if leaving out costs clearly less.

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
    """
    candidates = prior.view_weights
    if not isinstance(noise, str) and len(candidates) == 1:
        return Choice(candidates[0], noise)
    if isinstance(noise, str) and noise == "loo" and not weights.any():  # leaving out says nothing
        scale = float(np.mean(prior.covariance().diag(labelled), dtype=np.float64)) or 1.0
        n_levels = targets.shape[1] if criterion == "density" else 1
        return Choice(candidates[0], np.full(n_levels, prior.architecture.relative_noise * scale))
    few = np.linspace(0, len(labelled) - 1, min(len(labelled), MANY_LABELS)).astype(np.intp)
    prior.context.require(
        8 * LABEL_MATRICES * len(few) ** 2, f"the covariance of {len(few):,} labels"
    )
    grams = {
        name: prior.view(name).block(labelled[few], labelled[few])
        for name in dict.fromkeys(name for weights_ in candidates for name in weights_)
    }
    relative = None if relative_noise is None else relative_noise[few]
    judge = _Judge(targets[few], noise, criterion, weights[few], prior.architecture.relative_noise)
    best: tuple[ViewWeights, NoisePath, list[NoiseChoice]] | None = None
    for candidate in candidates:
        path = NoisePath(_mixed(grams, candidate), targets[few], relative)
        found = judge.choices(path)
        if best is None or clearly_better(_losses(found), _losses(best[2])):
            best = candidate, path, found
    assert best is not None
    levels = np.array([choice.noise_variance for choice in best[2]])
    return Choice(best[0], levels, best[1] if len(few) == len(labelled) else None)


@dataclass(frozen=True)
class _Judge:
    """Chooses the noise of one path, and says what leaving each label out costs at it."""

    targets: Array
    noise: Array | str
    criterion: Criterion
    weights: Array
    usual_noise: float

    def choices(self, path: NoisePath) -> list[NoiseChoice]:
        """Return one choice for all targets, or one for each."""
        apart = self.criterion == "density"
        parts = [path.of_target(j) for j in range(self.targets.shape[1])] if apart else [path]
        if isinstance(self.noise, str):
            return [self._choose(part, self.noise) for part in parts]
        return [
            leave_out_at(part, level, self.criterion, self.weights)
            for part, level in zip(parts, self.noise.tolist(), strict=True)
        ]

    def _choose(self, path: NoisePath, how: str) -> NoiseChoice:
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
