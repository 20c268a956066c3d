"""Everything a user gives, in one order of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from gpgc._typing import Integers
from gpgc.problem.node_table import NodeTable


@dataclass(frozen=True, eq=False)
class Problem:
    """Features, labels or values with weights, and graph, with their N nodes in one order.

    `labels_drawn` are nodes drawn at random by the column ``role`` of a file of labels, `n_marked`
    its rows marked as unlabelled.
    """

    X: Any
    y: Any
    adjacency: Any
    sample_weight: Any = None
    names: NDArray[Any] | None = None
    labels_drawn: Integers | None = None
    n_marked: int = 0

    @cached_property
    def ids(self) -> list[str]:
        """The names of the nodes as files write them."""
        return [] if self.names is None else [str(name) for name in self.names.tolist()]

    @property
    def arguments(self) -> dict[str, Any]:
        """What ``fit`` takes."""
        return {
            "X": self.X,
            "y": self.y,
            "adjacency": self.adjacency,
            "sample_weight": self.sample_weight,
        }

    @property
    def encoded(self) -> tuple[str, ...] | None:
        """What was done with the columns of the features, a phrase each; None for plain numbers."""
        has_encoder = isinstance(self.X, NodeTable) and self.X.encoder is not None
        return self.X.encoder.said if has_encoder else None

    @property
    def features(self) -> Any:
        """The features (N, F), or None."""
        return self.X.features if isinstance(self.X, NodeTable) else self.X
