"""What pictures and reports show of a fitted classifier, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.estimators import GPGCClassifier
from gpgc.plot.layout import layouts

FAINTEST = 0.15


@dataclass(frozen=True, eq=False)
class Answers:
    """Labels (N,), given or else predicted, as codes too; probabilities (N, k); whose was given."""

    labels: NDArray[Any]
    codes: Integers
    probabilities: Array
    given: NDArray[np.bool_]

    @classmethod
    def of(cls, model: GPGCClassifier) -> Answers:
        """Return what a fitted classifier says."""
        check_is_fitted(model)
        given = np.zeros(len(model.prior_.nodes), dtype=bool)
        given[model.labelled_nodes_] = True
        labels = model.transduction_
        return cls(labels, np.searchsorted(model.classes_, labels), model.predict_proba(), given)

    @property
    def probability(self) -> Array:
        """The probability (N,) of each node's label."""
        return self.probabilities[np.arange(len(self.codes)), self.codes]

    @property
    def opacity(self) -> Array:
        """How strongly (N,) nodes are drawn: full at probability 1, faint at that of a guess."""
        guess = 1 / max(self.probabilities.shape[1], 2)
        above = np.clip((self.probability - guess) / (1 - guess), 0, 1)
        return np.asarray(FAINTEST + (1 - FAINTEST) * above)


def positions_of(model: GPGCClassifier, drawn: Integers | None = None, seed: int = 0) -> Array:
    """Return where nodes stand on a map, (n, 2), between 0 and 1: all, or those that are drawn."""
    nodes = model.prior_.nodes
    features, adjacency = nodes.features, nodes.adjacency
    if drawn is not None:
        features = None if features is None else features[drawn]
        adjacency = adjacency[drawn][:, drawn]
    *_, places = layouts(features, adjacency, seed)
    return np.asarray(places / 65_535)
