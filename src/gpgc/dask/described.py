"""Rows that describe the nodes of a block, and their covariance with those that all tasks know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.primitives import NUMPY
from gpgc.compute.runner import Serial
from gpgc.kernels import Covariance
from gpgc.kernels.rows import StoredRows
from gpgc.models import ViewWeights
from gpgc.models.broad import Broad
from gpgc.models.broad_inputs import FEATURE_VIEWS, FORMS, BroadInputs
from gpgc.models.described import KnownRows, directions, unit_rows
from gpgc.models.prior import mixed
from gpgc.models.surroundings import SparseRows

Described: TypeAlias = Mapping[str, Sequence[StoredRows]]
"""View → for each of its reaches the rows of some nodes."""

Whitenings: TypeAlias = Mapping[str, Array | None]
"""View → L⁻ᵀ of its landmarks, None where it has no Nyström root."""

ROWS_AT_ONCE = 2**14
"""Rows of a block that are described at once: of larger blocks no second copy is held."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Rows that every task knows: those of the landmarks, and of others after them.

    Attributes
    ----------
    rows : Described
        The rows.
    landmarks : mapping
        View → which of them are its landmarks; None where it is exact, and needs none.
    """

    rows: Described
    landmarks: Mapping[str, Integers | None]

    def __len__(self) -> int:
        return n_rows(self.rows)

    def extended(self, parts: Sequence[Described]) -> Reference:
        """Return these rows, and more of them at the end."""
        return Reference(stacked([self.rows, *parts]), self.landmarks)


def block_context(dtype: Any) -> Context:
    """Return how a task computes: in its own thread, since others run beside it."""
    return Context(np.dtype(dtype), Serial())


def described(pieces: Sequence[Array], features: Array | None, dtype: Any) -> Described:
    """Return the rows of a block from what was diffused, and from its own features.

    Parameters
    ----------
    pieces : sequence of arrays of shape (reaches, n, columns)
        Slices of the diffused columns; none where the view by the graph is not wanted.
    features : array of shape (n, F) or None
        X; None where the features' own view is not wanted.
    dtype : numpy dtype
        Of the rows.
    """
    found: dict[str, Sequence[StoredRows]] = {}
    if len(pieces):
        found["graph"] = [
            directions(
                NUMPY.scale_rows(np.concatenate([piece[reach] for piece in pieces], axis=1))[0]
            )
            for reach in range(len(pieces[0]))
        ]
    if features is not None:
        found["features"] = [StoredRows.of(unit_rows(features), np.dtype(dtype))]
    return found


def with_views(rows: Described, others: Mapping[str, StoredRows]) -> Described:
    """Return rows with those of further views beside them."""
    return {**rows, **{view: [stored] for view, stored in others.items()}}


@dataclass(frozen=True, eq=False)
class BlockRows:
    """What the rows of all nodes of a block are made of, some of them at a time.

    Attributes
    ----------
    pieces, features, dtype
        As in :func:`described`; tasks of them before they are on a worker.
    others : mapping
        Further view → its rows, or what gives some of them by ``take``.
    """

    pieces: Sequence[Any]
    features: Any
    others: Mapping[str, Any]
    dtype: Any

    @property
    def n_rows(self) -> int:
        """How many nodes the block has."""
        if len(self.pieces):
            return int(self.pieces[0].shape[1])
        if self.features is not None:
            return len(self.features)
        return int(next(iter(self.others.values())).shape[0])

    def parts(self) -> Iterator[Described]:
        """Describe some rows after the other."""
        for start in range(0, self.n_rows, ROWS_AT_ONCE):
            part = slice(start, start + ROWS_AT_ONCE)
            features = None if self.features is None else self.features[part]
            rows = described([piece[:, part] for piece in self.pieces], features, self.dtype)
            yield with_views(
                rows, {view: StoredRows(*stored.take(part)) for view, stored in self.others.items()}
            )


def stacked(parts: Sequence[Described]) -> Described:
    """Return the rows of several sets of nodes, one below the other."""
    return {
        view: [_stack([part[view][reach] for part in parts]) for reach in range(len(reaches))]
        for view, reaches in parts[0].items()
    }


def _stack(parts: Sequence[StoredRows]) -> StoredRows:
    rows = [part.directions for part in parts]
    lengths = np.concatenate([part.lengths for part in parts])
    if sp.issparse(rows[0]):
        return StoredRows(sp.vstack(rows, format="csr"), lengths)
    return StoredRows(np.concatenate(rows), lengths)


def chosen(rows: Described, index: Any) -> Described:
    """Return some of the rows."""
    return {
        view: [StoredRows(*reach.take(index)) for reach in reaches]
        for view, reaches in rows.items()
    }


def n_rows(rows: Described) -> int:
    """Return how many nodes are described."""
    return len(next(iter(rows.values()))[0].lengths)


def landmark_places(
    architecture: Broad, n_nodes: int, sample: Integers | None
) -> dict[str, Integers | None]:
    """Return for each view which of the landmarks of a graph are its own; None where it has none.

    Squares run over all nodes where a graph has no others.
    """
    every = np.arange(n_nodes) if sample is None else sample
    places: dict[str, Integers | None] = {}
    for view in FEATURE_VIEWS:
        own = architecture.view_landmarks(view, n_nodes, sample)
        is_exact = own is None and FORMS[view] != "squared"
        places[view] = None if is_exact else np.searchsorted(every, every if own is None else own)
    return places


def inputs_of(known: Reference, context: Context) -> Mapping[str, BroadInputs]:
    """Return the inputs of each view."""
    return {
        view: BroadInputs(
            KnownRows([_as_rows(reach) for reach in reaches]),
            known.landmarks[view],
            FORMS[view],
            context,
        )
        for view, reaches in known.rows.items()
    }


def _as_rows(rows: StoredRows) -> StoredRows:
    is_sparse = sp.issparse(rows.directions)
    return SparseRows(rows.directions, rows.lengths) if is_sparse else rows


@dataclass(frozen=True)
class Model:
    """What makes a covariance of described rows.

    Parameters
    ----------
    architecture : Broad
        How rows become a covariance.
    weights : mapping
        Of the views.
    dtype : str
        In which it is computed.
    """

    architecture: Broad
    weights: ViewWeights
    dtype: str

    def covariance(
        self, known: Reference, rows: Described, whitenings: Whitenings | None = None
    ) -> Covariance:
        """Return Γ of the rows that every task knows and, after them, of other nodes.

        Parameters
        ----------
        known, rows : Reference, Described
            Both.
        whitenings : mapping, optional
            As :meth:`whitenings` returns them, where they are known.
        """
        wanted, given = self._wanted, whitenings or {}
        parts = [{view: part[view] for view in wanted} for part in (known.rows, rows)]
        both = Reference(stacked(parts), known.landmarks)
        inputs = inputs_of(both, block_context(self.dtype))
        terms = [
            (weight, self.architecture.covariance(inputs[v]._replace(whitening=given.get(v))))
            for v, weight in wanted.items()
        ]
        return mixed(terms)

    def whitenings(self, known: Reference) -> Whitenings:
        """Return what the landmarks of views have in common for all rows, by view."""
        inputs = inputs_of(known, block_context(self.dtype))
        return {view: self.architecture.whitening(inputs[view]) for view in self._wanted}

    @property
    def _wanted(self) -> dict[str, float]:
        return {view: weight for view, weight in self.weights.items() if weight}
