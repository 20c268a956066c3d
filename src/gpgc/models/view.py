"""A view: one way to see nodes, by rows of numbers and a kernel on them.

A new view is one file with a subclass of :class:`View` and a call of :func:`register_view`; the
choice by leave-one-out, model files and the command line need no change.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.primitives import NUMPY
from gpgc.graph.nodes import JoinedNodes, Nodes, stack
from gpgc.kernels import Covariance
from gpgc.kernels.covariance import inverse_or_zero, take
from gpgc.kernels.rows import Rows, StoredRows

STANDARDIZED = "standardized "
"""Before the names of views that see the standardized columns of X."""

LARGE_BYTES = 2**26
"""Size of dense features from which their directions are not held beside them."""

JOIN_STEPS = 20
"""Steps in which joining nodes that are linked with each other find the fixed points of their rows.

Fitted nodes keep theirs, so that this is no polynomial of the whole graph's matrix."""

Need = Literal["features", "links", "standardized columns"]

Seen = TypeVar("Seen", Nodes, JoinedNodes)


class Layers(Protocol):
    """What a view may ask of the model that it belongs to."""

    @property
    def seed(self) -> int:
        """Of what is drawn at random."""

    @property
    def exact_nodes(self) -> int:
        """Number of nodes up to which every node is a landmark."""

    @property
    def one_hot_nodes(self) -> int:
        """Number of nodes up to which a graph without features has one-hot rows."""

    def layers(self, rows: Rows, context: Context) -> Covariance:
        """Return k: the covariance of the last hidden layer of a network on rows."""


@dataclass(frozen=True, eq=False)
class Description:
    """Rows that describe nodes.

    Parameters
    ----------
    rows : sequence of Rows
        A set for each reach, over which the covariance is a mean.
    joined : function, optional
        ``joined(nodes, known, context)`` returns the description of some fitted nodes, followed by
        the new ones; without one (the default) nodes cannot join.
    groups : csr_array of shape (N, g), optional
        Which small component each node is in, where the rows are zeros; None (the default) without
        such.
    informed : int array, optional
        Nodes of which the rows say something, where that is not plain from features and links.
    approximations : tuple of str, default ()
        What is not exact, a phrase each.
    """

    rows: Sequence[Rows]
    joined: Callable[[JoinedNodes, Integers, Context], Description] | None = None
    groups: sp.csr_array | None = None
    informed: Integers | None = None
    approximations: tuple[str, ...] = ()

    def at(self, nodes: Integers) -> Description:
        """Return the rows of some of the nodes."""
        rows = [StoredRows(*one.take(nodes)) for one in self.rows]
        groups = None if self.groups is None else sp.csr_array(self.groups[nodes])
        return Description(rows, groups=groups)

    def followed_by(self, new: Description) -> Description:
        """Return the rows of these nodes and, after them, those of others."""
        rows = []
        for one, other in zip(self.rows, new.rows, strict=True):
            (upper, lengths), (lower, others) = one.take(None), other.take(None)
            rows.append(StoredRows(stack(upper, lower), np.concatenate([lengths, others])))
        both = (self.groups, new.groups)
        groups = None if self.groups is None else sp.vstack(both, format="csr")
        return Description(rows, groups=groups)


@dataclass(frozen=True)
class View(ABC):
    """One way to see nodes: each by its own features, unless :meth:`describe` says otherwise.

    Parameters
    ----------
    standardized : bool, default False
        Whether it sees the standardized columns of X, and the graph that is built of them.
    """

    name: ClassVar[str]
    needs: ClassVar[tuple[Need, ...]] = ()
    """What nodes must have for this view to be offered."""

    squared: ClassVar[bool] = False
    """Whether its covariance is unit(k k), summed over landmarks, and not k itself."""

    sees_links: ClassVar[bool] = True
    """Whether a node is described by more than its own features."""

    depends_on_features: ClassVar[bool] = True
    """Whether it would be another view with other features and the same links."""

    is_smoother: ClassVar[bool] = False
    """Whether it is a smoothing kernel (:class:`gpgc.gp.Smoother`) and not a covariance."""

    landmark_step: ClassVar[int] = 1
    """Every so manieth landmark tells of all nodes where there are landmarks."""

    standardized: bool = False

    @property
    def title(self) -> str:
        """The name that users see."""
        return STANDARDIZED + self.name if self.standardized else self.name

    def seen(self, nodes: Seen) -> Seen:
        """Return nodes, fitted or joined, as this view sees them."""
        scaled = nodes.standardized if self.standardized else nodes
        assert scaled is not None
        return scaled if self.sees_links else scaled.alone()

    def is_offered(self, nodes: Nodes, model: Layers) -> bool:
        """Tell whether nodes have what this view needs; those with links, as it sees them."""
        has: dict[Need, bool] = {
            "features": nodes.features is not None,
            "links": nodes.has_links,
            "standardized columns": nodes.is_standardized,
        }
        return all(has[need] for need in self.needs)

    def rows(self, features: Any, dtype: np.dtype[Any]) -> Rows:
        """Return the rows of nodes from their own features (n, F); by default their directions."""
        if not sp.issparse(features) and features.size * dtype.itemsize >= LARGE_BYTES:
            return StoredRows.directions_of(features, dtype)
        return StoredRows.of(unit_rows(features), dtype, overwrite=True)

    def describe(self, nodes: Nodes, model: Layers, context: Context) -> Description:
        """Return what describes the nodes, as :meth:`seen` gives these; by default :meth:`rows`."""
        features = nodes.features
        entry = context.dtype.itemsize
        bytes_each = 2 * (entry + 4) if sp.issparse(features) else entry
        context.require(features.size * bytes_each, f"the features of {len(nodes):,} nodes")

        def joined(nodes: JoinedNodes, known: Integers, context: Context) -> Description:
            both = stack(take(features, known), nodes.new_features)
            return Description([self.rows(both, context.dtype)])

        return Description([self.rows(features, context.dtype)], joined)

    def kernel(self, rows: Rows, model: Layers, context: Context) -> Covariance:
        """Return k of rows: by default that of the model's hidden layers."""
        return model.layers(rows, context)

    def landmarks(self, n_nodes: int, sample: Integers | None, model: Layers) -> Integers | None:
        """Return those of the landmarks by which this view is told; None for all nodes."""
        if self.squared or sample is None:
            return sample
        if n_nodes <= model.one_hot_nodes:
            return None
        return np.asarray(sample[:: self.landmark_step])


VIEWS: dict[str, View] = {}
"""Name → view, in the order in which they are offered."""


def register_view(view: View) -> None:
    """Make a view known to *broad*."""
    VIEWS[view.name] = view


def view_of(title: str) -> View:
    """Return a view by the name that users see, such as "standardized features"."""
    view = VIEWS[title.removeprefix(STANDARDIZED)]
    return replace(view, standardized=title.startswith(STANDARDIZED))


def fixed_point(among: sp.csr_array, inflow: Any, part: float = 1.0, signs: Any = 1.0) -> Any:
    """Return Z = inflow + part · S Z · signs of nodes that join and are linked with each other."""
    found = inflow
    for _ in range(JOIN_STEPS if among.nnz else 0):
        found = part * (among @ found) * signs + inflow
    return found


def followed_by(fitted: StoredRows, known: Integers, new: Array) -> StoredRows:
    """Return the directions of some fitted nodes and, after them, of new ones, overwritten."""
    return directions(np.vstack([fitted.directions[known], NUMPY.scale_rows(new)[0]]))


def unit_rows(rows: Any, lengths: Any = 1.0) -> Any:
    """Return rows scaled to the given lengths; rows of zeros stay."""
    if sp.issparse(rows):
        norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64))
        return sp.csr_array(sp.diags_array(inverse_or_zero(norms) * lengths) @ rows)
    return rows * (inverse_or_zero(row_lengths(rows)) * lengths)[:, None].astype(rows.dtype)


def row_lengths(rows: Array) -> Array:
    """Return the lengths of dense rows, in float64; 0 where their inverse would not be a number."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return np.where(lengths < np.finfo(rows.dtype).tiny, 0.0, lengths)


def directions(rows: Array) -> StoredRows:
    """Return rows of length 1, or 0, as what they are."""
    return StoredRows(rows, np.asarray(rows.any(axis=1), rows.dtype))
