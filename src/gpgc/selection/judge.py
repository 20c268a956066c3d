"""What leaving labels out says of a covariance: the noise that fits it best, and the loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import LevelPath, NoisePath
from gpgc.selection.noise_choice import Criterion, NoiseChoice, choose_noise, leave_out_at


@dataclass(frozen=True, eq=False)
class Verdict:
    """A covariance of labels, judged.

    Attributes
    ----------
    path : NoisePath
        Of all its noise levels.
    choices : list of NoiseChoice
        The noise for all targets, or one for each.
    """

    path: NoisePath
    choices: list[NoiseChoice]

    @property
    def levels(self) -> Array:
        """The chosen σ_τ², one for all targets or one each."""
        return levels_of(self.choices)

    @property
    def losses(self) -> Array:
        """What leaving each label out costs, of shape (D,)."""
        return np.asarray(sum(choice.losses for choice in self.choices))


@dataclass(frozen=True, eq=False)
class Judge:
    """Chooses the noise of covariances of the same labels, and says what leaving out costs at it.

    Parameters
    ----------
    targets : array of shape (D, k)
        Y.
    noise : array, "loo" or "evidence"
        σ_τ², one for all targets or one each, or how to choose it.
    criterion : {"cross_entropy", "density"}
        What leaving out is judged by; targets share their noise in the first, not in the second.
    weights : array of shape (D,)
        What leaving each label out counts.
    usual_noise : float
        Relative noise that is usual for the covariance.
    relative_noise : array of shape (D,), optional
        The noise of each label over σ_τ²; 1 when not given.
    """

    targets: Array
    noise: Array | str
    criterion: Criterion
    weights: Array
    usual_noise: float
    relative_noise: Array | None = None

    def on(self, path: LevelPath) -> list[NoiseChoice]:
        """Return one choice for all targets, or one for each."""
        apart = self.criterion == "density"
        parts = [path.of_target(j) for j in range(self.targets.shape[1])] if apart else [path]
        if isinstance(self.noise, str):
            return [self._choose(part, self.noise) for part in parts]
        return [
            leave_out_at(part, level, self.criterion, self.weights)
            for part, level in zip(parts, self.noise.tolist(), strict=True)
        ]

    def on_gram(self, gram: Array) -> Verdict:
        """Judge a covariance of shape (D, D)."""
        path = NoisePath(gram, self.targets, self.relative_noise)
        return Verdict(path, self.on(path))

    def of(self, labels: Integers) -> Judge:
        """Return a judge of some of the labels."""
        relative = None if self.relative_noise is None else self.relative_noise[labels]
        return Judge(
            self.targets[labels],
            self.noise,
            self.criterion,
            self.weights[labels],
            self.usual_noise,
            relative,
        )

    def _choose(self, path: LevelPath, how: str) -> NoiseChoice:
        if not path.targets.any():  # a constant target tells nothing of its noise
            return NoiseChoice(self.usual_noise * path.scale, losses=np.zeros(len(self.weights)))
        if how == "loo":
            return choose_noise(path, self.criterion, self.weights, self.usual_noise)
        level = choose_noise(path, "evidence").noise_variance
        return leave_out_at(path, level, self.criterion, self.weights)


def levels_of(choices: list[NoiseChoice]) -> Array:
    """Return the noise σ_τ² of each choice."""
    return np.array([choice.noise_variance for choice in choices])
