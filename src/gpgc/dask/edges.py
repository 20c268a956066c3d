"""Edges in any order become the rows of the adjacency, a block each."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp

from gpgc._typing import Integers
from gpgc.errors import InputError
from gpgc.graph.adjacency import check_weights, rows_of_edges, undirected

ENDS = ("source", "target")


class EdgePart(NamedTuple):
    """A part of the edges, its frame or the task of it; its ends are nodes, or ids of such."""

    frame: Any
    name: str
    first: int = 0  # the number of its first row, for messages
    ids: Any = None


def split_edges(part: EdgePart, starts: Integers) -> dict[int, Any]:
    """Return the edges of one part, as a frame, by the blocks of their ends."""
    frame, n_nodes, ends = part.frame, int(starts[-1]), {}
    for column in ENDS:
        given = frame[column].to_numpy()
        nodes = given if part.ids is None else part.ids.numbers(given)
        if nodes.dtype.kind not in "iu":
            expected = f"{part.name} must hold whole numbers as {column}"
            raise InputError(f"{expected}, got dtype {nodes.dtype}")
        outside = (nodes < 0) | (nodes >= n_nodes)
        if outside.any():
            row = int(np.argmax(outside))
            stranger = given[row : row + 1].tolist()[0]
            known = f"nodes from 0 to {n_nodes - 1}"
            known = known if part.ids is None else "ids of the features"
            raise InputError(
                f"{part.name} must name {known} as {column}, "
                f"got {stranger!r:.60} in row {part.first + row:,}"
            )
        ends[column] = nodes
    if "weight" in frame:
        check_weights(frame["weight"].to_numpy(), part.name)
    first, second = (np.searchsorted(starts, ends[end], side="right") - 1 for end in ENDS)
    blocks, numbered = np.union1d(first, second).tolist(), frame.assign(**ends)
    return {block: numbered[(first == block) | (second == block)] for block in blocks}


def adjacency_rows(block: int, starts: Integers, *pieces: Any) -> sp.csr_array:
    """Return the rows (n, N) of the adjacency of a block: max(A, Aᵀ) without self-loops."""
    first, end, n_nodes = int(starts[block]), int(starts[block + 1]), int(starts[-1])
    edges = pd.concat(pieces) if pieces else pd.DataFrame({end: [] for end in ENDS}, dtype=np.int64)
    if "weight" in edges and edges["weight"].isna().any():
        raise InputError("adjacency must have weights in all partitions or in none, got both")

    def rows(here: str, there: str) -> sp.csr_array:
        own = edges[(edges[here] >= first) & (edges[here] < end)]
        ends = (own[column].to_numpy(np.int64) for column in (here, there))
        weight = own["weight"].to_numpy() if "weight" in own else None
        return rows_of_edges(next(ends) - first, next(ends), weight, (end - first, n_nodes))

    return undirected(rows(*ENDS), rows(*reversed(ENDS)), first)
