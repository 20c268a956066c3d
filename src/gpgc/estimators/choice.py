"""What a fit chooses by its labels: how far to trust the features alone, and the noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import NoiseChoice, NoisePath, choose_noise
from gpgc.gp.selection import Criterion, clearly_better, leave_out_at

MANY_LABELS = 2000
"""Labels from which the fraction of the features is chosen on so many of them; the noise is not."""


def choose_fraction_and_noise(
    candidates: Iterator[tuple[float, Array]],
    targets: Array,
    weights: Array,
    noise: Array | str,
    criterion: Criterion,
    usual_noise: float,
) -> tuple[float, Array, list[NoiseChoice]]:
    """Return the fraction of the features, the Γ_DD that it leads to, and the noise.

    The fraction is judged by leaving out, at the best noise of each or at the one that is given.

    Parameters
    ----------
    candidates : iterator of (fraction, array of shape (D, D))
        Fractions of the features with their Γ_DD, the usual one first.
    targets : array of shape (D, k)
        Y.
    weights : array of shape (D,)
        What leaving each labelled node out counts.
    noise : array, "loo" or "evidence"
        σ_τ², one for all targets of ``"cross_entropy"`` and one each of ``"density"``, or how to
        choose it.
    criterion : {"cross_entropy", "density"}
        What leaving out is judged by; targets share their noise in the first, not in the second.
    usual_noise : float
        Relative noise that few labels fall back on.
    """
    n_labels = len(targets)
    few = np.linspace(0, n_labels - 1, min(n_labels, MANY_LABELS)).astype(np.intp)

    def choose_at(nodes: Integers, gamma: Array) -> list[NoiseChoice]:
        path = NoisePath(gamma[np.ix_(nodes, nodes)], targets[nodes])
        apart = criterion == "density"
        parts = [path.of_target(j) for j in range(targets.shape[1])] if apart else [path]
        if isinstance(noise, str):
            return [choose_one(part, noise, weights[nodes]) for part in parts]
        return [
            leave_out_at(part, level, criterion, weights[nodes])
            for part, level in zip(parts, noise.tolist(), strict=True)
        ]

    def choose_one(path: NoisePath, how: str, counts: Array) -> NoiseChoice:
        if not path.targets.any():  # a constant target tells nothing of its noise
            return NoiseChoice(usual_noise * path.scale, losses=np.zeros(len(counts)))
        if how == "loo":
            return choose_noise(path, criterion, counts, usual_noise)
        level = choose_noise(path, "evidence").noise_variance
        return leave_out_at(path, level, criterion, counts)

    best = next(candidates)
    choices: list[NoiseChoice] = []
    for candidate in candidates:
        choices = choices or choose_at(few, best[1])
        rivals = choose_at(few, candidate[1])
        if clearly_better(_losses(rivals), _losses(choices)):
            best, choices = candidate, rivals
    if not isinstance(noise, str):
        choices = [NoiseChoice(level) for level in noise.tolist()]
    elif not choices or len(few) < n_labels:
        choices = choose_at(np.arange(n_labels), best[1])
    return *best, choices


def _losses(choices: list[NoiseChoice]) -> Array:
    return np.asarray(sum(choice.losses for choice in choices))
