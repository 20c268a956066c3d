"""How nodes are described by rows of numbers, from which *broad* takes cosines.

A description has a set of rows for each reach, and knows the rows of nodes that join later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.primitives import NUMPY
from gpgc.graph.nodes import JoinedNodes, NodeInputs, Nodes, stack
from gpgc.kernels.covariance import inverse_or_zero, take
from gpgc.kernels.pageranks import pageranks, pageranks_at
from gpgc.kernels.rows import DirectionsOf, Rows, StoredRows
from gpgc.models.projection import Projection, projection_for

LARGE_BYTES = 2**26
"""Size of dense features from which their directions are not held beside them."""


JOIN_STEPS = 20
"""Steps in which joining nodes that are linked with each other find the fixed points of their rows.

Fitted nodes keep theirs, so that this is no polynomial of the whole graph's matrix."""


class Description(ABC):
    """Rows that describe nodes.

    Attributes
    ----------
    rows : sequence of Rows
        A set for each reach.
    groups : csr_array of shape (N, g) or None
        Which small component each node is in, where the rows are zeros; None without such.
    approximations : tuple of str
        What is not exact, a phrase each.
    """

    rows: Sequence[Rows]
    groups: sp.csr_array | None = None
    approximations: tuple[str, ...] = ()

    @abstractmethod
    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the description of some fitted nodes, followed by the new ones.

        Parameters
        ----------
        nodes : JoinedNodes
            Fitted and new nodes.
        known : int array
            Which of the fitted ones.
        context : Context
            How arithmetic is done.
        """


class KnownRows(Description):
    """Rows that are known; nobody joins them."""

    def __init__(self, rows: Sequence[Rows], groups: sp.csr_array | None = None) -> None:
        self.rows, self.groups = rows, groups

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Refuse: the fitted nodes' own description joins nodes."""
        raise NotImplementedError("rows of joined nodes are not joined again")


class OwnFeatures(Description):
    """Each node by its own features, scaled to length 1.

    Parameters
    ----------
    features : array or csr_array of shape (N, F)
        X.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, features: Any, context: Context) -> None:
        size = features.shape[0] * features.shape[1] * context.dtype.itemsize
        if sp.issparse(features):
            size = 2 * features.nnz * (context.dtype.itemsize + 4)
        context.require(size, f"the features of {features.shape[0]:,} nodes")
        self.features = features
        is_large = not sp.issparse(features) and size >= LARGE_BYTES
        own = DirectionsOf(features, context.dtype) if is_large else _own_rows(features, context)
        self.rows = (own,)

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the features of both."""
        both = stack(take(self.features, known), nodes.new_features)
        return KnownRows((_own_rows(both, context),))


class DiffusedFeatures(Description):
    r"""The rows of :math:`\mathrm{PageRank}_a(\hat A)\,\tilde D^{-1/2}\bar X` for each reach a.

    Parameters
    ----------
    nodes : NodeInputs
        The graph with its features; one-hot ones where it has none.
    reaches : sequence of float
        Teleports a.
    steps : int
        Degree of the PageRanks' polynomials.
    seed : int
        Of the projection of very wide features.
    context : Context
        How arithmetic is done.
    """

    rows: Sequence[StoredRows]

    def __init__(
        self,
        nodes: NodeInputs,
        reaches: Sequence[float],
        steps: int,
        seed: int,
        context: Context,
    ) -> None:
        self.reaches = tuple(reaches)
        propagation, features = nodes.propagation, nodes.features
        n_nodes = propagation.shape[0]
        start = sp.eye_array(n_nodes, format="csr") if features is None else features
        self.projection = None if features is None else projection_for(features, seed, context)
        columns = n_nodes if self.projection is None else self.projection.n_columns
        if self.projection is not None:
            self.approximations = self.projection.approximations
        _require(len(reaches) + 1, n_nodes, columns, context)
        restart = _start(start, propagation, self.projection, context)
        diffused = pageranks(propagation, restart, reaches, steps, context)
        scale = context.primitives(n_nodes).scale_rows
        self.lengths = [_scaled(rows, scale, context) for rows in diffused]
        self.rows = [
            StoredRows(rows, np.asarray(lengths > 0, rows.dtype))
            for rows, lengths in zip(diffused, self.lengths, strict=True)
        ]

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return rows of fitted nodes as they are, and the fixed points that follow for new nodes.

        Z = (1 − a) (Â_new,old Z_old + Â_new,new Z) + a D̃^(−½) X̄. Without features a new node is
        known by its links alone.
        """
        to_old, among = nodes.split_rows()
        restart = np.zeros((among.shape[0], self.rows[0].shape[1]), dtype=context.dtype)
        if nodes.new_features is not None:
            restart = _start(nodes.new_features, among, self.projection, context)
        both = []
        for teleport, fitted, lengths in zip(self.reaches, self.rows, self.lengths, strict=True):
            reached = sp.csr_array(to_old @ sp.diags_array(lengths), dtype=context.dtype)
            inflow = (1 - teleport) * (reached @ fitted.directions) + teleport * restart
            new = inflow
            for _ in range(JOIN_STEPS):
                new = (1 - teleport) * (among @ new) + inflow
            new, _ = NUMPY.scale_rows(new)
            both.append(directions(np.vstack([fitted.directions[known], new])))
        return KnownRows(both)


def rows_diffused_at(
    few: Integers,
    nodes: Nodes,
    reaches: Sequence[float],
    steps: int,
    seed: int,
    context: Context,
) -> list[StoredRows]:
    """Return the rows of few nodes that :class:`DiffusedFeatures` has, for each reach.

    Parameters
    ----------
    few : int array of shape (n,)
        Which nodes.
    nodes : Nodes
        The graph with its features.
    reaches, steps, seed, context
        As there.
    """
    projection = projection_for(nodes.features, seed, context)
    _require(2, len(nodes), projection.n_columns, context)
    restart = _start(nodes.features, nodes.propagation, projection, context)
    found = pageranks_at(nodes.propagation, restart, few, reaches, steps, context)
    return [directions(NUMPY.scale_rows(rows)[0]) for rows in found]


def diffusion_is_large(nodes: Nodes, context: Context) -> bool:
    """Tell whether diffused features are so large that those of few nodes save much memory."""
    if nodes.features is None:
        return False
    return bool(np.prod(nodes.features.shape) * context.dtype.itemsize >= LARGE_BYTES)


def _require(n_arrays: int, n_nodes: int, n_columns: int, context: Context) -> None:
    size = n_arrays * n_nodes * n_columns * context.dtype.itemsize
    context.require(size, f"the diffused features of {n_nodes:,} nodes")


def _start(
    features: Any, propagation: sp.csr_array, projection: Projection | None, context: Context
) -> Array:
    """Return D̃^(−½) X̄ as a dense array, projected where it is too wide."""
    lengths = propagation.diagonal() ** 0.5
    if not sp.issparse(features):
        start: Any = np.empty(features.shape, dtype=context.dtype)
        row_bytes = features.shape[1] * (features.itemsize + 8)
        context.fill(start, lambda tile: unit_rows(features[tile], lengths[tile]), row_bytes)
    else:
        start = unit_rows(features, lengths)
    if projection is not None:
        start = projection.apply(start)
    start = start.toarray() if sp.issparse(start) else start
    return np.asarray(start, dtype=context.dtype)


def _scaled(rows: Array, scale: Callable[[Array], tuple[Array, Array]], context: Context) -> Array:
    """Scale rows to length 1 in place, and return their lengths."""
    lengths = np.empty(len(rows), dtype=rows.dtype)
    context.fill(lengths, lambda part: scale(rows[part])[1], rows.shape[1] * rows.itemsize)
    return lengths


def _own_rows(features: Any, context: Context) -> StoredRows:
    return StoredRows.of(unit_rows(features), context.dtype, overwrite=True)


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
