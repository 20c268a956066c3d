"""What a fitted classifier answers beyond labels and probabilities, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array
from gpgc.errors import InputError
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.notebook import graph_facts
from gpgc.estimators.predictions import prediction_columns
from gpgc.estimators.probabilities import ClassProcess

if TYPE_CHECKING:
    from gpgc.labelling.strategies import Strategy, Suggestions
    from gpgc.uncertainty.expected_accuracy import ExpectedAccuracy, LabelsDrawn
    from gpgc.uncertainty.label_check import LabelCheck
    from gpgc.uncertainty.measures import Reliability


class ClassAnswers(ClassProcess):
    """Prediction sets, novelty, reliability and suggestions of a fitted classifier.

    The functions behind them stand in rooms that know the estimators, and are imported here only
    when they are called.
    """

    def facts(self) -> dict[str, str]:
        """Return what a notebook shows: graph, labels, views, noise and an estimate."""
        facts = graph_facts(self)
        facts["labels"] += f" of {len(self.classes_):,} classes"
        hidden = np.ones(len(self.prior_.nodes), dtype=bool)
        hidden[self.labelled_nodes_] = False
        if hidden.any():
            expected = prediction_columns(self, with_std=False)["probability"][hidden].mean()
            facts["estimate"] = f"{expected:.0%} of the other nodes right, by their probabilities"
        return facts

    def leave_one_out_proba(self) -> Array:
        """Return the probabilities that each labelled node would get from the other labels.

        Returns
        -------
        array of shape (D, k)
            In the order of ``labelled_nodes_`` and ``classes_``; the class prior for a label that
            no other one reaches.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(2), np.ones((3, 3)))
        >>> y = ["a", "a", None, "b", "b", "a"]
        >>> model = GPGCClassifier().fit(None, y, adjacency=triangles)
        >>> model.leave_one_out_proba().argmax(axis=1)
        array([0, 0, 0, 0, 1])
        """
        return self.decision_.probabilities(*self._left_out())

    def leave_one_out_predict(self) -> NDArray[Any]:
        """Return the label that each labelled node would get from the other labels.

        Returns
        -------
        array of shape (D,)
            In the order of ``labelled_nodes_``, by the same ``decision`` as in :meth:`predict`.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(2), np.ones((3, 3)))
        >>> y = ["a", "a", None, "b", "b", "a"]
        >>> GPGCClassifier().fit(None, y, adjacency=triangles).leave_one_out_predict()
        array(['a', 'a', 'a', 'a', 'b'], dtype=object)
        """
        return np.asarray(self.classes_[self.decision_.codes(*self._left_out())])

    def _left_out(self) -> tuple[Array, NDArray[np.bool_]]:
        """Return what the other labels say of each label's node: means, and whether anything."""
        mean, _ = self.leave_one_out()
        return mean, ~self.prior_.nodes.reach.alone(self.labelled_nodes_)

    def check_labels(self) -> LabelCheck:
        """Return how likely each given label is wrong, the most suspicious first.

        Each label is compared with what the others say about its node; how many labels are wrong
        is estimated along with it (:func:`gpgc.probability.error_rate.label_errors`).

        Returns
        -------
        LabelCheck
            ``nodes``, ``given``, ``likely`` and ``probability``, worst first, and
            ``expected_errors``; printed as a table.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> cliques = np.kron(np.eye(2), np.ones((8, 8)))
        >>> y = [*"aaabaaaa", *"bbbbbbbb"]
        >>> found = GPGCClassifier().fit(None, y, adjacency=cliques).check_labels()
        >>> int(found.nodes[0]), found.given[0], found.likely[0], round(found.expected_errors)
        (3, 'b', 'a', 0)
        """
        from gpgc.uncertainty.label_check import check_labels

        return check_labels(self)

    def expected_accuracy(
        self, labels_drawn: LabelsDrawn | Any = "unknown", level: float = 0.9
    ) -> ExpectedAccuracy:
        """Return how many of the other nodes get the right label, by labels drawn at random.

        Each of these is predicted from all other labels; the interval is that of Clopper and
        Pearson. It is slightly pessimistic: every prediction has one label less than the model,
        and a class of one label is lost with it. Labels that were chosen, by :meth:`suggest` or
        by a person, are no sample of the others, and the accuracy is unknown with them alone.

        Parameters
        ----------
        labels_drawn : {"random", "chosen", "unknown"} or array, default "unknown"
            How the labelled nodes were found, or those of them that were drawn at random.
        level : float, default 0.9
            How often the interval is to hold the accuracy, between 0 and 1.

        Returns
        -------
        ExpectedAccuracy
            ``estimate``, ``low`` and ``high``, or None for each and the ``reason``: labels that
            were not drawn at random, fewer than five that were, or one label a class.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> cliques = np.kron(np.eye(2), np.ones((8, 8)))
        >>> y = [*"aaaaa", None, None, None, *"bbbbb", None, None, None]
        >>> model = GPGCClassifier().fit(None, y, adjacency=cliques)
        >>> print(model.expected_accuracy("random"))
        100.0%, 90% interval 74.1% to 100.0%, by 10 random labels
        >>> print(model.expected_accuracy("chosen"))
        unknown: labels that were chosen say nothing about the others
        """
        from gpgc.uncertainty.expected_accuracy import expected_accuracy

        return expected_accuracy(self, labels_drawn, level)

    def prediction_sets(
        self, level: float = 0.9, *, nodes: Any = None, y: Any = None
    ) -> NDArray[np.bool_]:
        """Return for each node a set of classes that holds the true one with probability ``level``.

        Parameters
        ----------
        level : float, default 0.9
            Wanted coverage, between 0 and 1.
        nodes : array of shape (n,), optional
            Nodes, indices or names, that ``fit`` was given no label of, drawn uniformly from those.
            With them the coverage is guaranteed
            (:func:`gpgc.uncertainty.sets.split_conformal_sets`); without them it is estimated from
            the training labels by leave-one-out
            (:func:`gpgc.uncertainty.sets.leave_one_out_sets`).
        y : array of shape (n,), optional
            The labels of ``nodes``.

        Returns
        -------
        bool array of shape (N, k)
            Which of ``classes_`` each node's set holds.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> chain = (np.arange(5), np.arange(1, 6))
        >>> model = GPGCClassifier().fit(None, [0, -1, -1, -1, -1, 1], adjacency=chain)
        >>> sets = model.prediction_sets(0.6, nodes=[1, 4], y=[0, 1])
        >>> [model.classes_[row].tolist() for row in sets[[0, 5]]]
        [[0], [1]]
        """
        from gpgc.uncertainty.sets import leave_one_out_sets, split_conformal_sets

        check_is_fitted(self)
        if (nodes is None) != (y is None):
            raise InputError("nodes and y must be given together, got one of them")
        if nodes is None:
            return leave_one_out_sets(self, level)
        return split_conformal_sets(self, nodes, y, level)

    def novelty(self, view: Literal["graph", "features"] = "graph") -> Array:
        """Return how little each node belongs to the labelled classes, larger is stranger.

        Parameters
        ----------
        view : {"graph", "features"}, default "graph"
            By the graph's covariance, for nodes of a class without labels, or by the features
            alone, for nodes whose features are damaged. The formula is that of
            :func:`gpgc.uncertainty.novelty`.

        Returns
        -------
        array of shape (N,)

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
        >>> y = [0, 0, -1, -1, -1, -1, 1, 1, -1]
        >>> GPGCClassifier().fit(None, y, adjacency=triangles).novelty().round(1)
        array([0.4, 0.4, 0.4, 1.5, 1.5, 1.5, 0.4, 0.4, 0.4])
        """
        from gpgc.uncertainty.novelty import novelty

        return novelty(self, view)

    def reliability(self, nodes: Any = None, y: Any = None, *, n_bins: int = 10) -> Reliability:
        """Compare confidence with accuracy, in bins of confidence.

        Parameters
        ----------
        nodes, y : arrays of shape (n,), optional
            Nodes that ``fit`` was given no label of, indices or names, and their labels. Without
            them each training label is left out in turn; that is honest only where they were drawn
            at random.
        n_bins : int, default 10
            Number of bins of equal width.

        Returns
        -------
        Reliability
            ``confidence``, ``accuracy`` and ``size`` of each bin.

        Examples
        --------
        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(2), np.ones((3, 3)))
        >>> model = GPGCClassifier().fit(None, [0, 0, -1, 1, 1, -1], adjacency=triangles)
        >>> int(model.reliability([2, 5], [0, 1], n_bins=2).accuracy[1])
        1
        """
        from gpgc.uncertainty.measures import reliability

        check_is_fitted(self)
        if (nodes is None) != (y is None):
            raise InputError("nodes and y must be given together, got one of them")
        if nodes is None:
            return reliability(self.leave_one_out_proba(), self.codes_, n_bins)
        chosen = check_nodes(nodes, len(self.prior_.nodes), self.node_names_)
        return reliability(self.predict_proba()[chosen], self.codes_of(y), n_bins)

    def suggest(
        self,
        n: int = 1,
        *,
        strategy: Strategy = "weighted",
        candidates: Any = None,
        costs: Any = None,
    ) -> Suggestions:
        """Return the nodes whose labels would help most, given those that there are.

        Parameters
        ----------
        n : int, default 1
            How many nodes.
        strategy : {"weighted", "variance", "error", "margin"}, default "weighted"
            See :class:`gpgc.Labelling`.
        candidates : int array, optional
            Nodes that may be suggested; all when not given. Labelled ones never are.
        costs : array of shape (N,), optional
            What labelling each node costs.

        Returns
        -------
        Suggestions
            ``nodes`` and ``gains``, best first.

        Examples
        --------
        Of three triangles, the one without a label:

        >>> from gpgc import GPGCClassifier
        >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
        >>> y = [0, -1, -1, 1, -1, -1, -1, -1, -1]
        >>> model = GPGCClassifier(dtype="float64").fit(None, y, adjacency=triangles)
        >>> model.suggest().nodes // 3
        array([2])
        """
        from gpgc.labelling.labelling import Labelling

        return Labelling(self, candidates=candidates, costs=costs).suggest(n, strategy)
