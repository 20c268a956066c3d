"""What a fit chooses by its labels: how far to trust the features alone, and the noise."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.gp import NoiseChoice, NoisePath, choose_noise
from gpgc.gp.selection import Criterion, clearly_better

MANY_LABELS = 2000
"""Labels from which the share of the features is chosen on so many of them; the noise is not."""


def choose_share_and_noise(
    candidates: Iterator[tuple[float, Array]],
    targets: Array,
    weights: Array,
    noise: float | str,
    criterion: Criterion,
    usual_noise: float | None,
) -> tuple[float, Array, NoiseChoice]:
    """Return the share of the features, the Γ_DD that it leads to, and the noise.

    Parameters
    ----------
    candidates : iterator of (share, array of shape (D, D))
        Shares of the features with their Γ_DD, the usual one first.
    targets : array of shape (D, k)
        Y.
    weights : array of shape (D,)
        What leaving each labelled node out counts.
    noise : float, "loo" or "evidence"
        σ_τ², or how to choose it.
    criterion : {"cross_entropy", "density"}
        What leaving out is judged by.
    usual_noise : float, optional
        Relative noise that few labels fall back on.
    """
    n_labels = len(targets)
    few = np.linspace(0, n_labels - 1, min(n_labels, MANY_LABELS)).astype(np.intp)

    def choice_at(nodes: Integers, gamma: Array) -> NoiseChoice:
        if not isinstance(noise, str):
            return NoiseChoice(float(noise))
        if noise not in ("loo", "evidence"):
            raise InputError(f"noise_variance must be a number, 'loo' or 'evidence', got {noise!r}")
        path = NoisePath(gamma[np.ix_(nodes, nodes)], targets[nodes])
        if noise == "evidence":
            return choose_noise(path, "evidence")
        return choose_noise(path, criterion, weights[nodes], usual_noise)

    best = next(candidates)
    best_choice = choice_at(few, best[1])
    if len(best_choice.losses):
        for candidate in candidates:
            choice = choice_at(few, candidate[1])
            if clearly_better(choice, best_choice):
                best, best_choice = candidate, choice
    if len(few) < n_labels:
        best_choice = choice_at(np.arange(n_labels), best[1])
    return *best, best_choice
