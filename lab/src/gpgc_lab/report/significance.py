"""Differences from the published numbers that the seeds do not explain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gpgc_lab.tables import Table

HIGHER, LOWER = "▲", "▼"
POINTS = 1.0
"""Difference that is marked where runs do not vary, in percentage points."""

_PAIR = re.compile(r"(\d+\.\d+)(?: ± (\d+\.\d+))? \((\d+\.\d+)\)")
_RUNS = re.compile(r"(\d+) (?:seeds|random splits)")


def difference(values: Sequence[float], published: float | None) -> str | None:
    """Return measured minus published, marked where the runs do not explain it.

    Parameters
    ----------
    values : sequence of float
        Of every run, in per cent.
    published : float, optional
        The paper's number; without one, or without values, there is no difference.

    Examples
    --------
    >>> difference([80.0, 82.0], 81.5), difference([79.1], 81.2), difference([70.0], None)
    ('-0.5', '-2.1 ▼', None)
    """
    if published is None or not values:
        return None
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    gap = float(np.mean(values)) - published
    return f"{round(gap, 1) + 0.0:+.1f}{_mark(gap, deviation, len(values))}"


def marked(table: Table) -> Table:
    """Return a table of accuracies with its cells "ours (paper's)" marked where they differ.

    The number of runs behind a ± is read in title or notes; unknown, it counts as one.

    Examples
    --------
    >>> table = Table("a", "Accuracy: ours (paper's)", ["model", "cora"],
    ...               [["big", "81.1 (83.6)"], ["X", "86.0 (86.0)"]])
    >>> marked(table).rows
    [['big', '81.1 (83.6) ▼'], ['X', '86.0 (86.0)']]
    """
    if "accuracy" not in table.title.lower():
        return table
    runs = _RUNS.search(" ".join((table.title, *table.notes)))
    n_runs = int(runs[1]) if runs else 1
    return replace(table, rows=[[_marked_cell(cell, n_runs) for cell in row] for row in table.rows])


def _marked_cell(cell: object, n_runs: int) -> object:
    pair = _PAIR.fullmatch(cell) if isinstance(cell, str) else None
    if pair is None:
        return cell
    gap = float(pair[1]) - float(pair[3])
    return f"{cell}{_mark(gap, float(pair[2] or 0), n_runs)}"


def _mark(gap: float, deviation: float, n_runs: int) -> str:
    explained = 2 * deviation / np.sqrt(n_runs) if deviation else POINTS
    if abs(gap) <= explained + 1e-9:
        return ""
    return f" {HIGHER if gap > 0 else LOWER}"
