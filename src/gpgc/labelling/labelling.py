"""Labels that come one by one, and what they say about all nodes and about the next label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.estimators.given import GivenLabels, encode_labels, is_unlabelled
from gpgc.estimators.inputs import check_nodes
from gpgc.graph import as_adjacency
from gpgc.labelling.label_posterior import LabelPosterior
from gpgc.labelling.planning import Plan, Strategy, Suggestions, doubt, pick, trusted
from gpgc.models import Prior
from gpgc.problem.alignment import problem_of


class LabelBook:
    """Labels of nodes that come, change and go."""

    def __init__(self, n_nodes: int, names: NDArray[Any] | None = None) -> None:
        self.n_nodes, self.names = n_nodes, names
        self.classes: list[Any] = []
        self.codes: dict[int, int] = {}
        self.skipped: set[int] = set()

    @property
    def labels(self) -> dict[int, Any]:
        """The label of each labelled node."""
        return {node: self.classes[code] for node, code in self.codes.items()}

    def add(self, nodes: Any, labels: Any) -> Integers:
        """Note labels of nodes that have none yet, and return those nodes."""
        chosen, given = self._check(nodes, labels)
        if len(np.unique(chosen)) < len(chosen) or np.isin(chosen, list(self.codes)).any():
            raise InputError("nodes must be different ones without a label, got some twice")
        self._write(chosen, given)
        return chosen

    def correct(self, nodes: Any, labels: Any) -> None:
        """Give labelled nodes other labels."""
        chosen, given = self._check(nodes, labels)
        if not np.isin(chosen, list(self.codes)).all():
            raise InputError("nodes must have a label to be corrected, got some without")
        self._write(chosen, given)
        self._drop_unseen()

    def remove(self, nodes: Any) -> list[int]:
        """Take labels and skips back; returns the nodes that had a label."""
        given = self._nodes(nodes)
        self.skipped.difference_update(given)
        labelled = [node for node in given if self.codes.pop(node, None) is not None]
        self._drop_unseen()
        return labelled

    def skip(self, nodes: Any) -> None:
        """Leave nodes alone."""
        self.skipped.update(self._nodes(nodes))

    def as_y(self) -> NDArray[Any]:
        """Return the labels of all nodes, None where there is none."""
        y = np.full(self.n_nodes, None, dtype=object)
        for node, label in self.labels.items():
            y[node] = label
        return y

    def copy(self) -> Self:
        """Return a book of its own."""
        other = type(self)(self.n_nodes, self.names)
        other.classes, other.codes = self.classes.copy(), self.codes.copy()
        other.skipped = self.skipped.copy()
        return other

    def _check(self, nodes: Any, labels: Any) -> tuple[Integers, list[Any]]:
        chosen, given = check_nodes(nodes, self.n_nodes, self.names), list(labels)
        if chosen is None or len(chosen) != len(given):
            raise InputError(f"labels must be one for each node, got {len(given)} for {nodes}")
        if any(is_unlabelled(label) for label in given):
            raise InputError(f"labels must not be blank (-1, None or NaN), got {given}")
        return chosen, given

    def _nodes(self, nodes: Any) -> list[int]:
        chosen = check_nodes(nodes, self.n_nodes, self.names)
        return [] if chosen is None else chosen.tolist()

    def _write(self, nodes: Integers, given: Sequence[Any]) -> None:
        self.classes += [label for label in dict.fromkeys(given) if label not in self.classes]
        for node, label in zip(nodes.tolist(), given, strict=True):
            self.codes[node] = self.classes.index(label)

    def _drop_unseen(self) -> None:
        seen = sorted(set(self.codes.values()))
        self.classes = [self.classes[code] for code in seen]
        self.codes = {node: seen.index(code) for node, code in self.codes.items()}


def check_costs(costs: Any, n_nodes: int) -> Array:
    """Return what labelling each node costs; 1 when not given."""
    if costs is None:
        return np.ones(n_nodes)
    values = np.asarray(costs, dtype=np.float64)
    if values.shape != (n_nodes,) or not np.isfinite(values).all() or not (values > 0).all():
        raise InputError(
            f"costs must be a positive number for each of the {n_nodes} nodes, "
            f"got shape {values.shape}"
        )
    return values


def count_nodes(X: Any, y: Any, adjacency: Any) -> int:
    """Return how many nodes are meant by what was given of features, labels and graph."""
    for given in (X, y):
        if given is not None:
            return int(given.shape[0] if hasattr(given, "shape") else len(given))
    return int(as_adjacency(adjacency).shape[0])


GROWTH = 1.25
"""Growth of the number of labels after which noise and temperature are chosen again."""


class Labelling:
    r"""Label a graph step by step: ask which nodes are worth it, add their labels, go on.

    On the covariance R that remains given the labels so far, with s² the noise of a label (see
    :class:`gpgc.labelling.planning.Plan`),

    - ``"variance"`` takes the node that lowers the total variance most,
      :math:`\sum_i R_{ij}^2 / (R_{jj} + s^2)`;
    - ``"weighted"`` counts by how uncertain the classes are,
      :math:`g_j \sum_i g_i R_{ij}^2 / (R_{jj} + s^2)` with :math:`g = 1 - \sum_c p_c^2`.

    Until there are four labels for each class seen, all take the node of ``"variance"``: before,
    probabilities mislead. Within a batch R is conditioned on each pick, so that picks do not repeat
    each other. Adding a label costs one column of Γ and O(N·D); noise and temperature are chosen
    again, by leave-one-out, whenever the number of labels has grown by a quarter.

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted. The labelling goes on from a copy: the estimator itself stays as it is. Use
        :meth:`on` to begin without.
    candidates : array, optional
        Nodes that may be suggested; all when not given. Labelled ones never are. Wherever nodes are
        given they are indices, or names where the graph has any; answers are indices.
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
        kept = check_nodes(nodes, n_nodes, prior.nodes.names)
        self.nodes = None if kept is None else np.union1d(kept, self._plan.nodes)
        self._refreshes_itself = refresh == "auto"
        self._book = LabelBook(n_nodes, prior.nodes.names)
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
        given = problem_of(X, y, adjacency)
        if given.y is not None and not all(is_unlabelled(label) for label in given.y):
            estimator.fit(X, y, adjacency)
            return cls(estimator, candidates=candidates, costs=costs, nodes=nodes, refresh=refresh)
        n_nodes = count_nodes(given.X, given.y, given.adjacency)
        prior = estimator.make_prior(given.X, given.adjacency, n_nodes, given.names)
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
        asked = check_nodes(list(pending), self._n_nodes, self._prior.nodes.names, "pending")
        assert asked is not None
        waiting = [node for node in asked.tolist() if node not in self._book.codes]
        plan = self._plan if n == 1 and not waiting else self._plan.copy()
        plan.observe(waiting)
        is_free = ~np.isin(plan.candidates, [*self._book.codes, *self._book.skipped, *waiting])
        weights = self._weights(strategy)
        return pick(n, plan, is_free, weights, self._costs)

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
        kept = doubt(self.predict_proba())
        if self.nodes is None:
            return kept
        weights = np.zeros(self._n_nodes)
        weights[self.nodes] = kept
        return weights


__all__ = ["Labelling", "Strategy", "Suggestions", "suggest"]


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
    strategy : {"weighted", "variance"}
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

    >>> import numpy as np
    >>> triangles = np.kron(np.eye(3), np.ones((3, 3)))
    >>> nodes, gains = suggest(None, adjacency=triangles, n=3, dtype="float64")
    >>> sorted((nodes // 3).tolist())
    [0, 1, 2]
    """
    labelling = Labelling.on(X, y, adjacency, candidates=candidates, costs=costs, **settings)
    return labelling.suggest(n, strategy)
