"""An estimator whose samples are nodes of one graph, for scikit-learn's model selection."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.classifier import GPGCClassifier
from gpgc.estimators.given import is_unlabelled
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.regressor import GPGCRegressor
from gpgc.problem.frames import is_missing
from gpgc.problem.names import positions_of


def _has_probabilities(node_estimator: Any) -> bool:
    return hasattr(node_estimator.estimator, "predict_proba")


class NodeEstimator(BaseEstimator):
    """Hold a graph, so that ``fit`` and ``predict`` take nodes as scikit-learn takes rows.

    ``cross_val_score``, ``GridSearchCV`` and ``learning_curve`` split the nodes; those whose labels
    a split hides stay in the graph, as unlabelled nodes do. Clones share X and adjacency.

    Parameters
    ----------
    estimator : GPGCClassifier or GPGCRegressor
        What is fitted; its parameters are reached as ``estimator__depth`` and so on.
    X, adjacency : optional
        Features and links of all N nodes, as in :meth:`GPGCClassifier.fit`. Where X is None and
        adjacency lists edges only, nodes are those at the ends of edges.

    Attributes
    ----------
    estimator_ : GPGCClassifier or GPGCRegressor
        The fitted one, which answers all else.

    Examples
    --------
    >>> import numpy as np
    >>> from gpgc import GPGCClassifier, NodeEstimator
    >>> from sklearn.model_selection import cross_val_score
    >>> cliques = np.kron(np.eye(2), np.ones((8, 8)))
    >>> nodes, y = [0, 1, 2, 3, 8, 9, 10, 11], [*"aaaabbbb"]
    >>> cross_val_score(NodeEstimator(GPGCClassifier(), None, cliques), nodes, y, cv=2)
    array([1., 1.])
    """

    estimator_: Any

    def __init__(
        self, estimator: GPGCClassifier | GPGCRegressor, X: Any = None, adjacency: Any = None
    ) -> None:
        self.estimator = estimator
        self.X = X
        self.adjacency = adjacency

    def fit(self, nodes: Any, y: Any) -> Self:
        """Fit a clone of ``estimator`` on the labels of some nodes.

        Parameters
        ----------
        nodes : array of shape (D,)
            Distinct nodes: their indices, or their names where X or adjacency has any.
        y : array of shape (D,)
            A label, or for a regressor a value, of each.

        Returns
        -------
        NodeEstimator
            The estimator itself.
        """
        self.__dict__.pop("estimator_", None)  # a fit that fails leaves nothing behind
        listed, given = np.asarray(nodes).tolist(), column_or_1d(y).tolist()
        labels = dict(zip(listed, given, strict=False))
        if not len(labels) == len(listed) == len(given):
            raise InputError(
                f"nodes must be distinct, one for each entry of y, got {len(listed)} nodes, "
                f"{len(labels)} of them distinct, and {len(given)} entries of y"
            )
        is_unknown = is_unlabelled if is_classifier(self) else is_missing
        if unknown := [node for node, label in labels.items() if is_unknown(label)]:
            raise InputError(f"y must be known at each node, got none at node {unknown[0]!r:.60}")
        self.estimator_ = clone(self.estimator).fit(self.X, labels, self.adjacency)
        return self

    def predict(self, nodes: Any) -> NDArray[Any]:
        """Return the label or value (n,) of each of the nodes (n,)."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict()[self._rows(nodes)])

    @available_if(_has_probabilities)
    def predict_proba(self, nodes: Any) -> Array:
        """Return the probabilities (n, k) of ``classes_`` at the nodes (n,), by a classifier."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba()[self._rows(nodes)])

    def score(self, nodes: Any, y: Any) -> float:
        """Return the accuracy of a classifier or R² of a regressor at the nodes (n,)."""
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, self.predict(nodes)))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels (k,) that a fitted classifier knows."""
        return np.asarray(self.estimator_.classes_)

    def __sklearn_clone__(self) -> NodeEstimator:
        """Return an unfitted one on the same X and adjacency, which are not copied."""
        return type(self)(clone(self.estimator), self.X, self.adjacency)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags

    def _rows(self, nodes: Any) -> Integers | None:
        """Return where nodes stand among those of the fitted graph."""
        names = self.estimator_.node_names_
        if names is None:
            return check_nodes(np.asarray(nodes), len(self.estimator_.prior_.nodes))
        position = positions_of(names.tolist(), "the graph")
        asked = np.asarray(nodes).tolist()
        if unknown := [node for node in asked if node not in position]:
            raise InputError(f"nodes must name nodes of the graph, got {unknown[0]!r:.60}")
        return np.array([position[node] for node in asked], dtype=np.intp)
