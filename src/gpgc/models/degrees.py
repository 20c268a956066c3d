"""A view by the degrees around a node: for graphs where hubs are of another kind.

A node is known by the logarithm of its degree, its mean over neighbors and over theirs, and its
standard deviation over neighbors, centered and in units of their standard deviations; the kernel is
the squared exponential of these four numbers.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.moments import ColumnMoments
from gpgc.graph.nodes import JoinedNodes, Nodes
from gpgc.graph.normalize import without_loops
from gpgc.kernels import Covariance, Features, SquaredExponential
from gpgc.kernels.covariance import inverse_or_zero
from gpgc.kernels.rows import Rows, StoredRows
from gpgc.models.view import Description, Layers, Need, View

LEAST_STD = 1e-9
"""Standard deviation, relative to the mean, up to which all nodes count as equal."""

DEGREE_SCALE = 2.0
"""Length scale of the squared exponential of degrees, in their standard deviations."""


class DegreesView(View):
    """The degrees around a node."""

    name: ClassVar[str] = "degrees"
    needs: ClassVar[tuple[Need, ...]] = ("links",)
    depends_on_features: ClassVar[bool] = False
    landmark_step: ClassVar[int] = 4

    def describe(self, nodes: Nodes, model: Layers, context: Context) -> Description:
        """Return four numbers a node; degrees of fitted nodes stay when others join."""
        links, logs = nodes.propagation_without_loops, -np.log(nodes.propagation.diagonal())
        numbers = degrees_around(links, logs, links, logs)
        moments = DegreeMoments.of_linked(numbers)
        fitted = moments.standardized(numbers)

        def joined(nodes: JoinedNodes, known: Integers, context: Context) -> Description:
            to_old, among = nodes.split_rows()
            every = np.concatenate([logs, -np.log(among.diagonal())])
            wide = links.copy()
            wide.resize((len(logs), len(every)))
            new = sp.hstack([to_old, without_loops(among)], format="csr")
            of_all = sp.vstack([wide, new], format="csr")
            found = moments.standardized(degrees_around(new, every[len(logs) :], of_all, every))
            return Description([StoredRows.of(np.vstack([fitted[known], found]), context.dtype)])

        return Description([StoredRows.of(fitted, context.dtype)], joined)

    def kernel(self, rows: Rows, model: Layers, context: Context) -> Covariance:
        """Return exp(−‖x − y‖² / 2ℓ²)."""
        return Features(SquaredExponential(DEGREE_SCALE), rows, context)


class DegreeMoments(ColumnMoments):
    """Means and spreads of the numbers of nodes; those of two sets of nodes give those of both."""

    @classmethod
    def of_linked(cls, numbers: Array) -> Self:
        """Return those of the nodes that have links, which have log degrees above 0."""
        return cls.of(numbers[numbers[:, 0] > 0])

    def standardized(self, numbers: Array) -> Array:
        """Return rows centered and in units of the standard deviations; 0 where all are equal."""
        std = self.std
        scale = inverse_or_zero(np.where(std > LEAST_STD * np.abs(self.mean), std, 0.0))
        return np.asarray((numbers - self.mean) * scale)


def degrees_around(rows: sp.csr_array, own: Array, links: sp.csr_array, logs: Array) -> Array:
    """Return own log degree (n,), its mean at one and two links, and its std over neighbors.

    The nodes have ``rows`` (n, N) of the ``links`` of all N, whose log degrees are ``logs``.

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
    """Return 1, the log degree and its square (n, 3), to be summed over neighbors."""
    return np.stack([np.ones_like(logs), logs, logs**2], axis=1)


def mean_logs(sums: Array) -> Array:
    """Return the mean log degree (n,) of neighbors from weighted sums of its powers (n, 3)."""
    return np.asarray(inverse_or_zero(sums[:, 0]) * sums[:, 1])


def degree_numbers(own: Array, sums: Array, farther: Array) -> Array:
    """Return the four numbers (n, 4) of some nodes.

    ``sums`` (n, 3) over their neighbors are those of the powers of log degrees, ``farther`` (n,)
    those of the mean log degrees around these.
    """
    share = inverse_or_zero(sums[:, 0])
    first = share * sums[:, 1]
    spread = np.sqrt(np.maximum(share * sums[:, 2] - first**2, 0.0))
    return np.stack([own, first, share * farther, spread], axis=1)
