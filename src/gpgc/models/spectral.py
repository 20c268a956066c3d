r"""What *broad* knows of the nodes of a larger graph without features.

One-hot rows of N columns do not fit, and a random projection of them is noise: the cosines that
carry communities are smaller than its error. In their place a node is described by

- *eigenvectors*: the rows of :math:`U f_a(|\Lambda|)` with the leading eigenvectors U of Â without
  self-loops, and :math:`f_a(\lambda) = a / (1 - (1 - a)\lambda)`, the filter of personalised
  PageRank. Each large connected component also has its own eigenvector :math:`\tilde d^{1/2}` of
  eigenvalue 1. This tells communities apart.
- *hubs*: personalised PageRank to the nodes of largest degree. This tells near from far in graphs
  like trees, where no few eigenvectors do.
- *groups*: nodes of one small component are the same, those of different ones orthogonal.

An isolated node has rows of zeros: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.eigenvectors import leading_eigenvectors
from gpgc.compute.primitives import NUMPY
from gpgc.graph.components import components, indicators
from gpgc.graph.nodes import JoinedNodes
from gpgc.graph.normalize import without_loops
from gpgc.kernels.pageranks import pageranks
from gpgc.kernels.rows import StoredRows
from gpgc.models.described import JOIN_STEPS, Description, KnownRows, directions

RANK = 64
"""Eigenvectors beside those of the components."""

LARGE_COMPONENTS = 64
LARGE_FROM = 64
"""Components with eigenvectors of their own at most, and the number of nodes from which on."""

MOST_HUBS = 512
HUB_BYTES = 2**27
HUB_WORK = 2**33
"""Bounds on the hubs: their number, the size of their columns, and the products that they take.

Zones of a power grid with features, 20 and 5 labels a class: 83 and 65 % are right with 512 hubs,
81 and 59 with 1,024, 78 and 65 with 256."""

HUBS_AT_ONCE = 64
"""Hubs whose PageRanks are computed at once."""

HUB_REACH = 0.05
"""Teleport of the PageRanks to hubs."""

SMALLEST_VALUE = 0.05
"""Eigenvalues are not divided by less than this when a node joins."""

ONE_HOT_WORK = 2**35
"""Products that diffusing one-hot rows may take."""


class Eigenvectors(Description):
    """The rows of U f_a(|Λ|) for each reach a, of nodes without features.

    Parameters
    ----------
    propagation : csr_array of shape (N, N)
        Â, symmetric or normalised by rows.
    keys : array of shape (N,)
        The order in which nodes get the random numbers of the subspace iteration.
    reaches : sequence of float
        Teleports a.
    seed : int
        Of the subspace iteration.
    context : Context
        How arithmetic is done.
    """

    rows: Sequence[StoredRows]

    def __init__(
        self,
        propagation: sp.csr_array,
        keys: Array,
        reaches: Sequence[float],
        seed: int,
        context: Context,
    ) -> None:
        self.reaches = tuple(reaches)
        n_nodes, dtype = propagation.shape[0], context.dtype
        size = n_nodes * (RANK + 1) * (len(self.reaches) + 2) * dtype.itemsize
        context.require(size, f"the eigenvectors of a graph of {n_nodes:,} nodes")
        self.approximations = (f"{RANK} eigenvectors stand for one-hot rows",)
        found = components(propagation, LARGE_COMPONENTS, LARGE_FROM)
        self.groups = indicators(found.small, found.n_small, dtype) if found.n_small else None
        inside = np.flatnonzero(found.large >= 0)
        self._values, self._vectors = np.ones(1), np.zeros((n_nodes, 1), dtype=dtype)
        if found.n_large:
            links = without_loops(_symmetric(propagation)[inside][:, inside]).astype(dtype)
            loops = propagation.diagonal()[inside]
            own = _component_eigenvectors(found.large[inside], loops, dtype)
            values, vectors = leading_eigenvectors(
                links, own, RANK, seed, context, np.argsort(keys[inside], kind="stable")
            )
            self._values = np.concatenate([np.ones(own.shape[1]), values])
            self._vectors = np.zeros((n_nodes, len(self._values)), dtype=dtype)
            self._vectors[inside, : own.shape[1]] = own.toarray()
            self._vectors[inside, own.shape[1] :] = vectors
        filtered = [self._vectors * self._filter(reach).astype(dtype) for reach in self.reaches]
        self.rows = [directions(NUMPY.scale_rows(rows)[0]) for rows in filtered]

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        r"""Return rows of new nodes too, by :math:`u = \hat A u / \lambda`.

        A node that is linked to small components alone belongs to those.
        """
        to_old, among = nodes.split_rows()
        signs = np.where(self._values < 0, -1.0, 1.0)
        values = signs * np.maximum(np.abs(self._values), SMALLEST_VALUE)
        loops = without_loops(among)
        inflow = np.asarray(to_old @ self._vectors, dtype=context.dtype) / values
        both: list[StoredRows] = []
        linked: NDArray[np.bool_] = np.zeros(among.shape[0], dtype=bool)
        for reach, fitted in zip(self.reaches, self.rows, strict=True):
            new = spread(loops, inflow, reach, signs) * self._filter(reach)
            linked = np.asarray(new.any(axis=1))
            unit, _ = NUMPY.scale_rows(new)
            both.append(directions(np.vstack([fitted.directions[known], unit])))
        if self.groups is None:
            return KnownRows(both)
        groups = inflow_of_groups = sp.csr_array(to_old @ self.groups)
        for _ in range(JOIN_STEPS if loops.nnz else 0):
            groups = sp.csr_array(inflow_of_groups + loops @ groups)
        groups = sp.csr_array(sp.diags_array((~linked).astype(np.float64)) @ groups)
        return KnownRows(both, sp.vstack([self.groups[known], groups], format="csr"))

    def _filter(self, reach: float) -> Array:
        """Return a / (1 − (1 − a) |λ|) for each eigenvalue."""
        return np.asarray(reach / (1 - (1 - reach) * np.abs(self._values)))


class Hubs(Description):
    """Personalised PageRank of nodes without features to the nodes of largest degree.

    Parameters
    ----------
    propagation : csr_array of shape (N, N)
        Â.
    keys : array of shape (N,)
        By which nodes of the same degree are put in order.
    steps : int
        Degree of the PageRanks' polynomials.
    context : Context
        How arithmetic is done.
    """

    rows: Sequence[StoredRows]

    def __init__(
        self, propagation: sp.csr_array, keys: Array, steps: int, context: Context
    ) -> None:
        n_nodes, dtype = propagation.shape[0], context.dtype
        found = components(propagation, LARGE_COMPONENTS, LARGE_FROM)
        self.groups = indicators(found.small, found.n_small, dtype) if found.n_small else None
        fits = HUB_BYTES // (n_nodes * dtype.itemsize)
        work = HUB_WORK // (int(propagation.nnz) * steps)
        inside = np.flatnonzero(found.large >= 0)
        degrees = np.diff(propagation.indptr)[inside]
        n_hubs = max(1, min(MOST_HUBS, fits, work))
        chosen = inside[np.lexsort((keys[inside], -degrees))[:n_hubs]]
        size = (len(chosen) + 3 * HUBS_AT_ONCE) * n_nodes * dtype.itemsize
        context.require(size, f"PageRanks of {n_nodes:,} nodes to {len(chosen):,} hubs")
        ranks = np.zeros((n_nodes, max(1, len(chosen))), dtype=dtype)
        for first in range(0, len(chosen), HUBS_AT_ONCE):
            some = chosen[first : first + HUBS_AT_ONCE]
            start = np.zeros((n_nodes, len(some)), dtype=dtype)
            start[some, np.arange(len(some))] = 1
            (found_ranks,) = pageranks(propagation, start, [HUB_REACH], steps, context)
            ranks[:, first : first + len(some)] = found_ranks
        unit, self._lengths = NUMPY.scale_rows(ranks)
        self.rows = [directions(unit)]

    def joined(self, nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        """Return the fixed points of the PageRanks of new nodes too."""
        to_old, among = nodes.split_rows()
        reached = sp.csr_array(to_old @ sp.diags_array(self._lengths), dtype=context.dtype)
        inflow = (1 - HUB_REACH) * (reached @ self.rows[0].directions)
        new, _ = NUMPY.scale_rows(spread(among, inflow, HUB_REACH))
        rows = directions(np.vstack([self.rows[0].directions[known], new]))
        if self.groups is None:
            return KnownRows([rows])
        groups = sp.csr_array(to_old @ self.groups)
        groups = sp.csr_array(sp.diags_array((~new.any(axis=1)).astype(np.float64)) @ groups)
        return KnownRows([rows], sp.vstack([self.groups[known], groups], format="csr"))


def spread(among: sp.csr_array, inflow: Array, reach: float, signs: Any = 1.0) -> Array:
    """Return the fixed point Z = inflow + (1 − a) Â Z · signs of nodes linked with each other."""
    rows = inflow
    for _ in range(JOIN_STEPS):
        rows = (1 - reach) * (among @ rows) * signs + inflow
    return np.asarray(rows)


def _component_eigenvectors(component: Integers, loops: Array, dtype: Any) -> sp.csr_array:
    """Return d̃^(½) on each component, scaled to length 1, where loops are 1 / d̃."""
    within = indicators(component, int(component.max()) + 1, np.float64)
    roots = sp.csr_array(sp.diags_array(loops**-0.5) @ within)
    lengths = np.sqrt(np.asarray(roots.multiply(roots).sum(axis=0), dtype=np.float64))
    return sp.csr_array(roots @ sp.diags_array(1 / lengths)).astype(dtype)


def _symmetric(propagation: sp.csr_array) -> sp.csr_array:
    """Return D̃^(−½) Ã D̃^(−½), which is √(S ∘ Sᵀ) whichever way S is normalised."""
    product = sp.csr_array(propagation.multiply(propagation.T))
    product.data = np.sqrt(product.data)
    return product


def one_hot_is_cheap(propagation: sp.csr_array, steps: int) -> bool:
    """Tell whether one-hot rows of all nodes diffuse in little time, so that nothing is in place.

    Examples
    --------
    >>> one_hot_is_cheap(sp.eye_array(100, format="csr"), 20)
    True
    """
    return bool(propagation.nnz * propagation.shape[0] * steps <= ONE_HOT_WORK)
