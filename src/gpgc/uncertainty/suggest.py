"""Which nodes to label next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.estimators.inputs import check_nodes
from gpgc.graph import as_adjacency
from gpgc.labelling.label_posterior import LabelPosterior
from gpgc.uncertainty.growing import GrowingPosterior
from gpgc.uncertainty.planning import Plan, error_reduction

Strategy = Literal["weighted", "variance", "error", "margin"]

LABELS_PER_CLASS = 4
"""Labels for each class seen from which on probabilities are trusted to weigh nodes."""

GROWTH = 1.25
"""Growth of the number of labels after which noise and temperature are chosen again."""

SHORTLIST = 40
"""Candidates, the best by ``"weighted"``, whose expected reduction of errors is computed."""


class Suggestions(NamedTuple):
    """Nodes worth a label, best first, each given that those before it are labelled.

    ``gains`` is what each is worth by the strategy, over its cost.
    """

    nodes: Integers
    gains: Array


def suggest(
    X: Any,
    y: Any = None,
    adjacency: Any = None,
    *,
    n: int = 1,
    strategy: Strategy = "weighted",
    candidates: Any = None,
    costs: Any = None,
    **settings: Any,
) -> Suggestions:
    """Return the nodes whose labels would help most; see :class:`Labelling` to go on from there.

    Parameters
    ----------
    X, y, adjacency
        As in :meth:`gpgc.GPGCClassifier.fit`; y may be None or have no label at all.
    n : int
        How many nodes; fewer are returned where candidates run out.
    strategy : {"weighted", "variance", "error", "margin"}
        See :class:`Labelling`.
    candidates : int array, optional
        Nodes that may be suggested; all when not given. Labelled ones never are.
    costs : array of shape (N,), optional
        What labelling each node costs.
    **settings
        Parameters of :class:`gpgc.GPGCClassifier`.

    Returns
    -------
    Suggestions
        ``nodes`` and ``gains``, best first.

    Examples
    --------
    Of three triangles, one node of each:

    >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
    >>> nodes, gains = suggest(None, adjacency=triangles, n=3, dtype="float64")
    >>> sorted((nodes // 3).tolist())
    [0, 1, 2]
    """
    labelling = Labelling.on(X, y, adjacency, candidates=candidates, costs=costs, **settings)
    return labelling.suggest(n, strategy)


class Labelling:
    r"""Label a graph step by step: ask which nodes are worth it, add their labels, go on.

    On the covariance R that remains given the labels so far, with s² the noise of a label (see
    :class:`gpgc.uncertainty.planning.Plan`),

    - ``"variance"`` takes the node that lowers the total variance most,
      :math:`\sum_i R_{ij}^2 / (R_{jj} + s^2)`;
    - ``"weighted"`` counts by how uncertain the classes are,
      :math:`g_j \sum_i g_i R_{ij}^2 / (R_{jj} + s^2)` with :math:`g = 1 - \sum_c p_c^2`;
    - ``"error"`` takes, of the best by ``"weighted"``, the node whose label is expected to lower
      the share of wrong labels most (:func:`gpgc.uncertainty.planning.error_reduction`);
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
    labels : dict
        The label of each labelled node.
    stale : bool
        Whether labels have grown by a quarter since noise and temperature were chosen.

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
        self._begin(estimator, candidates, costs, nodes, refresh)
        labelled = estimator.labelled_nodes_
        self._note(labelled, estimator.transduction_[labelled])
        self.adopt(LabelPosterior(estimator, self.nodes))

    def _begin(
        self, estimator: GPGCClassifier, candidates: Any, costs: Any, nodes: Any, refresh: str
    ) -> None:
        """Plan on the estimator's graph, as if it had no labels."""
        self._estimator = copy(estimator)
        self._n_nodes = n_nodes = estimator.covariance_.n_nodes
        self._costs = _check_costs(costs, n_nodes)
        chosen = check_nodes(candidates, n_nodes)
        allowed = np.arange(n_nodes) if chosen is None else np.unique(chosen)
        self._plan = Plan(estimator._network.for_planning(), allowed, estimator.random_state)
        kept = check_nodes(nodes, n_nodes)
        self.nodes = None if kept is None else np.union1d(kept, self._plan.nodes)
        self._refreshes_itself = refresh == "auto"
        self.classes: list[Any] = []
        self._codes: dict[int, int] = {}
        self._skipped: set[int] = set()
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
        if y is not None and not all(_is_blank(label) for label in y):
            estimator.fit(X, y, adjacency)
            return cls(estimator, candidates=candidates, costs=costs, nodes=nodes, refresh=refresh)
        estimator._fit_graph(X, adjacency, _count_nodes(X, y, adjacency))
        labelling = object.__new__(cls)
        labelling._begin(estimator, candidates, costs, nodes, refresh)
        return labelling

    @property
    def labels(self) -> dict[int, Any]:
        """The label of each labelled node."""
        return {node: self.classes[code] for node, code in self._codes.items()}

    @property
    def adjacency(self) -> csr_array:
        """The graph, symmetric and without self-loops."""
        return self._estimator.adjacency_

    def covariance(self, rows: Integers, columns: Integers) -> Array:
        """Return the prior covariance of nodes by which labels are spread."""
        return self._estimator.covariance_.block(rows, columns)

    @property
    def skipped(self) -> frozenset[int]:
        """Nodes that are never suggested, though they have no label."""
        return frozenset(self._skipped)

    @property
    def is_conditioned(self) -> bool:
        """Whether probabilities are there without choosing noise and temperature first."""
        return self._posterior is not None

    @property
    def stale(self) -> bool:
        """Whether labels have grown by a quarter since noise and temperature were chosen."""
        n_chosen_by = 0 if self._posterior is None else self._posterior.n_chosen_by
        return len(self._codes) > GROWTH * n_chosen_by

    def suggest(
        self, n: int = 1, strategy: Strategy = "weighted", *, pending: Any = ()
    ) -> Suggestions:
        """Return the next ``n`` nodes to label, best first; fewer where candidates run out.

        ``pending`` are nodes whose labels are on their way: they are taken as labelled.
        """
        if strategy not in get_args(Strategy):
            raise InputError(
                f"strategy must be one of {', '.join(get_args(Strategy))}, got {strategy!r}"
            )
        if n < 1:
            raise InputError(f"n must be at least 1, got {n}")
        strategy = self._trusted(strategy)
        waiting = [node for node in pending if node not in self._codes]
        plan = self._plan if n == 1 and not waiting else self._plan.copy()
        plan.observe(waiting)
        taken = [*self._codes, *self._skipped, *waiting]
        here, free = plan.candidates, ~np.isin(plan.candidates, taken)
        weights = self._weights(strategy)
        believed = self._conditioned().growing.copy() if strategy == "error" else None
        nodes: list[int] = []
        gains: list[float] = []
        for _ in range(min(n, int(free.sum()))):
            if nodes:
                plan.observe(nodes[-1:])
            if nodes and believed is not None:
                believed.observe(nodes[-1:], believed.mean[believed.index(np.array(nodes[-1:]))])
            by_margin = strategy == "margin"
            gain = weights[here] * plan.variance if by_margin else plan.gains(weights)
            gain = np.where(free, gain / self._costs[here], -np.inf)
            if believed is not None:
                gain = self._error_reduction(believed, plan, gain)
            best = int(np.argmax(gain))
            free[best] = False
            nodes.append(int(here[best]))
            gains.append(float(gain[best]))
        return Suggestions(np.array(nodes, dtype=np.intp), np.array(gains))

    def add(self, nodes: Any, labels: Any) -> None:
        """Add labels of nodes that have none yet; classes not seen before are welcome."""
        chosen, given = check_nodes(nodes, self._n_nodes), list(labels)
        if chosen is None or len(chosen) != len(given):
            raise InputError(f"labels must be one for each node, got {len(given)} for {nodes}")
        if any(_is_blank(label) for label in given):
            raise InputError(f"labels must not be blank (-1, None or NaN), got {given}")
        if len(np.unique(chosen)) < len(chosen) or np.isin(chosen, list(self._codes)).any():
            raise InputError("nodes must be different ones without a label, got some twice")
        self._note(chosen, given)
        if self._posterior is None and self._refreshes_itself:
            self.refresh()  # what later suggestions share is computed with the first label

    def correct(self, nodes: Any, labels: Any) -> None:
        """Give labelled nodes other labels; what is to be asked next hardly changes."""
        chosen, given = check_nodes(nodes, self._n_nodes), list(labels)
        if chosen is None or len(chosen) != len(given) or any(_is_blank(each) for each in given):
            raise InputError(f"labels must be one for each node, none blank, got {given}")
        if not np.isin(chosen, list(self._codes)).all():
            raise InputError("nodes must have a label to be corrected, got some without")
        self._name_classes(given)
        for node, label in zip(chosen.tolist(), given, strict=True):
            self._codes[node] = self.classes.index(label)
        self._drop_unseen_classes()

    def remove(self, nodes: Any) -> None:
        """Take labels back, and let skipped nodes be suggested again."""
        chosen = check_nodes(nodes, self._n_nodes)
        given = [] if chosen is None else chosen.tolist()
        self._skipped.difference_update(given)
        labelled = [node for node in given if node in self._codes]
        for node in labelled:
            del self._codes[node]
        if labelled:
            self._plan.remove(labelled)
            self._drop_unseen_classes()

    def skip(self, nodes: Any) -> None:
        """Never suggest these nodes, though they have no label."""
        chosen = check_nodes(nodes, self._n_nodes)
        self._skipped.update([] if chosen is None else chosen.tolist())

    def warm(self) -> None:
        """Compute now what the first label would have to wait for."""
        covariance = self._estimator.covariance_
        covariance.block(self.nodes, np.zeros(1, dtype=np.intp))
        covariance.diag(self.nodes)

    def refresh(self) -> None:
        """Choose noise and temperature again, by leave-one-out on the labels so far."""
        self.adopt(self.chooser()())

    def chooser(self) -> Callable[[], LabelPosterior]:
        """Return the work of :meth:`refresh` as a function that may run in another thread.

        It sees the labels of now; hand its result to :meth:`adopt`, which adds those since.
        """
        other, codes, n_classes = copy(self), self._codes.copy(), len(self.classes)
        other._codes, other.classes = codes, self.classes.copy()

        def choose() -> LabelPosterior:
            posterior = LabelPosterior(other.estimator(), other.nodes)
            posterior.follow(codes, n_classes)
            return posterior

        return choose

    def adopt(self, posterior: LabelPosterior) -> None:
        """Go on with noise and temperature that a function of :meth:`chooser` chose."""
        self._posterior = posterior

    def predict_proba(self) -> Array:
        """Return the probability (n, k) of each of ``classes`` at each of ``nodes``.

        From the labels so far, without the class shares that :meth:`estimator` estimates.
        """
        if not self._codes:
            raise InputError("probabilities need at least one label, got none so far")
        return self._conditioned().probability()

    def explained(self) -> float:
        """Return the fraction of the prior variance that the labels explain, over ``nodes``."""
        return self._conditioned().explained() if self._codes else 0.0

    def estimator(self, y: Any = None) -> GPGCClassifier:
        """Return a classifier on the labels so far, or on others, with all choices made again.

        It is the caller's: later labels do not change it.
        """
        if y is None:
            y = np.full(self._n_nodes, None, dtype=object)
            for node, code in self._codes.items():
                y[node] = self.classes[code]
        return copy(self._estimator).relabel(y)

    def copy(self) -> Self:
        """Return a labelling that may go on by itself, from the labels so far."""
        other = object.__new__(type(self))
        other.__dict__ = self.__dict__ | {
            "classes": self.classes.copy(),
            "_codes": self._codes.copy(),
            "_skipped": self._skipped.copy(),
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
        self._posterior.follow(self._codes, len(self.classes))
        return self._posterior

    def _note(self, nodes: Integers, given: Sequence[Any]) -> None:
        """Remember labels, and plan as if they were known."""
        self._name_classes(given)
        codes = [self.classes.index(label) for label in given]
        self._codes |= dict(zip(nodes.tolist(), codes, strict=True))
        self._plan.observe(nodes)

    def _name_classes(self, labels: Sequence[Any]) -> None:
        self.classes += [label for label in dict.fromkeys(labels) if label not in self.classes]

    def _drop_unseen_classes(self) -> None:
        seen = sorted(set(self._codes.values()))
        self.classes = [self.classes[code] for code in seen]
        self._codes = {node: seen.index(code) for node, code in self._codes.items()}

    def _trusted(self, strategy: Strategy) -> Strategy:
        """Return the strategy, or ``"variance"`` while labels are too few for it."""
        few = len(self._codes) < LABELS_PER_CLASS * max(len(self.classes), 2)
        return "variance" if few else strategy

    def _error_reduction(self, believed: GrowingPosterior, plan: Plan, gain: Array) -> Array:
        """Return the expected reduction of errors, over costs, of those that gain most."""
        shortlist = np.argsort(-gain)[:SHORTLIST]
        nodes = plan.candidates[shortlist]
        temperature = self._conditioned().temperature
        falls = error_reduction(believed, temperature, nodes, plan.sample)
        worth = np.full(len(gain), -np.inf)
        worth[shortlist] = np.where(
            np.isfinite(gain[shortlist]), falls / self._costs[nodes], -np.inf
        )
        return worth

    def _weights(self, strategy: Strategy) -> Array:
        """Return how much each node counts."""
        if strategy == "variance":
            return np.ones(self._n_nodes)
        probability = self.predict_proba()
        if strategy == "margin":
            second, first = np.partition(probability, -2, axis=1)[:, -2:].T
            kept = 1 - (first - second)
        else:
            kept = 1 - np.einsum("ic,ic->i", probability, probability)
        if self.nodes is None:
            return np.asarray(kept)
        weights = np.zeros(self._n_nodes)
        weights[self.nodes] = kept
        return weights


def _check_costs(costs: Any, n_nodes: int) -> Array:
    if costs is None:
        return np.ones(n_nodes)
    values = np.asarray(costs, dtype=np.float64)
    if values.shape != (n_nodes,) or not np.isfinite(values).all() or not (values > 0).all():
        raise InputError(
            f"costs must be a positive number for each of the {n_nodes} nodes, "
            f"got shape {values.shape}"
        )
    return values


def _is_blank(label: Any) -> bool:
    return label is None or (not isinstance(label, str) and bool(label != label or label == -1))


def _count_nodes(X: Any, y: Any, adjacency: Any) -> int:
    """Return how many nodes are meant by what was given of features, labels and graph."""
    for given in (X, y):
        if given is not None:
            return int(given.shape[0] if hasattr(given, "shape") else len(given))
    return int(as_adjacency(adjacency).shape[0])
