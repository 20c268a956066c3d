"""Why a node gets its label or value: what each given label adds to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.notebook import Shown
from gpgc.estimators.regressor import GPGCRegressor

SHOWN = 10
"""Labels that a printed record shows."""

DIGITS = 9
"""Of strengths, as parts of the largest, by which labels are put in order."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Shown):
    """Contributions of the given labels to the score of one node.

    Attributes
    ----------
    node : int
        The node that is explained.
    classes : array of shape (k,)
        Of a classifier its classes, of a regressor the numbers of its targets.
    predicted : label, float, or array of shape (k,)
        The node's label by the model, of a regressor its value or values.
    nodes : int array of shape (D,)
        The labelled nodes, those that decided most first.
    given : array of shape (D,) or (D, k)
        Their labels or values.
    contributions : array of shape (D, k)
        What each of them adds to the score of each class, or to the value of each target.
    offset : array of shape (k,)
        The score without any label: the class bias, with ``decision="balanced"`` less the logarithm
        of the class prior, or the mean of the given values.
    total : array of shape (k,)
        The score, offset plus contributions: that of ``decision_function``, whose largest is the
        predicted label, or the predicted value. In float64; predictions of a model that computes in
        float32 differ from it by their rounding.
    views : mapping of str to array of shape (k,)
        What the given labels add by way of each view of the nodes; offset plus these is the score
        again.
    names : array of shape (N,), or None
        The names of all nodes, where they have any.
    """

    node: int
    classes: NDArray[Any]
    predicted: Any
    nodes: Integers
    given: NDArray[Any]
    contributions: Array
    offset: Array
    total: Array
    views: Mapping[str, Array]
    names: NDArray[Any] | None = None

    def name(self, node: int) -> str:
        """Return what a node is called: its name, or "node 5" where it has none."""
        return f"node {node}" if self.names is None else str(self.names[node])

    def __str__(self) -> str:
        lines = [f"{self.name(self.node)}: {self.predicted}"]
        for index in self.deciding():
            parts = [f"{self.offset[index]:+.3f} without labels"]
            parts += [f"{added[index]:+.3f} by {name}" for name, added in self.views.items()]
            lines.append(f"{self.classes[index]}: {self.total[index]:.3f} = {', '.join(parts)}")
        for name, given, added, label in self._strongest():
            lines.append(f"{f'{added:+.3f} to {label}':>20}  {name}, given {given}")
        if len(self.nodes) > SHOWN:
            lines.append(f"{'':>20}  and {len(self.nodes) - SHOWN} that decided less")
        return "\n".join(lines)

    def _strongest(self) -> Iterator[tuple[str, Any, float, Any]]:
        """Give each label that decided: its node, itself, and to which class it adds most."""
        for node, given, row in zip(
            self.nodes[:SHOWN], self.given, self.contributions, strict=False
        ):
            strongest = int(np.abs(row).argmax())
            yield self.name(node), given, float(row[strongest]), self.classes[strongest]

    def table(self) -> tuple[str, Iterable[Any], Iterable[Iterable[Any]]]:
        """Return the labels that decided, those that decided most first."""
        found = ((name, given, f"{added:+.3f}", to) for name, given, added, to in self._strongest())
        title = f"{self.name(self.node)}: {self.predicted}"
        return title, ("label of", "given", "adds", "to"), found

    def deciding(self) -> list[int]:
        """Return the classes, by index, between which it was decided: the best two, best first.

        Of a regressor all targets.
        """
        if np.ndim(self.predicted):
            return list(range(len(self.total)))
        return [int(index) for index in np.argsort(-self.total, kind="stable")[:2]]


def explain(estimator: GraphProcess, node: int | str) -> Explanation:
    """Return what each label adds to a node's score: S_i Y_ic times s(m) / m, with mean m = S Y.

    S = Γ_UD K⁻¹, of several views their weighted sum. Both contributions and views add up exactly.
    """
    check_is_fitted(estimator)
    if np.ndim(node) != 0:
        raise InputError(f"node must be one node, got {node!r:.60}")
    names = estimator.node_names_
    rows = check_nodes(np.asarray([node]), len(estimator.prior_.nodes), names, "node")
    assert rows is not None
    posterior, labelled = estimator.posterior_, estimator.labelled_nodes_
    scale: Any
    given: NDArray[Any]
    if isinstance(estimator, GPGCRegressor):
        offset, scale = estimator.fit_.unit
        given, classes = estimator.given_values(), np.arange(len(offset))
        given = given[:, 0] if estimator.is_vector_ else given
    else:
        assert isinstance(estimator, GPGCClassifier)
        decision, classes = estimator.decision_, estimator.classes_
        given = classes[estimator.codes_]
        reached = estimator.prior_.nodes.reach.reached(labelled)[rows]
        offset = decision.scores(np.zeros((1, len(classes))), reached)[0]
        mean = estimator.predict_latent(rows)[0]
        flat = np.full(len(mean), decision.curve.temperature)
        # s(m) / m: the slope by which contributions to the mean add up to the score.
        scale = np.divide(decision.curve.scores(mean), mean, out=flat, where=mean != 0)
        scale = scale * float(reached[0])
    influence = posterior.influence(rows)[0]
    influence = influence[:, None] if influence.ndim == 1 else influence
    contributions = scale * influence * np.nan_to_num(posterior.targets)
    views = {v.name: scale * v.weight * v.posterior.mean(rows)[0] for v in posterior.views}
    total = offset + contributions.sum(axis=0)
    predicted: Any = total
    if isinstance(estimator, GPGCClassifier):
        predicted = estimator.predict()[rows[0]]
    elif np.ndim(given) == 1:
        predicted = float(total[0])
    found = Explanation(
        int(rows[0]),
        classes,
        predicted,
        labelled,
        given,
        contributions,
        offset,
        total,
        views,
        names,
    )
    strength = np.round(np.abs(contributions) / (np.abs(contributions).max() or 1.0), DIGITS)
    order = np.lexsort((-strength.sum(axis=1), -strength[:, found.deciding()].sum(axis=1)))
    return replace(
        found, nodes=labelled[order], given=given[order], contributions=contributions[order]
    )
