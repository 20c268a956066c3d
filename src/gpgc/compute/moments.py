"""Means and spreads of columns, of rows that come in parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from gpgc._typing import Array


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """Means of columns, and the sums of squares of what rows differ from them by.

    >>> parts = [ColumnMoments.of(np.array(part)) for part in ([[1.0], [2.0]], [[6.0]])]
    >>> ColumnMoments.joined(*parts)
    ColumnMoments(n_rows=3, mean=array([3.]), squares=array([14.]))
    """

    n_rows: int
    mean: Array
    squares: Array

    @classmethod
    def of(cls, rows: Array) -> Self:
        """Return those of some rows (n, c)."""
        mean = rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1])
        return cls(len(rows), mean, ((rows - mean) ** 2).sum(axis=0))

    def joined(self, other: Self) -> Self:
        """Return those of both sets of rows."""
        n_rows = self.n_rows + other.n_rows
        apart, fraction = other.mean - self.mean, other.n_rows / max(n_rows, 1)
        squares = self.squares + other.squares + apart**2 * self.n_rows * fraction
        return type(self)(n_rows, self.mean + apart * fraction, squares)

    @property
    def std(self) -> Array:
        """The standard deviation of each column."""
        return np.sqrt(self.squares / max(self.n_rows, 1))
