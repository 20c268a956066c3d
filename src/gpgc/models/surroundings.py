r"""What a node has around it, told apart and not summed up: views for graphs of unlike neighbours.

With :math:`\hat A_0`, Â without its diagonal, a node is described by

- *neighbours*: its own features, those of its neighbours and those of their neighbours side by
  side, :math:`[\bar X,\; \mathrm{unit}(\hat A_0 \bar X),\; \mathrm{unit}(\hat A_0^2 \bar X)]`, so
  that what a node is and what it has around it are two things;
- *structure*: whom it is linked with, the rows of :math:`\hat A_0`, which are those of
  :math:`A \tilde D^{-1/2}` up to their lengths;
- *degrees*: the logarithm of its degree, its mean over neighbours and over theirs, and its
  standard deviation over neighbours, in units of their standard deviations.

Only directions count in the first two. Rows are computed where they are asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.compute.caching import computed_once
from gpgc.graph.nodes import JoinedNodes, Nodes, stack
from gpgc.graph.normalize import without_loops
from gpgc.kernels.covariance import GEMM_GAIN, Columns, inverse_or_zero, take
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.described import Description, KnownRows, unit_rows


class Neighbours(Description):
    """Own features, neighbours' and theirs, side by side.

    Parameters
    ----------
    nodes : Nodes
        The graph with its features.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, nodes: Nodes, context: Context) -> None:
        self.links, self.own = nodes.propagation_without_loops, unit_rows(nodes.features)
        self.rows = (NeighbourRows(self.links, self.own, context),)

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the rows of both; new nodes change nothing around the fitted ones."""
        to_old, among = nodes.split_rows()
        own, links = unit_rows(nodes.new_features), without_loops(among)
        near = np.unique(to_old.indices)
        to_near = sp.csr_array(to_old[:, near])
        first = _sum(to_near @ self.own[near], links @ own)
        second = _sum(to_near @ (self.links[near] @ self.own), links @ first)
        fitted, _ = NeighbourRows(self.links, self.own, context).take(known)
        both = stack(fitted, side_by_side(own, first, second))
        return KnownRows((StoredRows.of(unit_rows(both), context.dtype),))


class NeighbourRows(Rows):
    """The rows of [X̄, unit(Â₀ X̄), unit(Â₀² X̄)].

    Parameters
    ----------
    links : csr_array of shape (N, N)
        Â₀.
    own : array or csr_array of shape (N, F)
        X̄, of rows of length 1, or 0.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, links: sp.csr_array, own: Any, context: Context) -> None:
        self.links = links.astype(context.dtype, copy=False)
        self.own = own.astype(context.dtype, copy=False)
        self.shape, self.dtype = (own.shape[0], 3 * own.shape[1]), context.dtype

    @computed_once
    def _first(self) -> Any:
        return self.links @ self.own

    def take(self, index: Index) -> tuple[Any, Array]:
        """Return directions and lengths of some rows."""
        rows = side_by_side(
            take(self.own, index), take(self._first, index), take(self.links, index) @ self._first
        )
        return StoredRows.of(unit_rows(rows), self.dtype).take(None)

    @computed_once
    def _stored(self) -> StoredRows:
        return StoredRows(*self.take(None))

    def stored(self) -> StoredRows:
        """Return all rows, computed once."""
        return self._stored

    def lengths_of_all(self) -> Array:
        """Return the lengths of all rows."""
        return self._stored.lengths

    def cosines(self, cols: Index, context: Context) -> tuple[Columns, Array]:
        """Return a function of rows that gives their cosines with the columns and their lengths.

        Nothing is kept: mostly these rows are asked for at labels alone, to see what they say.
        """
        right, lengths = self.take(cols)
        return self._with(right, context), lengths


class Links(Description):
    """Whom each node is linked with.

    Parameters
    ----------
    nodes : Nodes
        The graph.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, nodes: Nodes, context: Context) -> None:
        self.links = nodes.propagation_without_loops
        self.rows = (LinkRows.of(unit_rows(self.links), context.dtype),)

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the links of both to fitted nodes; those among new nodes do not count."""
        both = sp.vstack([self.links[known], nodes.split_rows()[0]], format="csr")
        return KnownRows((LinkRows.of(unit_rows(both), context.dtype),))


class LinkRows(StoredRows):
    """Rows with as many columns as there are nodes and few entries, which stay sparse."""

    def cosines(self, cols: Index, context: Context) -> tuple[Columns, Array]:
        """Return a function of rows that gives their cosines with the columns and their lengths."""
        right, lengths = self.take(cols)
        by_column = sp.csr_array(right.T)

        def columns(rows: Index) -> tuple[Array, Array]:
            unit, of_rows = self.take(rows)
            return (unit @ by_column).toarray(), of_rows

        return columns, lengths


class Degrees(Description):
    """Log degrees around each node, centred and in units of their standard deviations.

    Parameters
    ----------
    nodes : Nodes
        The graph.
    context : Context
        How arithmetic is done.
    """

    def __init__(self, nodes: Nodes, context: Context) -> None:
        self.links = nodes.propagation_without_loops
        self.logs = -np.log(nodes.propagation.diagonal())
        numbers = degrees_around(self.links, self.logs, self.links, self.logs)
        self.mean, std = numbers.mean(axis=0), numbers.std(axis=0)
        self.scale = inverse_or_zero(np.where(std > 1e-9 * np.abs(self.mean), std, 0.0))
        self.numbers = (numbers - self.mean) * self.scale
        self.rows = (StoredRows.of(self.numbers, context.dtype),)

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the numbers of both; degrees of fitted nodes stay as they were."""
        to_old, among = nodes.split_rows()
        logs = np.concatenate([self.logs, -np.log(among.diagonal())])
        wide = self.links.copy()
        wide.resize((len(self.logs), len(logs)))
        new = sp.hstack([to_old, without_loops(among)], format="csr")
        links = sp.vstack([wide, new], format="csr")
        numbers = degrees_around(new, logs[len(self.logs) :], links, logs)
        both = np.vstack([self.numbers[known], (numbers - self.mean) * self.scale])
        return KnownRows((StoredRows.of(both, context.dtype),))


def degrees_around(rows: sp.csr_array, own: Array, links: sp.csr_array, logs: Array) -> Array:
    """Return own log degree, its mean at one and two links, and its std over neighbours.

    Parameters
    ----------
    rows : csr_array of shape (n, N)
        Links of the nodes in question.
    own : array of shape (n,)
        Their log degrees.
    links, logs : csr_array of shape (N, N), array of shape (N,)
        Links and log degrees of all nodes.

    Returns
    -------
    array of shape (n, 4)

    Examples
    --------
    >>> chain = sp.csr_array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> degrees_around(chain, np.array([1.0, 2, 1]), chain, np.array([1.0, 2, 1])).round(2)
    array([[1., 2., 1., 0.],
           [2., 1., 2., 0.],
           [1., 2., 1., 0.]])
    """
    means, means_of_all = _averages(rows), _averages(links)
    first = means @ logs
    spread = np.sqrt(np.maximum(means @ logs**2 - first**2, 0.0))
    return np.stack([own, first, means @ (means_of_all @ logs), spread], axis=1)


def side_by_side(own: Any, first: Any, second: Any) -> Any:
    """Return [X̄, unit(first), unit(second)], sparse if all are and products with it gain by it."""
    parts = [own, unit_rows(first), unit_rows(second)]
    if all(sp.issparse(part) for part in parts):
        entries, size = sum(part.nnz for part in parts), 3 * own.shape[0] * own.shape[1]
        if entries * GEMM_GAIN < size:
            return sp.hstack(parts, format="csr")
    return np.hstack([part.toarray() if sp.issparse(part) else part for part in parts])


def _averages(links: sp.csr_array) -> sp.csr_array:
    """Return rows scaled to sum 1; empty ones stay."""
    return sp.csr_array(sp.diags_array(inverse_or_zero(np.asarray(links.sum(axis=1)))) @ links)


def _sum(left: Any, right: Any) -> Any:
    """Return the sum of two matrices of which both or none are sparse."""
    return sp.csr_array(left + right) if sp.issparse(left) else np.asarray(left + right)
