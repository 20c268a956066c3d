"""Rows that are equal, found by their contents, whatever their order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from gpgc._typing import Integers

ROWS = 4096
"""Rows of dense features that are looked at at once."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class DistinctRows(NamedTuple):
    """Each row once, in an order that depends on their contents alone."""

    rows: Any  # (U, F), the distinct ones
    group: Integers  # (N,), which of them each row is
    counts: Integers  # (U,), how many rows each of them stands for
    hashes: NDArray[np.uint64]  # (U,), sorted

    @property
    def members(self) -> Members:
        """Which rows each of them stands for."""
        return Members(np.argsort(self.group, kind="stable"), np.cumsum([0, *self.counts]))


class Members(NamedTuple):
    """The rows of all groups one after the other, and where each group starts."""

    rows: Integers
    starts: Integers

    def of(self, groups: Integers) -> tuple[Integers, Integers]:
        """Return the rows of several groups, and for each the place of its group among them.

        Examples
        --------
        >>> Members(np.array([4, 7, 1]), np.array([0, 2, 3])).of(np.array([1, 0, 1]))
        (array([1, 4, 7, 1]), array([0, 1, 1, 2]))
        """
        counts = np.diff(self.starts)[groups]
        place = np.repeat(np.arange(len(groups)), counts)
        within = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.rows[self.starts[groups][place] + within], place


def distinct_rows(rows: Any) -> DistinctRows:
    """Return each row once."""
    hashes, first, group, counts = np.unique(
        row_hashes(rows), return_index=True, return_inverse=True, return_counts=True
    )
    return DistinctRows(rows[first], group, counts, hashes)


def row_hashes(rows: Any) -> NDArray[np.uint64]:
    """Return a number of 64 bits for each row: the same for equal rows, dense or sparse.

    Examples
    --------
    >>> one, other = row_hashes(np.array([[0.0, 2.0], [2.0, 0.0]]))
    >>> one == row_hashes(sp.csr_array([[0.0, 2.0]]))[0], one == other
    (np.True_, np.False_)
    """
    n_rows, n_columns = rows.shape
    columns = _mixed(np.arange(1, n_columns + 1, dtype=np.uint64))
    if sp.issparse(rows):
        entries = _mixed(_mixed(_bits(rows.data)) + columns[rows.indices])
        entries[rows.data == 0] = 0
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
        return np.asarray(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])
    found = np.empty(n_rows, dtype=np.uint64)
    for start in range(0, n_rows, ROWS):
        part = slice(start, start + ROWS)
        entries = _mixed(_mixed(_bits(rows[part])) + columns)
        entries[rows[part] == 0] = 0
        found[part] = entries.sum(axis=1, dtype=np.uint64)
    return found


def _bits(values: Any) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers whose bits depend on all bits of those that are given."""
    for _ in range(2):
        values = (values ^ (values >> _SHIFT)) * _ODD
    return np.asarray(values ^ (values >> _SHIFT))
