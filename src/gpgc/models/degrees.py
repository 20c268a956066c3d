"""A node by the degrees around it: a view for graphs where hubs are of another kind.

It is known by the logarithm of its degree, its mean over neighbours and over theirs, and its
standard deviation over neighbours, centred and in units of their standard deviations.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.moments import ColumnMoments
from gpgc.graph.nodes import JoinedNodes, Nodes
from gpgc.graph.normalize import without_loops
from gpgc.kernels.covariance import inverse_or_zero
from gpgc.kernels.rows import StoredRows
from gpgc.models.described import Description, KnownRows

LEAST_STD = 1e-9
"""Standard deviation, relative to the mean, up to which all nodes count as equal."""


DEGREE_SCALE = 2.0
"""Length scale of the squared exponential of degrees, in their standard deviations."""


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
        self.moments = DegreeMoments.of_linked(numbers)
        self.numbers = self.moments.standardised(numbers)
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
        both = np.vstack([self.numbers[known], self.moments.standardised(numbers)])
        return KnownRows((StoredRows.of(both, context.dtype),))


class DegreeMoments(ColumnMoments):
    """Means and spreads of the numbers of nodes; those of two sets of nodes give those of both."""

    @classmethod
    def of_linked(cls, numbers: Array) -> Self:
        """Return those of the nodes that have links, which have log degrees above 0."""
        return cls.of(numbers[numbers[:, 0] > 0])

    def standardised(self, numbers: Array) -> Array:
        """Return rows centred and in units of the standard deviations; 0 where all are equal."""
        std = self.std
        scale = inverse_or_zero(np.where(std > LEAST_STD * np.abs(self.mean), std, 0.0))
        return np.asarray((numbers - self.mean) * scale)


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
    powers = log_powers(logs)
    return degree_numbers(own, rows @ powers, rows @ mean_logs(links @ powers))


def log_powers(logs: Array) -> Array:
    """Return 1, the log degree and its square (n, 3), to be summed over neighbours."""
    return np.stack([np.ones_like(logs), logs, logs**2], axis=1)


def mean_logs(sums: Array) -> Array:
    """Return the mean log degree (n,) of neighbours from weighted sums of its powers (n, 3)."""
    return np.asarray(inverse_or_zero(sums[:, 0]) * sums[:, 1])


def degree_numbers(own: Array, sums: Array, farther: Array) -> Array:
    """Return the four numbers (n, 4) of some nodes.

    Parameters
    ----------
    own : array of shape (n,)
        Their log degrees.
    sums : array of shape (n, 3)
        Weighted sums over their neighbours of the powers of the log degrees.
    farther : array of shape (n,)
        Weighted sums over their neighbours of the mean log degrees around those.
    """
    first, squares = mean_logs(sums), inverse_or_zero(sums[:, 0]) * sums[:, 2]
    spread = np.sqrt(np.maximum(squares - first**2, 0.0))
    return np.stack([own, first, inverse_or_zero(sums[:, 0]) * farther, spread], axis=1)
