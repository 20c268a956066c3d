"""Which nodes to label next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np

from gpgc._typing import Array, Integers
from gpgc.errors import InputError
from gpgc.estimators import GPGCClassifier
from gpgc.gp.calibration import softmax
from gpgc.graph import as_adjacency
from gpgc.uncertainty.growing import GrowingPosterior

Strategy = Literal["weighted", "variance", "margin"]

DESIGN_NOISE = 0.05
"""Noise of a label when variances are planned, relative to the mean variance not shared by all."""

EXACT_NODES = 4000
"""Number of nodes up to which the reduction of variance is summed over all of them."""

N_WITNESSES = 1000
"""Nodes of larger graphs, drawn with a seed, over which it is summed."""

MAX_CANDIDATES = 20_000
"""Candidates that are looked at; of more, a seeded sample."""

CACHED_ROWS = 16
"""Rows of the residual covariance that are worked on at once."""

LABELS_PER_CLASS = 2
"""Labels for each class seen from which on probabilities are trusted to weigh nodes."""


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
    strategy : {"weighted", "variance", "margin"}
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

    On the covariance R that remains given the labels so far, with s² the noise of a label,

    - ``"variance"`` takes the node that lowers the total variance most,
      :math:`\sum_i R_{ij}^2 / (R_{jj} + s^2)`;
    - ``"weighted"`` counts by how uncertain the classes are,
      :math:`g_j \sum_i g_i R_{ij}^2 / (R_{jj} + s^2)` with :math:`g = 1 - \sum_c p_c^2`, once
      there are two labels for each class seen, and is ``"variance"`` until then;
    - ``"margin"`` takes the smallest gap between the two largest probabilities, by the largest
      :math:`(1 - (p_{(1)} - p_{(2)})) R_{jj}`.

    What all nodes have in common is conditioned away first: it moves no decision. Within a batch
    R is conditioned on each pick, so that picks do not repeat each other. Adding a label costs one
    column of Γ and O(N·D); noise and temperature are chosen again, by leave-one-out, whenever the
    number of labels has doubled.

    Parameters
    ----------
    estimator : GPGCClassifier
        Fitted; it is conditioned on further labels as they come. Use :meth:`on` to begin without.
    candidates : int array, optional
        Nodes that may be suggested; all when not given. Labelled ones never are.
    costs : array of shape (N,), optional
        What labelling each node costs; gains are divided by it.

    Attributes
    ----------
    classes : list
        Labels in the order in which they were first seen.

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
        self, estimator: GPGCClassifier, *, candidates: Any = None, costs: Any = None
    ) -> None:
        self._estimator = estimator
        self._n_nodes = n_nodes = estimator.covariance_.n_nodes
        self._costs = _check_costs(costs, n_nodes)
        every, rng = np.arange(n_nodes), np.random.default_rng(estimator.random_state)
        chosen = estimator._check_nodes(candidates)
        allowed = every if chosen is None else np.unique(chosen)
        self._candidates = _sample(allowed, MAX_CANDIDATES, rng)
        self._witnesses = every if n_nodes <= EXACT_NODES else _sample(every, N_WITNESSES, rng)
        self.classes: list[Any] = []
        self._codes: dict[int, int] = {}
        self._chosen_at = 0
        self._design = GrowingPosterior(estimator.covariance_, 1.0)
        self._design.noise_variance = DESIGN_NOISE * (self._design.observe_mean() or 1.0)
        self._residual = self._design.residual(self._witnesses, self._candidates)
        labelled = getattr(estimator, "labelled_nodes_", np.empty(0, dtype=np.intp))
        if len(labelled):
            self.add(labelled, estimator.transduction_[labelled])

    @classmethod
    def on(
        cls,
        X: Any,
        y: Any = None,
        adjacency: Any = None,
        *,
        candidates: Any = None,
        costs: Any = None,
        **settings: Any,
    ) -> Self:
        """Begin on a graph with few labels or none; parameters as of :func:`suggest`."""
        estimator = GPGCClassifier(**settings)
        if y is not None and not all(_is_blank(label) for label in y):
            return cls(estimator.fit(X, y, adjacency), candidates=candidates, costs=costs)
        estimator._fit_graph(X, adjacency, _count_nodes(X, y, adjacency))
        return cls(estimator, candidates=candidates, costs=costs)

    def suggest(self, n: int = 1, strategy: Strategy = "weighted") -> Suggestions:
        """Return the next ``n`` nodes to label, best first; fewer where candidates run out."""
        if strategy not in get_args(Strategy):
            raise InputError(
                f"strategy must be one of {', '.join(get_args(Strategy))}, got {strategy!r}"
            )
        if n < 1:
            raise InputError(f"n must be at least 1, got {n}")
        here, cost = self._candidates, self._costs[self._candidates]
        free = ~np.isin(here, list(self._codes))
        n = min(n, int(free.sum()))
        design, residual = self._design, self._residual
        if n > 1:
            design, residual = design.copy(), residual.copy()
        weight = self._weights(strategy)
        nodes: list[int] = []
        gains: list[float] = []
        for _ in range(n):
            if nodes:
                _observe(design, residual, self._witnesses, here, nodes[-1:])
            variance = design.variance[here]
            if strategy == "margin":
                gain = weight[here] * variance
            else:
                fall = _weighted_squares(weight[self._witnesses], residual)
                gain = weight[here] * fall / (variance + design.noise_variance)
            gain = np.where(free, gain / cost, -np.inf)
            best = int(np.argmax(gain))
            free[best] = False
            nodes.append(int(here[best]))
            gains.append(float(gain[best]))
        return Suggestions(np.array(nodes, dtype=np.intp), np.array(gains))

    def add(self, nodes: Any, labels: Any) -> None:
        """Add labels of nodes that have none yet; classes not seen before are welcome."""
        chosen, given = self._estimator._check_nodes(nodes), list(labels)
        if chosen is None or len(chosen) != len(given):
            raise InputError(f"labels must be one for each node, got {len(given)} for {nodes}")
        if any(_is_blank(label) for label in given):
            raise InputError(f"labels must not be blank (-1, None or NaN), got {given}")
        if len(np.unique(chosen)) < len(chosen) or np.isin(chosen, list(self._codes)).any():
            raise InputError("nodes must be different ones without a label, got some twice")
        self.classes += [label for label in dict.fromkeys(given) if label not in self.classes]
        codes = [self.classes.index(label) for label in given]
        self._codes |= dict(zip(chosen.tolist(), codes, strict=True))
        _observe(self._design, self._residual, self._witnesses, self._candidates, chosen)
        if len(self._codes) >= 2 * self._chosen_at:
            self._choose_again()
        else:
            self._posterior.widen(len(self.classes))
            self._posterior.observe(chosen, np.eye(len(self.classes))[codes])

    def predict_proba(self) -> Array:
        """Return the probability (N, k) of each of ``classes``, from the labels so far.

        Without the estimate of class shares that :meth:`estimator` adds.
        """
        if not self._codes:
            raise InputError("probabilities need at least one label, got none so far")
        return softmax(self._temperature * self._posterior.mean)

    def estimator(self) -> GPGCClassifier:
        """Return the classifier on the labels so far, with all choices made again."""
        y = np.full(self._n_nodes, None, dtype=object)
        for node, code in self._codes.items():
            y[node] = self.classes[code]
        return self._estimator.relabel(y)

    def _choose_again(self) -> None:
        """Choose covariance, noise and temperature by all labels, and condition on them anew."""
        estimator, nodes = self.estimator(), list(self._codes)
        self._chosen_at, self._temperature = len(nodes), estimator.temperature_
        noise = max(estimator.noise_variance_, np.finfo(np.float64).tiny)
        self._posterior = GrowingPosterior(estimator.covariance_, noise, len(self.classes))
        self._posterior.observe(nodes, np.eye(len(self.classes))[list(self._codes.values())])

    def _weights(self, strategy: Strategy) -> Array:
        """Return how much each node counts."""
        codes = list(self._codes.values())
        few = not codes or np.bincount(codes).min() < LABELS_PER_CLASS or len(self.classes) < 2
        if few and strategy == "weighted":
            strategy = "variance"
        if strategy == "variance" or len(self.classes) < 2:
            return np.ones(self._n_nodes)
        probability = self.predict_proba()
        if strategy == "weighted":
            return np.asarray(1 - np.einsum("ic,ic->i", probability, probability))
        second, first = np.partition(probability, -2, axis=1)[:, -2:].T
        return np.asarray(1 - (first - second))


def _observe(
    design: GrowingPosterior, residual: Array, rows: Integers, columns: Integers, nodes: Any
) -> None:
    """Condition the design on nodes, and the stored residual covariance R[rows, columns]."""
    for node in nodes:
        design.observe([node])
        fall = design.last_row().astype(residual.dtype)
        left, right = fall[rows], fall[columns]
        for part in _parts(len(rows)):
            residual[part] -= np.outer(left[part], right)


def _weighted_squares(weights: Array, residual: Array) -> Array:
    """Return Σ_i w_i R_ij² for each column j."""
    total = np.zeros(residual.shape[1])
    for part in _parts(len(residual)):
        total += weights[part].astype(residual.dtype) @ residual[part] ** 2
    return total


def _parts(n_rows: int) -> Iterator[slice]:
    """Give the rows in parts that stay in cache."""
    return (slice(start, start + CACHED_ROWS) for start in range(0, n_rows, CACHED_ROWS))


def _sample(nodes: Integers, at_most: int, rng: np.random.Generator) -> Integers:
    if len(nodes) <= at_most:
        return nodes
    return np.sort(rng.choice(nodes, at_most, replace=False))


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
