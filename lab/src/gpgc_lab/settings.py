"""Settings of a network, scored at all noise levels and ordered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gpgc.gp import NoisePath
from gpgc.graph import Normalization
from gpgc.kernels import BaseKernel
from gpgc.models import Architecture
from gpgc.probability.softmax import cross_entropies
from gpgc.probability.temperature import fit_temperature
from gpgc_lab.array_types import Array, Integers

SelectionCriterion = Literal["validation", "validation_loss", "loo", "evidence"]


@dataclass(frozen=True)
class Setting:
    """One setting with its scores, a row of ``Selection.table``.

    Attributes
    ----------
    model, base_kernel, feature_norm, normalization : see `GPGCClassifier`
        The network and how features and graph are scaled.
    noise_variance : float
        σ_τ² at δ_W = 1. Without bias only σ_τ²/δ_W^L matters, so this covers δ_W.
    validation_accuracy, validation_cross_entropy : float or None
        On the validation nodes, where there are any; the latter, of a softmax with a temperature
        fitted to them, only where it is the criterion.
    loo_accuracy, loo_cross_entropy : float
        Leave-one-out on the training labels, the latter of a softmax with a fitted temperature.
    evidence : float
        Log marginal likelihood of the training labels.
    """

    model: str | Architecture
    base_kernel: BaseKernel
    feature_norm: str
    normalization: Normalization
    noise_variance: float = 0.0
    validation_accuracy: float | None = None
    validation_cross_entropy: float | None = None
    loo_accuracy: float = np.nan
    loo_cross_entropy: float = np.nan
    evidence: float = np.nan

    def is_of(self, other: Setting) -> bool:
        """Tell whether two settings differ in noise only."""
        mine, theirs = self.parameters(), other.parameters()
        return all(mine[name] == theirs[name] for name in mine if name != "noise_variance")

    def parameters(self) -> dict[str, Any]:
        """Return the setting as parameters of `GPGCClassifier`."""
        names = ("model", "base_kernel", "feature_norm", "normalization", "noise_variance")
        return {name: getattr(self, name) for name in names}


def score_noise_levels(
    columns: Array,
    setting: Setting,
    codes: Integers,
    truth: Integers,
    relative_noise: Array,
    validation_loss: bool = False,
) -> list[Setting]:
    """Return the setting at every noise level with its scores.

    Parameters
    ----------
    columns : array of shape (D + n, D)
        Γ between D training nodes, followed by n validation nodes, which may be none, and the
        training nodes.
    setting : Setting
        Without noise.
    codes, truth : int arrays of shapes (D,) and (n,)
        Class codes of the training and of the validation nodes.
    relative_noise : array
        Noise levels, relative to the mean prior variance of the training nodes.
    validation_loss : bool
        Whether the cross-entropy of the validation nodes is wanted, which takes longest.
    """
    targets = np.eye(int(codes.max()) + 1)[codes]
    path = NoisePath(columns[: len(codes)], targets)
    grid = relative_noise * path.scale
    levels = path.at(grid)
    loo, _ = levels.leave_one_out()
    loss = cross_entropies(loo, targets, fit_temperature(loo, targets)).mean(axis=1)
    hits = (loo.argmax(axis=2) == codes).mean(axis=1)
    evidence = levels.log_marginal_likelihood()
    right: list[float | None] = [None] * len(grid)
    cost: list[float | None] = [None] * len(grid)
    if len(truth):
        scores = columns[len(codes) :] @ path.inverse(grid).solve(targets)
        right = list((scores.argmax(axis=2) == truth).mean(axis=1).astype(float))
    if len(truth) and validation_loss:
        wanted = np.eye(targets.shape[1])[truth]
        cost = list(cross_entropies(scores, wanted, fit_temperature(scores, wanted)).mean(axis=1))
    scored = zip(grid, right, cost, hits, loss, evidence, strict=True)
    return [
        replace(
            setting,
            noise_variance=float(noise),
            validation_accuracy=accuracy,
            validation_cross_entropy=None if entropy is None else float(entropy),
            loo_accuracy=float(hit),
            loo_cross_entropy=float(loo_entropy),
            evidence=float(log_likelihood),
        )
        for noise, accuracy, entropy, hit, loo_entropy, log_likelihood in scored
    ]


def order_by(criterion: SelectionCriterion) -> Callable[[Setting], tuple[float, float]]:
    """Return the key by which settings are ordered, best first."""
    if criterion == "validation":
        return lambda row: (-(row.validation_accuracy or 0.0), row.loo_cross_entropy)
    if criterion == "validation_loss":
        return lambda row: (row.validation_cross_entropy or 0.0, row.loo_cross_entropy)
    if criterion == "loo":
        return lambda row: (row.loo_cross_entropy, -row.noise_variance)
    return lambda row: (-row.evidence, -row.noise_variance)
