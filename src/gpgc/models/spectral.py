r"""What *broad* knows of the nodes of a larger graph without features.

One-hot rows of N columns do not fit, and a random projection of them is noise: the cosines that
carry communities are smaller than its error. In their place a node is described by the rows of
:math:`U f_a(|\Lambda|)` with the leading eigenvectors U of Â without self-loops, and
:math:`f_a(\lambda) = a / (1 - (1 - a)\lambda)`, the filter of personalised PageRank. Each large
connected component also has its own eigenvector :math:`\tilde d^{1/2}` of eigenvalue 1. This tells
communities apart. Nodes of one small component are the same, those of different ones orthogonal.
An isolated node has rows of zeros: nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers
from gpgc.compute import Context
from gpgc.compute.eigenvectors import leading_eigenvectors
from gpgc.compute.primitives import NUMPY
from gpgc.graph.components import components, indicators
from gpgc.graph.nodes import JoinedNodes
from gpgc.graph.normalize import without_loops
from gpgc.models.view import Description, Layers, directions, fixed_point, followed_by

PLACE_STEPS = 12
"""Degree of PageRanks where the graph is all that is known, and a node is told by how far it is
from others.

Zones of a power grid, 2 and 20 labels a class, against twenty powers: 7 steps lose 10 and 4 points,
12 gain 1.1 and 1.7; Cora and Citeseer without features gain .1 to 1.0. Rounding grows with the
degree: the powers of 12 steps sum to 157 in absolute value, those of 20 to 20,000."""

RANK = 64
"""Eigenvectors beside those of the components."""

SMALLEST_VALUE = 0.05
"""Eigenvalues are not divided by less than this when a node joins."""

ONE_HOT_WORK = 2**35
"""Products that diffusing one-hot rows may take."""


def has_one_hot_rows(propagation: sp.csr_array, model: Layers) -> bool:
    """Tell whether a graph without features is small enough to diffuse one-hot rows."""
    n_nodes = propagation.shape[0]
    is_cheap = propagation.nnz * n_nodes * PLACE_STEPS <= ONE_HOT_WORK
    return bool(n_nodes <= model.one_hot_nodes and (is_cheap or n_nodes <= model.exact_nodes))


def eigenvectors(
    propagation: sp.csr_array, keys: Array, reaches: Sequence[float], seed: int, context: Context
) -> Description:
    """Return the rows of U f_a(|Λ|) for each reach a, of nodes without features.

    Nodes get the random numbers of the subspace iteration in the order of their keys.
    """
    n_nodes, dtype = propagation.shape[0], context.dtype
    size = n_nodes * (RANK + 1) * (len(reaches) + 2) * dtype.itemsize
    context.require(size, f"the eigenvectors of a graph of {n_nodes:,} nodes")
    large, groups = components(propagation, dtype)
    inside = np.flatnonzero(large >= 0)
    values, vectors = np.ones(1), np.zeros((n_nodes, 1), dtype=dtype)
    if len(inside):
        links = without_loops(_symmetric(propagation)[inside][:, inside]).astype(dtype)
        own = _component_eigenvectors(large[inside], propagation.diagonal()[inside], dtype)
        order = np.argsort(keys[inside], kind="stable")
        others, found = leading_eigenvectors(links, own, RANK, seed, context, order)
        values = np.concatenate([np.ones(own.shape[1]), others])
        vectors = np.zeros((n_nodes, len(values)), dtype=dtype)
        vectors[inside] = np.hstack([own.toarray(), found])
    filters = [reach / (1 - (1 - reach) * np.abs(values)) for reach in reaches]
    rows = [directions(NUMPY.scale_rows(vectors * f.astype(dtype))[0]) for f in filters]

    def joined(nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        # u = Â u / λ
        to_old, among = nodes.split_rows()
        signs = np.where(values < 0, -1.0, 1.0)
        loops, bounded = without_loops(among), signs * np.maximum(np.abs(values), SMALLEST_VALUE)
        inflow = np.asarray(to_old @ vectors, dtype=context.dtype) / bounded
        both = []
        for reach, factors, fitted in zip(reaches, filters, rows, strict=True):
            new = fixed_point(loops, inflow, 1 - reach, signs) * factors
            both.append(followed_by(fitted, known, new))
        return Description(both)

    said = (f"{RANK} eigenvectors stand for one-hot rows",)
    informed = np.flatnonzero(rows[0].lengths)
    described = Description(rows, joined, informed=informed, approximations=said)
    return with_groups(described, groups)


def with_groups(described: Description, groups: sp.csr_array | None) -> Description:
    """Return the rows, and which small component each node without them is in, new ones too."""

    def joined(nodes: JoinedNodes, known: Integers, context: Context) -> Description:
        assert described.joined is not None
        found = described.joined(nodes, known, context)
        if groups is None:
            return found
        # A node that is linked to small components alone belongs to those.
        to_old, among = nodes.split_rows()
        new = fixed_point(without_loops(among), sp.csr_array(to_old @ groups))
        has_no_row = found.rows[0].take(None)[1][len(known) :] == 0
        new = sp.csr_array(sp.diags_array(has_no_row.astype(np.float64)) @ new)
        return replace(found, groups=sp.vstack([groups[known], new], format="csr"))

    return replace(described, joined=joined, groups=groups)


def _component_eigenvectors(component: Integers, loops: Array, dtype: Any) -> sp.csr_array:
    """Return d̃^(½) on each component, scaled to length 1, where loops are 1 / d̃."""
    within = indicators(component, int(component.max()) + 1, np.float64)
    roots = sp.csr_array(sp.diags_array(loops**-0.5) @ within)
    lengths = np.sqrt(np.asarray(roots.multiply(roots).sum(axis=0), dtype=np.float64))
    return sp.csr_array(roots @ sp.diags_array(1 / lengths)).astype(dtype)


def _symmetric(propagation: sp.csr_array) -> sp.csr_array:
    """Return D̃^(−½) Ã D̃^(−½), which is √(S ∘ Sᵀ) whichever way S is normalized."""
    product = sp.csr_array(propagation.multiply(propagation.T))
    product.data = np.sqrt(product.data)
    return product
