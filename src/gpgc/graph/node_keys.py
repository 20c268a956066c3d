r"""A number for each node by which nodes are sampled, so that their order does not matter.

It is made of the direction of the node's features, of its degree and of the same of its neighbors
and of theirs, some steps far:

.. math::
    h = \bar X w + \sin \log \tilde d, \qquad h \leftarrow h + \hat A_0 \sin(2 h) + \hat A_0 1 / 3

with w a seeded function of what a column holds, so that the order of the columns does not matter
either: those of equal sums and squares alone are told apart by their places. It moves with its node
when nodes are put in another order. Nodes that share it are interchangeable as far as these steps
see. A sample is every so manieth node in the order of the numbers: it depends on what they are, and
is spread over them.
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

FREQUENCY = 100.0
"""How fast w moves with the logarithm of a column's squares: those of 2,000 nodes differ by .02."""

BY_PLACE = 1e-9
"""What the place of a column adds to w, so that columns that hold the same are told apart."""


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
    sums = None if features is None else column_sums(features)
    keys = first_keys(features, -np.log(loops), sums, seed)
    for _ in range(STEPS):
        terms = key_terms(keys)
        keys = keys + (propagation @ terms - loops * terms)
    return np.round(keys, DIGITS)


def column_sums(features: Any) -> Array:
    """Return the sums and the sums of squares of the columns of X̄ (2, F)."""
    found = np.zeros((2, features.shape[1]))
    for start in range(0, features.shape[0], ROWS):
        unit = _unit(features[start : start + ROWS])
        squares = unit.multiply(unit) if sp.issparse(unit) else unit**2
        found += [unit.sum(axis=0), squares.sum(axis=0)]
    return found


def column_weights(sums: Array, seed: int) -> Array:
    """Return w (F,) from :func:`column_sums`."""
    rng = np.random.default_rng(seed)
    by_place = rng.standard_normal(sums.shape[1])
    by_square, by_mean, shift = FREQUENCY * (1 + rng.random(3))
    total, squares = sums
    n_rows = max(float(np.rint(squares.sum())), 1.0)  # rows have length 1, or none and do not count
    square = np.where(squares > 0, squares, 1.0) / n_rows
    mean = total / n_rows / np.sqrt(square)
    waves = np.sin(by_square * np.log(square) + by_mean * mean + shift)
    return np.asarray(np.sqrt(2) * waves + BY_PLACE * by_place)


def first_keys(features: Any, log_degrees: Array, sums: Array | None, seed: int) -> Array:
    """Return what own features (n, F) and log degrees (n,) of nodes tell, before any step.

    With :func:`column_sums` of the features of all nodes.
    """
    told = np.sin(np.asarray(log_degrees, dtype=np.float64))
    if features is None or sums is None:
        return told
    weights = column_weights(sums, seed)
    for start in range(0, len(told), ROWS):
        told[start : start + ROWS] += _unit(features[start : start + ROWS]) @ weights
    return told


def _unit(features: Any) -> Any:
    """Return rows of length 1 in float64; rows without a length stay without one."""
    rows = features.astype(np.float64)
    if sp.issparse(rows):
        squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    else:
        squares = np.einsum("ij,ij->i", rows, rows)
    scale = np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)
    return sp.diags_array(scale) @ rows if sp.issparse(rows) else rows * scale[:, None]


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
