"""Class probabilities that keep up with the labels as they come and go."""

from __future__ import annotations

from typing import Self

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.estimators import GPGCClassifier
from gpgc.labelling.growing import Growing, GrowingPosterior
from gpgc.labelling.growing_weights import GrowingWeights
from gpgc.labelling.opinion import strongest
from gpgc.probability.softmax import softmax


class LabelPosterior:
    """The posterior of one-hot labels, with noise and temperature as one fit chose them.

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted; its covariance, noise and temperature are used.
    nodes : int array of shape (n,), optional
        Sorted nodes whose probabilities are kept; all when not given.

    Attributes
    ----------
    n_chosen_by : int
        Number of labels behind noise and temperature.
    classes : tuple
        Those of the fit, in its order.
    overview : tuple of two uint8 arrays of shape (N,), or None
        Where few nodes are kept: the classes of all by the fit, as :func:`strongest` gives them.

    Examples
    --------
    >>> chain = (np.arange(5), np.arange(1, 6))
    >>> fitted = GPGCClassifier().fit(None, [0, -1, -1, -1, -1, 1], adjacency=chain)
    >>> posterior = LabelPosterior(fitted)
    >>> posterior.follow({0: 0, 5: 1}, n_classes=2)
    >>> posterior.probability().argmax(axis=1)
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, estimator: GPGCClassifier, nodes: Integers | None = None) -> None:
        noise = max(estimator.noise_variance_, np.finfo(np.float64).tiny)
        rank, n_labels = estimator.covariance_.rank, len(estimator.labelled_nodes_)
        in_weights = rank is not None and rank < n_labels
        kind = GrowingWeights if in_weights else GrowingPosterior
        self.growing: Growing = kind(estimator.covariance_, noise, 0, nodes)
        self.curve = estimator.calibration_.curve
        self.temperature = self.curve.temperature
        self.n_chosen_by = len(estimator.labelled_nodes_)
        self.overview = None if nodes is None else strongest(estimator.predict_proba())
        self.classes = tuple(estimator.classes_.tolist())
        self._prior = float(self.growing.variance.sum())
        self._codes: list[int] = []

    def follow(self, codes: dict[int, int], n_classes: int) -> None:
        """Condition on these labels: what went is forgotten, what changed or came is learnt.

        Parameters
        ----------
        codes : dict of int to int
            Class of each labelled node.
        n_classes : int
            k.
        """
        growing = self.growing
        gone = [node for node in growing.observed if node not in codes]
        if gone:
            growing.remove(gone)
        kept = [codes[node] for node in growing.observed]
        targets = np.eye(n_classes)
        if kept != self._codes or growing.mean.shape[1] > n_classes:
            growing.retarget(targets[kept].reshape(len(kept), n_classes))
        else:
            growing.widen(n_classes)
        known = set(growing.observed)
        fresh = [node for node in codes if node not in known]
        growing.observe(fresh, targets[[codes[node] for node in fresh]].reshape(-1, n_classes))
        self._codes = [codes[node] for node in growing.observed]

    def probability(self) -> Array:
        """Return the probability (n, k) of each class at the kept nodes."""
        return softmax(self.curve.scores(self.growing.mean))

    def explained(self) -> float:
        """Return the fraction of the prior variance that the labels explain."""
        return 1 - float(self.growing.variance.sum()) / self._prior if self._prior else 0.0

    def copy(self) -> Self:
        """Return a posterior that may go on by itself."""
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {
            "growing": self.growing.copy(),
            "_codes": self._codes.copy(),
        }
        return other
