r"""A number for each node by which nodes are sampled, so that their order does not matter.

It is made of the direction of the node's features, of its degree and of the same of its neighbours
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

    Parameters
    ----------
    propagation : csr_array of shape (N, N)
        Â.
    features : array or csr_array of shape (N, F), or None
        X.
    seed : int
        Of w.

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
        keys = next_keys(keys, propagation @ terms - loops[:, None] * terms)
    return rounded_keys(keys)


def first_keys(features: Any, log_degrees: Array, seed: int) -> Array:
    """Return what own features (n, F) and log degrees (n,) of nodes tell, before any step."""
    own = np.sin(np.asarray(log_degrees, dtype=np.float64))
    if features is None:
        return own
    weights = np.random.default_rng(seed).standard_normal(features.shape[1])
    if sp.issparse(features):
        data = features.data.astype(np.float64)
        squares = sp.csr_array((data**2, features.indices, features.indptr), features.shape)
        lengths = np.sqrt(squares @ np.ones(features.shape[1]))
        return own + _quotients(features @ weights, lengths)
    for start in range(0, len(own), ROWS):
        rows = np.asarray(features[start : start + ROWS], dtype=np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        own[start : start + ROWS] += _quotients(rows @ weights, lengths)
    return own


def key_terms(keys: Array) -> Array:
    """Return what neighbours add up (n, 2) in a step."""
    return np.stack([np.sin(2 * keys), np.ones_like(keys)], axis=1)


def next_keys(keys: Array, sums: Array) -> Array:
    """Return the numbers after a step, from those before and what neighbours added up (n, 2)."""
    return np.asarray(keys + sums @ [1, 1 / 3])


def rounded_keys(keys: Array) -> Array:
    """Return numbers without digits that may be rounding."""
    return np.asarray(np.round(keys, DIGITS))


def spread_over(keys: Array, most: int, *ties: Array) -> Integers:
    """Return the sorted places of at most so many numbers, evenly spread over their order.

    Parameters
    ----------
    keys : array of shape (n,)
        One for each of what is sampled, such as :func:`node_keys` of some nodes.
    most : int
        How many are wanted.
    *ties : arrays of shape (n,)
        Numbers by which those with the same key are put in order.

    Examples
    --------
    >>> spread_over(np.array([0.3, 0.1, 0.5, 0.2, 0.4]), 3)
    array([0, 1, 2])
    """
    if len(keys) <= most:
        return np.arange(len(keys))
    places = ((np.arange(most) + 0.5) * (len(keys) / most)).astype(np.intp)
    return np.sort(np.lexsort((*ties, keys))[places])


def _quotients(values: Array, lengths: Array) -> Array:
    return np.divide(values, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
