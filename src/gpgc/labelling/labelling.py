"""Labels that come one by one, and what they say about all nodes and about the next label."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.estimators.alignment import named_inputs
from gpgc.estimators.given_labels import GivenLabels
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.labels import encode_labels, is_unlabelled
from gpgc.labelling.arguments import check_costs, count_nodes
from gpgc.labelling.label_book import LabelBook
from gpgc.labelling.label_posterior import LabelPosterior
from gpgc.labelling.planning import Plan
from gpgc.labelling.strategies import Strategy, Suggestions, doubt, pick, trusted
from gpgc.models import Prior

GROWTH = 1.25
"""Growth of the number of labels after which noise and temperature are chosen again."""


class Labelling:
    r"""Label a graph step by step: ask which nodes are worth it, add their labels, go on.

    On the covariance R that remains given the labels so far, with s² the noise of a label (see
    :class:`gpgc.labelling.planning.Plan`),

    - ``"variance"`` takes the node that lowers the total variance most,
      :math:`\sum_i R_{ij}^2 / (R_{jj} + s^2)`;
    - ``"weighted"`` counts by how uncertain the classes are,
      :math:`g_j \sum_i g_i R_{ij}^2 / (R_{jj} + s^2)` with :math:`g = 1 - \sum_c p_c^2`;
    - ``"error"`` takes, of the best by ``"weighted"``, the node whose label is expected to lower
      the share of wrong labels most (:func:`gpgc.labelling.planning.error_reduction`);
    - ``"margin"`` takes the smallest gap between the two largest probabilities, by the largest
      :math:`(1 - (p_{(1)} - p_{(2)})) R_{jj}`.

    Until there are four labels for each class seen, all take the node of ``"variance"``: before,
    probabilities mislead. Within a batch R is conditioned on each pick, so that picks do not repeat
    each other. Adding a label costs one column of Γ and O(N·D); noise and temperature are chosen
    again, by leave-one-out, whenever the number of labels has grown by a quarter.

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted. The labelling goes on from a copy: the estimator itself stays as it is. Use
        :meth:`on` to begin without.
    candidates : int array, optional
        Nodes that may be suggested; all when not given. Labelled ones never are.
    costs : array of shape (N,), optional
        What labelling each node costs; gains are divided by it.
    nodes : int array, optional
        Nodes whose probabilities are kept up with every label, besides those that suggestions need;
        all when not given. A sample makes a label cheap on a graph of millions.
    refresh : {"auto", "manual"}, default "auto"
        Whether noise and temperature are chosen again by themselves, or by :meth:`refresh` only.

    Attributes
    ----------
    classes : list
        Labels in the order in which they were first seen.
    nodes : int array of shape (n,), or None
        Nodes that :meth:`predict_proba` answers for, sorted; None stands for all.

    Examples
    --------
    >>> labelling = Labelling.on(None, adjacency=np.kron(np.eye(2), np.ones((3, 3))))
    >>> labelling.add([0, 3], ["left", "right"])
    >>> labelling.estimator().predict().tolist()
    ['left', 'left', 'left', 'right', 'right', 'right']
    >>> labelling.suggest().nodes // 3 in (0, 1)
    True
    """

    def __init__(
        self,
        estimator: GPGCClassifier,
        *,
        candidates: Any = None,
        costs: Any = None,
        nodes: Any = None,
        refresh: Literal["auto", "manual"] = "auto",
    ) -> None:
        check_is_fitted(estimator)
        self._begin(estimator, estimator.prior_, candidates, costs, nodes, refresh)
        labelled = estimator.labelled_nodes_
        self._plan.observe(self._book.add(labelled, estimator.transduction_[labelled]))
        self.adopt(LabelPosterior(estimator, self.nodes))

    def _begin(
        self,
        estimator: GPGCClassifier,
        prior: Prior,
        candidates: Any,
        costs: Any,
        nodes: Any,
        refresh: str,
    ) -> None:
        """Plan on the prior's graph, as if it had no labels."""
        self._estimator, self._prior = copy(estimator), prior
        self._n_nodes = n_nodes = len(prior.nodes)
        self._costs = check_costs(costs, n_nodes)
        chosen = check_nodes(candidates, n_nodes, prior.nodes.names, "candidates")
        allowed = np.arange(n_nodes) if chosen is None else np.unique(chosen)
        self._plan = Plan(prior.planning(), allowed, estimator.random_state)
        kept = check_nodes(nodes, n_nodes)
        self.nodes = None if kept is None else np.union1d(kept, self._plan.nodes)
        self._refreshes_itself = refresh == "auto"
        self._book = LabelBook(n_nodes)
        self._posterior: LabelPosterior | None = None

    @classmethod
    def on(
        cls,
        X: Any,
        y: Any = None,
        adjacency: Any = None,
        *,
        candidates: Any = None,
        costs: Any = None,
        nodes: Any = None,
        refresh: Literal["auto", "manual"] = "auto",
        **settings: Any,
    ) -> Self:
        """Begin on a graph with few labels or none; parameters as of :func:`suggest`."""
        estimator = GPGCClassifier(**settings)
        given = named_inputs(X, y, adjacency)
        if given.y is not None and not all(is_unlabelled(label) for label in given.y):
            estimator.fit(X, y, adjacency)
            return cls(estimator, candidates=candidates, costs=costs, nodes=nodes, refresh=refresh)
        prior = estimator.make_prior(given.X, given.adjacency, count_nodes(*given[:3]), given.names)
        labelling = object.__new__(cls)
        labelling._begin(estimator, prior, candidates, costs, nodes, refresh)
        return labelling

    @property
    def classes(self) -> list[Any]:
        """Labels in the order in which they were first seen."""
        return self._book.classes

    @property
    def labels(self) -> dict[int, Any]:
        """The label of each labelled node."""
        return self._book.labels

    @property
    def adjacency(self) -> csr_array:
        """The graph, symmetric and without self-loops."""
        return self._prior.nodes.adjacency

    def covariance(self, rows: Integers, columns: Integers) -> Array:
        """Return the prior covariance of nodes by which labels are spread."""
        return self._prior.covariance().block(rows, columns)

    def correlation(self, node: int, others: Integers) -> Array:
        """Return the prior correlation of a node with others."""
        columns = self._prior.covariance().correlation(np.array([node]))
        return np.asarray(columns(others)[0][:, 0])

    @property
    def skipped(self) -> frozenset[int]:
        """Nodes that are never suggested, though they have no label."""
        return frozenset(self._book.skipped)

    @property
    def is_conditioned(self) -> bool:
        """Whether probabilities are there without choosing noise and temperature first."""
        return self._posterior is not None

    @property
    def stale(self) -> bool:
        """Whether labels have grown by a quarter since noise and temperature were chosen."""
        n_chosen_by = 0 if self._posterior is None else self._posterior.n_chosen_by
        return len(self._book.codes) > GROWTH * n_chosen_by

    def suggest(
        self, n: int = 1, strategy: Strategy = "weighted", *, pending: Any = ()
    ) -> Suggestions:
        """Return the next ``n`` nodes to label, best first; fewer where candidates run out.

        ``pending`` are nodes whose labels are on their way: they are taken as labelled.
        """
        if not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"n must be a whole number of at least 1, got {n!r:.60}")
        strategy = trusted(strategy, len(self._book.codes), len(self.classes))
        waiting = [node for node in pending if node not in self._book.codes]
        plan = self._plan if n == 1 and not waiting else self._plan.copy()
        plan.observe(waiting)
        is_free = ~np.isin(plan.candidates, [*self._book.codes, *self._book.skipped, *waiting])
        posterior = self._conditioned() if strategy == "error" else None
        weights = self._weights(strategy)
        return pick(n, strategy, plan, is_free, weights, self._costs, posterior)

    def add(self, nodes: Any, labels: Any) -> None:
        """Add labels of nodes that have none yet; classes not seen before are welcome."""
        self._plan.observe(self._book.add(nodes, labels))
        if self._posterior is None and self._refreshes_itself:
            self.refresh()  # what later suggestions share is computed with the first label

    def correct(self, nodes: Any, labels: Any) -> None:
        """Give labelled nodes other labels; what is to be asked next hardly changes."""
        self._book.correct(nodes, labels)

    def remove(self, nodes: Any) -> None:
        """Take labels back, and let skipped nodes be suggested again."""
        labelled = self._book.remove(nodes)
        if labelled:
            self._plan.remove(labelled)

    def skip(self, nodes: Any) -> None:
        """Never suggest these nodes, though they have no label."""
        self._book.skip(nodes)

    def warm(self) -> None:
        """Compute now what the first label would have to wait for."""
        covariance = self._prior.covariance()
        covariance.block(self.nodes, np.zeros(1, dtype=np.intp))
        covariance.diag(self.nodes)

    def refresh(self) -> None:
        """Choose noise and temperature again, by leave-one-out on the labels so far."""
        self.adopt(self.chooser()())

    def chooser(self) -> Callable[[], LabelPosterior]:
        """Return the work of :meth:`refresh` as a function that may run in another thread.

        It sees the labels of now; hand its result to :meth:`adopt`, which adds those since.
        """
        book = self._book.copy()

        def choose() -> LabelPosterior:
            posterior = LabelPosterior(self.estimator(book.as_y()), self.nodes)
            posterior.follow(book.codes, len(book.classes))
            return posterior

        return choose

    def adopt(self, posterior: LabelPosterior) -> None:
        """Go on with noise and temperature that a function of :meth:`chooser` chose."""
        self._posterior = posterior

    def predict_proba(self) -> Array:
        """Return the probability (n, k) of each of ``classes`` at each of ``nodes``.

        From the labels so far, without the class shares that :meth:`estimator` estimates. Nodes
        that neither links nor shared features connect with a label have the labels' own shares.
        """
        if not self._book.codes:
            raise InputError("probabilities need at least one label, got none so far")
        probability = self._conditioned().probability()
        nodes, codes = np.array(list(self._book.codes)), np.array(list(self._book.codes.values()))
        reached = self._prior.nodes.reach.reached(nodes)
        reached = reached if self.nodes is None else reached[self.nodes]
        probability[~reached] = np.bincount(codes, minlength=len(self.classes)) / len(codes)
        return probability

    def explained(self) -> float:
        """Return the fraction of the prior variance that the labels explain, over ``nodes``."""
        return self._conditioned().explained() if self._book.codes else 0.0

    def estimator(self, y: Any = None) -> GPGCClassifier:
        """Return a classifier on the labels so far, or on others, with all choices made again.

        It is the caller's: later labels do not change it.
        """
        codes, classes = encode_labels(self._book.as_y() if y is None else y)
        return copy(self._estimator).fit_prior(self._prior, GivenLabels.certain(codes, classes))

    def copy(self) -> Self:
        """Return a labelling that may go on by itself, from the labels so far."""
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {
            "_book": self._book.copy(),
            "_plan": self._plan.copy(),
        }
        if self._posterior is not None:
            other._posterior = self._posterior.copy()
        return other

    def _conditioned(self) -> LabelPosterior:
        """Return the posterior on all labels; with many new ones, choose noise and so on again."""
        if self._posterior is None or (self._refreshes_itself and self.stale):
            self.refresh()
        assert self._posterior is not None
        self._posterior.follow(self._book.codes, len(self.classes))
        return self._posterior

    def _weights(self, strategy: Strategy) -> Array:
        """Return how much each node counts."""
        if strategy == "variance":
            return np.ones(self._n_nodes)
        kept = doubt(self.predict_proba(), strategy)
        if self.nodes is None:
            return kept
        weights = np.zeros(self._n_nodes)
        weights[self.nodes] = kept
        return weights
