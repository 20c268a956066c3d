"""Going on with the search for the noise where all labels are used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import LabelledRoot, SampledLevels
from gpgc.selection.noise_choice import PULL, Criterion, leave_out_at, noise_bounds

STEP = 10**0.5
"""By what the noise is multiplied or divided from one try to the next."""

SAMPLE = 2000
"""Labels that are left out in turn, each predicted from all others."""


def search_noise(
    root: LabelledRoot,
    among: Integers,
    start: Array,
    how: str,
    criterion: Criterion,
    weights: Array,
    usual_noise: float,
) -> Array:
    """Walk from noise levels to better ones, while the score on all labels grows.

    More labels want less noise (Pubmed, 10,000 labels: 2,000 of them choose 1.6e-3, all of them
    1e-4 and less, and 0.6 % more nodes are right). The score is that of
    :func:`gpgc.selection.noise_choice.choose_noise`, on a sample of labels where they are left
    out.

    Parameters
    ----------
    root : LabelledRoot
        Of all labels.
    among : int array
        Which labels are left out in turn; :data:`SAMPLE` of them are enough.
    start : array of shape (1,) or (k,)
        Noise levels that a part of the labels chose, one for all targets or one each.
    how : {"loo", "evidence"}
        By what.
    criterion : {"cross_entropy", "density"}
        What leaving out is judged by.
    weights : array of shape (D,)
        What leaving each label out counts.
    usual_noise : float
        Relative noise that is usual for the covariance.

    Returns
    -------
    array of the shape of ``start``
    """
    n_labels = len(root.labelled)
    levels = SampledLevels(root, among)
    found = []
    for column, first in enumerate(start.tolist()):
        path = levels if len(start) == 1 else levels.of_target(column)

        def score(noise: float, path: SampledLevels = path) -> float:
            if how == "evidence":
                return float(path.log_marginal_likelihood(np.array([noise]))[0])
            losses = leave_out_at(path, noise, criterion, weights[among]).losses
            pull = PULL * np.log10(noise / path.scale / usual_noise) ** 2
            return -float(losses.sum()) * n_labels / len(among) - float(pull)

        # Levels are powers of the step, so that targets share what is computed at a level.
        exponent = round(np.log(first / levels.scale) / np.log(STEP))
        found.append(_climb(score, exponent, levels.scale, noise_bounds(path)))
    return np.array(found)


def _climb(
    score: Callable[[float], float], exponent: int, scale: float, bounds: tuple[float, float]
) -> float:
    """Return the noise at the top of the hill that a first one stands on."""
    low, high = (np.log(bound) / np.log(STEP) for bound in bounds)

    def at(index: int) -> float:
        return score(scale * STEP**index) if low <= index <= high else -np.inf

    best, here = exponent, at(exponent)
    for direction in (-1, 1):
        while (there := at(best + direction)) > here:
            best, here = best + direction, there
        if best != exponent:
            break
    return float(scale * STEP**best)
