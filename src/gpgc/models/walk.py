r"""A view by where a node is on the graph: label propagation.

.. math::
    K = a\,(\tilde D - (1 - a) \tilde A)^{-1}
      = \tilde D^{-1/2}\, \frac{a}{1 - (1 - a)\hat A}\, \tilde D^{-1/2}

is what a random walk that ends with probability a at each step makes of the links. Its weighted
means of labels (:class:`gpgc.gp.Smoother`) know where a node is, of which features may say nothing.
The filter is a Chebyshev series in Â, :math:`c_n = 2a z^n / \sqrt{1 - b^2}` with b = 1 − a and
:math:`z = (1 - \sqrt{1 - b^2}) / b`, half of it for n = 0.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Index, Integers
from gpgc.compute import Context
from gpgc.graph.nodes import JoinedNodes, Nodes
from gpgc.graph.normalize import normalize
from gpgc.models.view import Layers, Need, View, fixed_point

TELEPORT = 0.01
"""a."""

STEPS = 60
"""Terms of the series: what is left out is z⁶⁰ = 2e-4 of the filter's size."""

MOST_WORK = 2**31
"""Products, links × steps × columns, up to which the walk is looked at."""

AT_ONCE = 64
"""Columns that are computed at once."""


class WalkView(View):
    """Where a node is on the graph."""

    name: ClassVar[str] = "walk"
    needs: ClassVar[tuple[Need, ...]] = ("links",)
    depends_on_features: ClassVar[bool] = False
    is_smoother: ClassVar[bool] = True

    def is_offered(self, nodes: Nodes, model: Layers) -> bool:
        """Nodes with links have it, if a few columns are computed in little time."""
        is_cheap = nodes.adjacency.nnz * STEPS * AT_ONCE <= MOST_WORK
        return super().is_offered(nodes, model) and bool(is_cheap)

    def describe(self, nodes: Nodes, model: Layers, context: Context) -> Any:
        """Return K of the nodes: a walk is known by products with it and has no rows."""
        return WalkKernel(nodes.adjacency)


class WalkKernel:
    """K of the nodes of a graph.

    Examples
    --------
    >>> pair = WalkKernel(sp.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    >>> pair.times(np.eye(2)).round(2)
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """

    approximations = ()

    def __init__(self, adjacency: sp.csr_array) -> None:
        self.propagation = normalize(adjacency, "symmetric")
        self.n_nodes = int(adjacency.shape[0])
        self._scale = np.sqrt(self.propagation.diagonal())  # D̃^(−½)
        self._diagonal: dict[int, float] = {}

    def fits(self, n_columns: int) -> bool:
        """Tell whether so many columns are computed in little time."""
        return bool(self.propagation.nnz * STEPS * n_columns <= MOST_WORK)

    def times(self, right: Array) -> Array:
        """Return K @ right (N, m)."""
        b = 1 - TELEPORT
        root = np.sqrt(1 - b**2)
        ratio, coefficient = (1 - root) / b, 2 * TELEPORT / root
        out = np.empty(right.shape)
        for start in range(0, right.shape[1], AT_ONCE):
            part = slice(start, start + AT_ONCE)
            before = self._scale[:, None] * right[:, part]
            here = self.propagation @ before
            total = coefficient / 2 * before + coefficient * ratio * here
            for step in range(2, STEPS + 1):
                before, here = here, 2 * (self.propagation @ here) - before
                total += coefficient * ratio**step * here
            out[:, part] = self._scale[:, None] * total
        return out

    def _columns(self, nodes: Integers) -> Array:
        start = np.zeros((self.n_nodes, len(nodes)))
        start[nodes, np.arange(len(nodes))] = 1.0
        return self.times(start)

    def block(self, rows: Index, cols: Index) -> Array:
        """Return K[rows, cols]."""
        every = np.arange(self.n_nodes)
        left, right = every[slice(None) if rows is None else rows], every[cols]
        if len(left) < len(right):
            return self._columns(left)[right].T
        return self._columns(right)[left]

    def diag(self, rows: Index) -> Array:
        """Return K_ii of some nodes, each computed once."""
        nodes = np.arange(self.n_nodes)[rows]
        missing = np.array([node for node in nodes if node not in self._diagonal], dtype=np.intp)
        for start in range(0, len(missing), AT_ONCE):
            some = missing[start : start + AT_ONCE]
            found = self._columns(some)[some, np.arange(len(some))]
            self._diagonal |= dict(zip(some.tolist(), found.tolist(), strict=True))
        return np.array([self._diagonal[node] for node in nodes.tolist()])

    def extended(self, sums: Array) -> Array:
        """Return sums at the fitted nodes as they are."""
        return sums

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> JoinedWalk:
        """Return K of some fitted nodes and of new ones."""
        return JoinedWalk(nodes, known)


class JoinedWalk:
    r"""K of some fitted nodes and of new ones, which leave that of the fitted ones as it is.

    From :math:`(\tilde D - (1 - a)\tilde A) K = a I` sums over labels at a new node are
    :math:`(1 - a) \sum_u A_{iu} F_u / (\tilde d_i - (1 - a))`.
    """

    approximations = ()

    def __init__(self, nodes: JoinedNodes, known: Integers) -> None:
        links, n_fitted = nodes.weights, len(nodes.fitted)
        self.known, self.n_nodes = known, len(known) + links.shape[0]
        degrees = np.asarray(links.sum(axis=1)).ravel() + 1
        steps = sp.csr_array(sp.diags_array((1 - TELEPORT) / (degrees - (1 - TELEPORT))) @ links)
        self._to_old, self._among = steps[:, :n_fitted], steps[:, n_fitted:]

    def extended(self, sums: Array) -> Array:
        """Return sums at the field from those at all fitted nodes."""
        new = fixed_point(self._among, self._to_old @ sums)
        return np.vstack([sums[self.known], new])
