r"""A number for each node by which nodes are sampled, so that their order does not matter.

It is made of the direction of the node's features, of its degree and of the same of its neighbors
and of theirs, some steps far:

.. math::
    h = \bar X w + \sin \log \tilde d, \qquad h \leftarrow h + \hat A_0 \sin(2 h) + \hat A_0 1 / 3

with seeded w. It moves with its node when nodes are put in another order. Nodes that share it are
interchangeable as far as these steps see. A sample is every so manieth node in the order of the
numbers: it depends on what they are, and is spread over them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Array, Integers

STEPS = 4
"""How far the surroundings of a node count."""

DIGITS = 10
"""Digits of the numbers: those after are rounding, which depends on the order of sums."""

ROWS = 8192
"""Rows of dense features that are looked at at once."""


def node_keys(propagation: sp.csr_array, features: Any, seed: int) -> Array:
    """Return a number for each node that depends on its features and surroundings alone.

    It is 0 where there are neither features nor links: nothing is known of such a node.

    Examples
    --------
    >>> from gpgc.graph.normalize import normalize
    >>> chain = normalize(sp.csr_array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    >>> left, middle, right = node_keys(chain, None, 0)
    >>> left == right, left == middle
    (np.True_, np.False_)
    """
    loops = propagation.diagonal()
    keys = first_keys(features, -np.log(loops), seed)
    for _ in range(STEPS):
        terms = key_terms(keys)
        keys = keys + (propagation @ terms - loops * terms)
    return np.round(keys, DIGITS)


def first_keys(features: Any, log_degrees: Array, seed: int) -> Array:
    """Return what own features (n, F) and log degrees (n,) of nodes tell, before any step."""
    own = np.sin(np.asarray(log_degrees, dtype=np.float64))
    if features is None:
        return own
    weights = np.random.default_rng(seed).standard_normal(features.shape[1])
    told, squares = np.empty(len(own)), np.empty(len(own))
    for start in range(0, len(own), ROWS):
        part = slice(start, start + ROWS)
        rows = features[part].astype(np.float64)
        told[part] = rows @ weights
        if sp.issparse(rows):
            squares[part] = rows.multiply(rows).sum(axis=1)
        else:
            squares[part] = np.einsum("ij,ij->i", rows, rows)
    return own + np.divide(told, np.sqrt(squares), out=np.zeros(len(own)), where=squares > 0)


def key_terms(keys: Array) -> Array:
    """Return what neighbors add to the number of a node in a step."""
    return np.asarray(np.sin(2 * keys) + 1 / 3)


def spread_over(keys: Array, most: int, *ties: Array) -> Integers:
    """Return the sorted places of at most so many numbers, evenly spread over their order."""
    if len(keys) <= most:
        return np.arange(len(keys))
    places = ((np.arange(most) + 0.5) * (len(keys) / most)).astype(np.intp)
    return np.sort(np.lexsort((*ties, keys))[places])


def spread_nodes(keys: Array, most: int, among: Integers | None = None) -> Integers:
    """Return at most so many nodes, sorted and spread over their keys; 0 if none is known.

    Among those of which something is known, with a key that is not 0, when not given.
    """
    known = np.flatnonzero(keys) if among is None else among
    chosen = known[spread_over(keys[known], most)]
    return chosen if len(chosen) else np.zeros(1, dtype=np.intp)
