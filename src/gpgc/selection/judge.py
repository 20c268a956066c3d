"""What leaving labels out says of a covariance: the noise that fits it best, and the loss."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.gp import GapGroup, LevelPath, NoisePath, gap_groups
from gpgc.selection.noise_choice import Criterion, NoiseChoice, choose_noise, leave_out_at


@dataclass(frozen=True, eq=False)
class Verdict:
    """A covariance of labels, judged.

    Attributes
    ----------
    path : NoisePath or None
        Of all its noise levels; None where targets are not known at the same labels.
    choices : list of NoiseChoice
        The noise for all targets, or one for each.
    """

    path: NoisePath | None
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
        Y, NaN where a target of ``"density"`` is not known.
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
        if np.isnan(self.targets).any():
            return Verdict(None, self._with_gaps(gram))
        path = NoisePath(gram, self.targets, self.relative_noise)
        return Verdict(path, self.on(path))

    def of(self, labels: Integers) -> Judge:
        """Return a judge of some of the labels."""
        relative = None if self.relative_noise is None else self.relative_noise[labels]
        return replace(
            self,
            targets=self.targets[labels],
            weights=self.weights[labels],
            relative_noise=relative,
        )

    def of_group(self, group: GapGroup) -> Judge:
        """Return a judge of targets of ``"density"`` that are known at the same labels."""
        judge = self.of(group.labels)
        noise = self.noise if isinstance(self.noise, str) else self.noise[group.columns]
        weights = judge.weights * (len(group.labels) > 1)  # one value cannot be left out
        return replace(judge, targets=judge.targets[:, group.columns], noise=noise, weights=weights)

    def _with_gaps(self, gram: Array) -> list[NoiseChoice]:
        """Return a choice for each target, with losses of 0 where it is not known."""
        scale = float(np.trace(gram, dtype=np.float64)) / len(gram) or 1.0
        unknown = NoiseChoice(self.usual_noise * scale, losses=np.zeros(len(self.targets)))
        choices = dict.fromkeys(range(self.targets.shape[1]), unknown)
        for group in gap_groups(self.targets):
            if not len(group.labels):  # of the labels that judge, none knows these targets
                continue
            found = self.of_group(group).on_gram(gram[group.labels][:, group.labels]).choices
            for column, choice in zip(group.columns.tolist(), found, strict=True):
                losses = np.zeros(len(self.targets))
                losses[group.labels] = choice.losses
                choices[column] = replace(choice, losses=losses)
        return list(choices.values())

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
