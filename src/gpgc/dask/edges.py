"""Edges in any order become the rows of the adjacency, a block each."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from gpgc._typing import Integers
from gpgc.errors import InputError
from gpgc.graph.adjacency import check_weights, rows_of_edges, undirected

Edges: TypeAlias = tuple[Integers, Integers, Any]
"""Sources, targets, and weights or None."""


class Piece(NamedTuple):
    """Edges that leave the nodes of a block, and those that enter them, the other way round."""

    leaving: Edges
    entering: Edges


def split_edges(frame: Any, number: int, starts: Integers) -> dict[int, Piece]:
    """Return the edges of one partition by the block of their source, and of their target.

    Parameters
    ----------
    frame : DataFrame
        With the columns ``source``, ``target`` and optionally ``weight``.
    number : int
        Of the partition, for messages.
    starts : int array
        First nodes of the blocks, and N.

    Returns
    -------
    dict
        Block → its edges; blocks without any are left out.
    """
    source, target, weight = _columns(frame, number, int(starts[-1]))
    leaving = _by_block(source, target, weight, starts)
    entering = _by_block(target, source, weight, starts)
    nothing = (source[:0], source[:0], None if weight is None else weight[:0])
    return {
        block: Piece(leaving.get(block, nothing), entering.get(block, nothing))
        for block in sorted(leaving.keys() | entering.keys())
    }


def adjacency_rows(block: int, starts: Integers, *pieces: Piece) -> sp.csr_array:
    """Return the rows (n, N) of the adjacency of a block: max(A, Aᵀ) without self-loops."""
    first, end, n_nodes = int(starts[block]), int(starts[block + 1]), int(starts[-1])

    def rows(parts: list[Edges]) -> sp.csr_array:
        empty: Edges = (np.empty(0, np.int64), np.empty(0, np.int64), None)
        here, there, weights = zip(*(parts or [empty]), strict=True)
        weight = None if weights[0] is None else np.concatenate(weights)
        ends = np.concatenate(here) - first, np.concatenate(there)
        return rows_of_edges(*ends, weight, (end - first, n_nodes))

    leaving, entering = ([piece[side] for piece in pieces] for side in (0, 1))
    return undirected(rows(leaving), rows(entering), first)


def _columns(frame: Any, number: int, n_nodes: int) -> Edges:
    """Return checked sources, targets and weights."""
    name = f"adjacency, partition {number},"
    missing = [column for column in ("source", "target") if column not in frame]
    if missing:
        found = ", ".join(map(str, frame.columns)) or "none"
        raise InputError(f"{name} must have the columns source and target, got {found}")
    ends = []
    for column in ("source", "target"):
        values = frame[column].to_numpy()
        if values.dtype.kind not in "iu":
            raise InputError(
                f"{name} must hold whole numbers as {column}, got dtype {values.dtype}"
            )
        outside = (values < 0) | (values >= n_nodes)
        if outside.any():
            raise InputError(
                f"{name} must name nodes from 0 to {n_nodes - 1} as {column}, "
                f"got {values[outside][0]}"
            )
        ends.append(values.astype(np.int64, copy=False))
    if "weight" not in frame:
        return ends[0], ends[1], None
    weight = frame["weight"].to_numpy()
    check_weights(weight, name)
    return ends[0], ends[1], weight


def _by_block(here: Integers, there: Integers, weight: Any, starts: Integers) -> dict[int, Edges]:
    block = np.searchsorted(starts, here, side="right") - 1
    order = np.argsort(block, kind="stable")
    found, first = np.unique(block[order], return_index=True)
    cuts = np.append(first, len(order))
    edges = {}
    for number, start, end in zip(found.tolist(), cuts[:-1], cuts[1:], strict=True):
        chosen = order[start:end]
        edges[number] = (here[chosen], there[chosen], None if weight is None else weight[chosen])
    return edges
