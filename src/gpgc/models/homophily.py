r"""Whether linked nodes are alike, told by their features before any label is known.

With unit rows :math:`\bar x`, their mean :math:`\mu` and :math:`\tilde x = \bar x - \mu`,

.. math::
    a = \frac{\mathrm{mean}_{\text{links}}\; \tilde x_i \cdot \tilde x_j}
             {\mathrm{mean}_i\; \lVert \tilde x_i \rVert^2}

is 1 where linked nodes have the same features and 0 where features ignore the links. On public
graphs whose neighbors share classes it is .11 and more, where they do not .03 and less.

Features that ignore the links speak against these only if they say anything at all. Noise does not:
with correlations r of n rows between F columns the mean of n r² over pairs of columns is 1 if they
are independent, give or take :math:`2 / \sqrt{F (F - 1)}`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc.graph.node_keys import spread_nodes
from gpgc.graph.nodes import Nodes
from gpgc.kernels.covariance import take
from gpgc.kernels.propagate import around
from gpgc.models.view import unit_rows

UNLIKE_UP_TO, ALIKE_FROM = 0.03, 0.08
"""a up to which neighbors count as unlike each other, and from which on as alike."""

FEWEST_LINKS = 100
"""Links, each of two ends, from which on they say anything."""

SAMPLED_NODES = 2_000
"""Nodes whose links are looked at in larger graphs: then a is within .003 of that of all links on
Cora, Citeseer and Pubmed."""

RELATED_ERRORS = 10.0
"""Standard errors by which the mean of n r² must exceed 1: noise of 20 columns has 1, of words in
the thousands up to 5, of Cauchy numbers 9; Texas, chameleon, Actor and minesweeper have 90 to
1,000."""


class Homophily(NamedTuple):
    """What features tell of the links before any label is known."""

    alike: float = 1.0  # how far linked nodes count as alike, from 0 to 1
    features_tell: bool = True  # whether there are features that are more than noise


def similarity(links: sp.csr_array, rows: Any, neighbors: Any) -> float | None:
    """Return a of nodes by ``links`` (n, m), theirs and their neighbors' features (n, F), (m, F).

    None where there are few links or all features are the same. Weights of links do not count, nor
    nodes without features or links: nothing is known of them.
    """
    if links.nnz < 2 * FEWEST_LINKS:  # each is counted from each of its ends
        return None
    own = unit_rows(rows)
    others = own if neighbors is rows else unit_rows(neighbors)
    pattern = sp.csr_array((np.ones(links.nnz), links.indices, links.indptr), links.shape)
    degrees, counts = np.diff(links.indptr), np.bincount(links.indices, minlength=links.shape[1])
    if sp.issparse(own):
        products, squares = own.multiply(pattern @ others).sum(), own.multiply(own).sum()
        has_features = np.diff(own.indptr) > 0
    else:
        products, squares = np.vdot(own, pattern @ others), np.vdot(own, own)
        has_features = own.any(axis=1)
    n_known = int(np.count_nonzero(has_features | (degrees > 0)))
    mean = np.asarray(own.sum(axis=0), dtype=np.float64) / n_known
    square, length = float(mean @ mean), float(squares) / n_known
    if length - square <= np.finfo(np.float32).eps * length:
        return None
    ends = own.T @ degrees + others.T @ counts
    covariance = (float(products) - float(ends @ mean)) / links.nnz + square
    return float(covariance / (length - square))


def homophily_by(links: sp.csr_array, rows: Any, neighbors: Any) -> Homophily:
    """Return what features tell of links, each as of :func:`similarity`."""
    a = similarity(links, rows, neighbors)
    if a is None:
        return Homophily()
    alike = float(np.clip((a - UNLIKE_UP_TO) / (ALIKE_FROM - UNLIKE_UP_TO), 0, 1))
    if alike < 1 and not has_related_columns(rows):
        return Homophily(features_tell=False)
    return Homophily(alike)


def has_related_columns(rows: Any) -> bool:
    """Tell whether columns are related to each other, as those of noise are not.

    One column is not judged, and counts as if it were.
    """
    rows = rows.astype(np.float64)
    squares = rows.multiply(rows) if sp.issparse(rows) else rows**2
    n = int(np.count_nonzero(squares.sum(axis=1)))
    if n < 3:
        return True
    mean = np.asarray(rows.sum(axis=0)) / n  # over nodes that have features
    variance = np.maximum(np.asarray(squares.sum(axis=0)) / n - mean**2, 0.0)
    varies = np.flatnonzero(variance > np.finfo(np.float32).eps * variance.max())
    n_columns = len(varies)
    if n_columns < 2:
        return True
    scale = 1 / np.sqrt(variance[varies])
    scaled, mean = rows[:, varies] @ sp.diags_array(scale), mean[varies] * scale
    if n < n_columns:  # the Gram matrix of rows has the same squares as that of columns
        scaled = scaled[np.flatnonzero(squares.sum(axis=1))]
        shift = (scaled @ mean)[:, None]
        gram = scaled @ scaled.T - shift - shift.T + mean @ mean
    else:
        gram = scaled.T @ scaled - n * np.outer(mean, mean)
    between = float(np.square(gram).sum()) / n**2 - n_columns  # Σ r² over pairs, each twice
    n_pairs = n_columns * (n_columns - 1)
    return bool(between * (n - 1) / n_pairs - 1 > RELATED_ERRORS * 2 / np.sqrt(n_pairs))


def sampled_links(nodes: Nodes, seed: int, most: int = SAMPLED_NODES) -> tuple[Any, Any, Any]:
    """Return links of at most so many nodes, their features and those of their neighbors."""
    links, features = nodes.adjacency, nodes.features
    if links.shape[0] <= most:
        return links, features, features
    sample = spread_nodes(nodes.keys(seed), most)
    compact, linked = around(sp.csr_array(links[sample]))
    return compact, take(features, sample), take(features, linked)


def homophily_of(nodes: Nodes, seed: int = 0) -> Homophily:
    """Return what the features of a graph tell of its links, by a sample of its nodes.

    Examples
    --------
    >>> from gpgc.graph import as_adjacency
    >>> chain = as_adjacency((np.arange(199), np.arange(1, 200)))
    >>> homophily_of(Nodes(chain, np.eye(2)[np.arange(200) // 4 % 2]))
    Homophily(alike=1.0, features_tell=True)
    >>> homophily_of(Nodes(chain, np.random.default_rng(0).normal(size=(200, 9))))
    Homophily(alike=1.0, features_tell=False)
    """
    if nodes.features is None:
        return Homophily(features_tell=False)
    return homophily_by(*sampled_links(nodes, seed))
