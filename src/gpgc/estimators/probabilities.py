"""Labels and probabilities from the posterior of one-hot targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators.base import GraphProcess
from gpgc.estimators.inputs import check_nodes
from gpgc.models.likeness import alikeness
from gpgc.probability.calibration import (
    Calibration,
    StoredMeans,
    calibrate_left_out,
    fit_scale_and_bias,
)
from gpgc.probability.class_prior import prior_of
from gpgc.probability.decision import Decision, DecisionRule
from gpgc.probability.score_curve import ScoreCurve
from gpgc.selection.subset import CALIBRATION_LABELS, label_sample


class ClassProcess(GraphProcess):
    """What the classifier answers once it is fitted."""

    decision: DecisionRule
    class_prior: Any
    classes_: NDArray[Any]
    codes_: Integers
    calibration_: Calibration

    @property
    def decision_(self) -> Decision:
        """What makes probabilities, scores and classes of latent means."""
        return Decision(self.calibration_, self.decision)

    @property
    def transduction_(self) -> NDArray[Any]:
        """A label for each node (N,): the given one where there is one, else the predicted one."""
        asked = self._ask(None, None, None)
        codes = self.decision_.codes(asked.mean, asked.reached)
        codes[self.labelled_nodes_] = self.codes_
        return np.asarray(self.classes_[codes])

    def predict(self, X: Any = None, adjacency: Any = None) -> NDArray[Any]:
        """Return the model's opinion on the label of every node, the labelled ones included.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (M, F), optional
            Features of nodes that join the graph; without it the nodes of the graph are meant. A
            frame is encoded as that of ``fit`` was.
        adjacency : array or sparse matrix of shape (M, N) or (M, N + M), or frame, optional
            Links of the new nodes; when not given, their nearest fitted rows if ``fit`` built the
            graph. A frame of edges with the columns ``source``, ``target`` and maybe ``weight``,
            or a NetworkX graph, links new nodes and fitted ones by name; a frame of weights has
            columns named like the fitted nodes. Fitted nodes keep their degrees and covariances;
            nothing is refitted.

        Returns
        -------
        array of shape (N,) or (M,)
        """
        check_is_fitted(self)
        asked = self._ask(None, X, adjacency)
        return np.asarray(self.classes_[self.decision_.codes(asked.mean, asked.reached)])

    def predict_proba(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X, adjacency : optional
            As in :meth:`predict`.

        Returns
        -------
        array of shape (N, k) or (M, k)
        """
        check_is_fitted(self)
        asked = self._ask(None, X, adjacency)
        return self.decision_.probabilities(asked.mean, asked.reached)

    def predict_log_proba(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the logarithm of :meth:`predict_proba`, −∞ where that is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X, adjacency)))

    def decision_function(self, X: Any = None, adjacency: Any = None) -> Array:
        """Return the scores whose largest is the predicted label.

        They are t · mean + bias, whose softmax is :meth:`predict_proba`; with
        ``decision="balanced"`` less the logarithm of ``class_prior_``, and their softmax is what
        the probabilities would be if all classes were equally frequent.

        Parameters
        ----------
        X, adjacency : optional
            As in :meth:`predict`.

        Returns
        -------
        array of shape (n, k), or (n,) for two classes
            In the order of ``classes_``; of two, the second one's score less the first one's.
        """
        check_is_fitted(self)
        asked = self._ask(None, X, adjacency)
        scores = self.decision_.scores(asked.mean, asked.reached)
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    def calibrate(self, nodes: Any, y: Any) -> Self:
        """Fit temperature and class bias to labels that ``fit`` did not see.

        What leave-one-out and unlabelled nodes tell with the training labels alone,
        held-out labels drawn like the rest of the graph tell better.

        Parameters
        ----------
        nodes : array of shape (n,)
            Nodes of the graph, indices or names, none of them among those that ``fit`` was given
            labels of. Those that no link or feature connects with a label do not count.
        y : array of shape (n,)
            Their labels, all in ``classes_``.

        Returns
        -------
        ClassProcess
            The estimator itself.
        """
        check_is_fitted(self)
        chosen = check_nodes(nodes, len(self.prior_.nodes), self.node_names_)
        codes = self.codes_of(y)
        if chosen is None or len(codes) != len(chosen) or not len(codes):
            raise InputError("nodes and y must name the same, at least one, held-out nodes")
        if np.isin(chosen, self.labelled_nodes_).any():
            raise InputError("nodes must be held out: some of them were labelled in fit")
        reached = self.prior_.nodes.reach.reached(self.labelled_nodes_)[chosen]
        if not reached.any():
            raise InputError("nodes must hold some that links or features connect with a label")
        mean, targets = self._latent_mean[chosen], np.eye(len(self.classes_))[codes]
        scale, bias = fit_scale_and_bias(mean[reached], targets[reached])
        self.set_calibration(Calibration.of(ScoreCurve(scale), bias, self.label_fractions()))
        return self

    def codes_of(self, y: Any) -> Integers:
        """Return labels (n,) as indices of ``classes_``; others than those are refused."""
        given = np.asarray(y)
        codes = np.minimum(np.searchsorted(self.classes_, given), len(self.classes_) - 1)
        if given.ndim != 1 or (np.asarray(self.classes_)[codes] != given).any():
            raise InputError(
                f"y must hold labels among {self.classes_.tolist()}, got others: {given.tolist()}"
            )
        return np.asarray(codes)

    def label_fractions(self) -> Array:
        """Return the fractions (k,) of the classes among the labels, by their weights."""
        targets = self.posterior_.targets
        return np.asarray(np.average(targets, axis=0, weights=self.sample_weight_))

    def calibration_left_out(self, counted: Array) -> Calibration:
        """Return the calibration by leave-one-out, from what labels say of unlabelled nodes.

        Parameters
        ----------
        counted : array of shape (D,)
            What leaving each label out counts.
        """
        speaking = self.prior_.nodes.reach.reached(self.labelled_nodes_)
        speaking[self.labelled_nodes_] = False
        keys = self.prior_.keys[self.labelled_nodes_]
        among = label_sample(keys, self.posterior_.targets, CALIBRATION_LABELS)
        return calibrate_left_out(
            self.posterior_.leave_one_out(among).mean,
            StoredMeans(self._latent_mean[speaking]),
            self.posterior_.targets[among],
            counted[among],
            self.label_fractions(),
            prior_of(self.class_prior, self.classes_),
            alikeness(self.prior_.likeness, unknown=1.0),
        )

    def set_calibration(self, calibration: Calibration) -> None:
        """Take a calibration, and what follows from it."""
        self.calibration_ = calibration
        self.temperature_, self.class_prior_ = calibration.temperature, calibration.class_prior
