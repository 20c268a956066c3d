"""Which node has which label by now, and which are to be left alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gpgc._typing import Integers
from gpgc.errors import InputError
from gpgc.estimators.inputs import check_nodes
from gpgc.estimators.labels import is_unlabelled


class LabelBook:
    """Labels of nodes that come, change and go.

    Parameters
    ----------
    n_nodes : int
        N.

    Attributes
    ----------
    classes : list
        Labels in the order in which they were first seen; those that no node has are dropped.
    codes : dict of int to int
        The class of each labelled node, as an index of ``classes``.
    skipped : set of int
        Nodes without a label that are never suggested.

    Examples
    --------
    >>> book = LabelBook(5)
    >>> book.add([0, 3], ["left", "right"])
    array([0, 3])
    >>> book.correct([3], ["left"])
    >>> book.classes, book.codes
    (['left'], {0: 0, 3: 0})
    """

    def __init__(self, n_nodes: int) -> None:
        self.n_nodes = n_nodes
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
        other = type(self)(self.n_nodes)
        other.classes, other.codes = self.classes.copy(), self.codes.copy()
        other.skipped = self.skipped.copy()
        return other

    def _check(self, nodes: Any, labels: Any) -> tuple[Integers, list[Any]]:
        chosen, given = check_nodes(nodes, self.n_nodes), list(labels)
        if chosen is None or len(chosen) != len(given):
            raise InputError(f"labels must be one for each node, got {len(given)} for {nodes}")
        if any(is_unlabelled(label) for label in given):
            raise InputError(f"labels must not be blank (-1, None or NaN), got {given}")
        return chosen, given

    def _nodes(self, nodes: Any) -> list[int]:
        chosen = check_nodes(nodes, self.n_nodes)
        return [] if chosen is None else chosen.tolist()

    def _write(self, nodes: Integers, given: Sequence[Any]) -> None:
        self.classes += [label for label in dict.fromkeys(given) if label not in self.classes]
        for node, label in zip(nodes.tolist(), given, strict=True):
            self.codes[node] = self.classes.index(label)

    def _drop_unseen(self) -> None:
        seen = sorted(set(self.codes.values()))
        self.classes = [self.classes[code] for code in seen]
        self.codes = {node: seen.index(code) for node, code in self.codes.items()}
