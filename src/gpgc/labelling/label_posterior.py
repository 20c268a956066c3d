"""Class probabilities that keep up with the labels as they come and go."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.estimators import GPGCClassifier
from gpgc.gp import Smoother, StackedView
from gpgc.labelling.growing import Growing, GrowingPosterior, GrowingSmoother, GrowingWeights
from gpgc.labelling.opinion import strongest
from gpgc.probability.softmax import softmax


class GrowingPart(NamedTuple):
    """One view of a stack: what its mean counts, and its posterior."""

    weight: float
    growing: Growing


class LabelPosterior:
    """The posterior of one-hot labels, with noise and temperature as one fit chose them."""

    def __init__(self, estimator: GPGCClassifier, nodes: Integers | None = None) -> None:
        n_labels = len(estimator.labelled_nodes_)
        stack = estimator.posterior_
        self.parts = [
            GrowingPart(float(view.weight[0]), _growing(view, estimator, n_labels, nodes))
            for view in stack.views
        ]
        self.curve = estimator.calibration_.curve
        self.temperature = self.curve.temperature
        self.n_chosen_by = n_labels
        self.overview = None if nodes is None else strongest(estimator.predict_proba())
        self.classes = tuple(estimator.classes_.tolist())
        self._codes: list[int] = []
        self._prior = [float(part.growing.variance.sum()) for part in self.parts]

    @property
    def growing(self) -> Growing:
        """The posterior of the view that counts most."""
        return self.parts[0].growing

    def follow(self, codes: dict[int, int], n_classes: int) -> None:
        """Condition on these labels: what went is forgotten, what changed or came is learnt."""
        observed = self.growing.observed
        changed = [codes[node] for node in observed if node in codes] != [
            code for node, code in zip(observed, self._codes, strict=True) if node in codes
        ]
        for part in self.parts:
            _follow(part.growing, codes, n_classes, changed)
        self._codes = [codes[node] for node in self.growing.observed]

    @property
    def mean(self) -> Array:
        """Latent means (n, k) at the kept nodes."""
        return np.asarray(sum(part.weight * part.growing.mean for part in self.parts))

    def probability(self) -> Array:
        """Return the probability (n, k) of each class at the kept nodes."""
        return softmax(self.curve.scores(self.mean))

    def explained(self) -> float:
        """Return the fraction of the prior variance that the labels explain."""
        prior = sum(part.weight * one for part, one in zip(self.parts, self._prior, strict=True))
        left = sum(part.weight * float(part.growing.variance.sum()) for part in self.parts)
        return 1 - left / prior if prior else 0.0

    def copy(self) -> Self:
        """Return a posterior that may go on by itself."""
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {
            "parts": [part._replace(growing=part.growing.copy()) for part in self.parts],
            "_codes": self._codes.copy(),
        }
        return other


def _growing(
    view: StackedView, estimator: GPGCClassifier, n_labels: int, nodes: Integers | None
) -> Growing:
    """Return the posterior of one view, without labels."""
    posterior = view.posterior
    if isinstance(posterior, Smoother):
        return GrowingSmoother(posterior.kernel, nodes)
    noise = max(float(estimator.noise_levels_[view.name][0]), np.finfo(np.float64).tiny)
    rank = posterior.covariance.rank
    kind = GrowingWeights if rank is not None and rank < n_labels else GrowingPosterior
    return kind(posterior.covariance, noise, 0, nodes)


def _follow(growing: Growing, codes: dict[int, int], n_classes: int, changed: bool) -> None:
    """Condition one view on labels."""
    gone = [node for node in growing.observed if node not in codes]
    if gone:
        growing.remove(gone)
    kept = [codes[node] for node in growing.observed]
    targets = np.eye(n_classes)
    if changed or growing.mean.shape[1] > n_classes:
        growing.retarget(targets[kept].reshape(len(kept), n_classes))
    else:
        growing.widen(n_classes)
    known = set(growing.observed)
    fresh = [node for node in codes if node not in known]
    growing.observe(fresh, targets[[codes[node] for node in fresh]].reshape(-1, n_classes))
