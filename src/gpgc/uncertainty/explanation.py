"""Why a node gets its label or value: what each given label adds to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.probabilities import ClassProcess
from gpgc.estimators.regressor import GPGCRegressor

SHOWN = 10
"""Labels that a printed record shows."""


@dataclass(frozen=True, eq=False)
class Explanation:
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
        for node, given, row in zip(
            self.nodes[:SHOWN], self.given, self.contributions, strict=False
        ):
            strongest = int(np.abs(row).argmax())
            added = f"{row[strongest]:+.3f} to {self.classes[strongest]}"
            lines.append(f"{added:>20}  {self.name(node)}, given {given}")
        if len(self.nodes) > SHOWN:
            lines.append(f"{'':>20}  and {len(self.nodes) - SHOWN} that decided less")
        return "\n".join(lines)

    def deciding(self) -> list[int]:
        """Return the classes, by index, between which it was decided: the best two, best first.

        Of a regressor all targets.
        """
        if np.ndim(self.predicted):
            return list(range(len(self.total)))
        return [int(index) for index in np.argsort(-self.total, kind="stable")[:2]]


def explain(estimator: GraphProcess, node: int | str) -> Explanation:
    r"""Return what each given label adds to the score of a node.

    The posterior mean is linear in the labels, :math:`m = S Y` with
    :math:`S = \Gamma_{UD} K^{-1}`, so that label i adds :math:`S_i Y_{ic}` to the mean of class c,
    and s(m) / m times that, t with few labels, to the score :math:`s(m_c) + b_c`. By way of view v
    the labels add :math:`w_v \Gamma^{(v)}_{UD} K^{-1} Y`. Both add up exactly.

    Parameters
    ----------
    estimator : GPGCClassifier or GPGCRegressor
        Fitted.
    node : int or str
        A node of the graph, by its index, or by its name where that is a string.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from gpgc import GPGCClassifier
    >>> chain = (np.arange(5), np.arange(1, 6))
    >>> model = GPGCClassifier().fit(None, ["a", None, None, None, None, "b"], adjacency=chain)
    >>> found = explain(model, 1)
    >>> found.predicted, found.nodes.tolist()
    ('a', [0, 5])
    >>> bool(np.allclose(found.offset + found.contributions.sum(axis=0), found.total))
    True
    """
    check_is_fitted(estimator)
    rows = _one_node(estimator, node)
    posterior, labelled = estimator.posterior_, estimator.labelled_nodes_
    influence = posterior.influence(rows)[0]
    added = (influence[:, None] if influence.ndim == 1 else influence) * np.nan_to_num(
        posterior.targets
    )
    dual = posterior.dual_weights()
    views = {
        name: weight
        * np.asarray(estimator.prior_.view(name).matmul(rows, labelled, dual)[0], np.float64)
        for name, weight in estimator.view_weights_.items()
        if weight
    }
    scale, offset, classes, given = _units(estimator, rows)
    contributions = scale * added
    total = offset + contributions.sum(axis=0)
    if isinstance(estimator, GPGCRegressor):
        predicted: Any = float(total[0]) if estimator.is_vector_ else total
    else:
        assert isinstance(estimator, ClassProcess)
        predicted = estimator.predict()[rows[0]]
    found = Explanation(
        int(rows[0]),
        classes,
        predicted,
        labelled,
        given,
        contributions,
        offset,
        total,
        {name: scale * part for name, part in views.items()},
        estimator.node_names_,
    )
    strength = np.abs(contributions)
    order = np.lexsort((-strength.sum(axis=1), -strength[:, found.deciding()].sum(axis=1)))
    return replace(
        found, nodes=labelled[order], given=given[order], contributions=contributions[order]
    )


def _units(
    estimator: GraphProcess, rows: Integers
) -> tuple[Any, Array, NDArray[Any], NDArray[Any]]:
    """Return the scale and offset of scores, what the columns are, and what was given."""
    if isinstance(estimator, GPGCRegressor):
        scale, offset = estimator.target_scale_, estimator.target_mean_
        values = estimator.posterior_.targets * scale + offset
        given = values[:, 0] if estimator.is_vector_ else values
        return scale, offset, np.arange(len(offset)), given
    assert isinstance(estimator, ClassProcess)
    decision, classes = estimator.decision_, estimator.classes_
    curve = decision.calibration.curve
    reached = estimator.prior_.nodes.reach.reached(estimator.labelled_nodes_)[rows]
    offset = decision.scores(np.zeros((1, len(classes))), reached)[0]
    mean = estimator.predict_latent(rows)[0]
    # s(m) / m: the slope by which contributions to the mean add up to the score.
    slope = np.divide(
        curve.scores(mean),
        mean,
        out=np.full(len(mean), curve.temperature),
        where=mean != 0,
    )
    return slope * float(reached[0]), offset, classes, classes[estimator.codes_]


def _one_node(estimator: GraphProcess, node: Any) -> Integers:
    if np.ndim(node) != 0:
        raise InputError(f"node must be one node, got {node!r:.60}")
    size, names = len(estimator.prior_.nodes), estimator.node_names_
    rows = check_nodes(np.asarray([node]), size, names, "node")
    assert rows is not None
    return rows
