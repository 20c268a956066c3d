"""Differences from the published numbers that the runs do not explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gpgc_lab.cells import HIGHER, LOWER, Difference, Measured
from gpgc_lab.tables import Table

POINTS = 1.0
"""Difference that is marked where runs do not vary, in percentage points."""


def difference(values: Sequence[float], published: float | None) -> Difference | None:
    """Return measured minus published, marked where the runs do not explain it.

    Parameters
    ----------
    values : sequence of float
        Of every run, in per cent.
    published : float, optional
        The paper's number; without one, or without values, there is no difference.

    Examples
    --------
    >>> print(difference([80.0, 82.0], 81.5), difference([79.1], 81.2), difference([70.0], None))
    -0.5 -2.1 ▼ None
    """
    if published is None or not len(values):
        return None
    measured = marked(Measured.of(values, published))
    return Difference(float(np.mean(values)) - published, measured.mark)


def marked(cell: Any) -> Any:
    """Return a measurement with its mark; any other cell as it is.

    The gap is explained by two standard errors of the mean, or by one percentage point where
    there is no spread.

    Examples
    --------
    >>> print(marked(Measured(81.1, published=83.6)), marked(Measured(86.0, published=86.0)))
    81.1 (83.6) ▼ 86.0 (86.0)
    """
    if not isinstance(cell, Measured) or cell.published is None or cell.mean is None:
        return cell
    gap = cell.mean - cell.published
    explained = 2 * cell.std / np.sqrt(cell.n_runs) if cell.std else POINTS
    if abs(gap) <= explained + 1e-9:
        return cell
    return replace(cell, mark=HIGHER if gap > 0 else LOWER)


def marked_table(table: Table) -> Table:
    """Return a table with all its measurements marked."""
    return replace(table, rows=[[marked(cell) for cell in row] for row in table.rows])
