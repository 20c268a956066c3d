"""Rows of a block over the columns of all nodes, sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Integers
from gpgc.dask.links import LocalRows, Propagation
from gpgc.graph.normalize import without_loops


class Piece(NamedTuple):
    """Rows of a block over nodes of one block: which rows, their entries, and which nodes."""

    rows: Integers
    weights: sp.csr_array
    nodes: Integers


def wide_adjacency(rows: LocalRows, block: int, starts: Integers) -> sp.csr_array:
    """Return the rows (n, N) of the adjacency of a block."""
    every = np.arange(rows.own.shape[0])
    pieces = [Piece(every, rows.own, starts[block] + every)]
    for other, weights in rows.across.items():
        pieces.append(Piece(every, weights, _nodes(rows, other, starts)))
    return _joined(pieces, len(every), int(starts[-1]))


def wide_links(
    propagation: Propagation, rows: LocalRows, block: int, starts: Integers
) -> sp.csr_array:
    """Return the rows (n, N) of Â₀, which is Â without its diagonal, of a block."""
    every = np.arange(rows.own.shape[0])
    pieces = [Piece(every, without_loops(propagation.own), starts[block] + every)]
    for other, (linked, weights) in zip(rows.across, propagation.across, strict=True):
        pieces.append(Piece(linked, weights, _nodes(rows, other, starts)))
    return _joined(pieces, len(every), int(starts[-1]))


def _nodes(rows: LocalRows, other: int, starts: Integers) -> Integers:
    """Return the nodes of another block that the columns of its piece stand for."""
    at = rows.needed[other]
    nodes = np.arange(starts[other], starts[other + 1])
    return nodes if at is None else nodes[at]


def _joined(pieces: Sequence[Piece], n_rows: int, n_nodes: int) -> sp.csr_array:
    entries = [sp.coo_array(piece.weights) for piece in pieces]
    both = list(zip(entries, pieces, strict=True))
    data = np.concatenate([part.data for part in entries])
    row = np.concatenate([piece.rows[part.coords[0]] for part, piece in both])
    column = np.concatenate([piece.nodes[part.coords[1]] for part, piece in both])
    return sp.csr_array((data, (row, column)), shape=(n_rows, n_nodes))
