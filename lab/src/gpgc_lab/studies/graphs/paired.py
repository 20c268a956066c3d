"""The default against the best of what needs no training, over the same divisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpgc_lab.array_types import Array
from gpgc_lab.journal import Record
from gpgc_lab.studies.graphs.graph_systems import OURS, RIVALS

ERRORS, POINTS = 2.0, 1.0
"""How far the default may fall behind: standard errors of the difference, and points."""


@dataclass(frozen=True)
class Paired:
    """A mean difference over divisions, in points.

    Attributes
    ----------
    rival : str
        The best of the rivals by its mean.
    gap, error : float
        Ours minus the rival's; its standard error, NaN with one division.
    n_divisions : int

    Examples
    --------
    >>> print(Paired("LR on X", -1.5, 0.5, 10), Paired("LR on X", 0.25, 0.5, 10))
    -1.5 ± 0.5 ▼▼ +0.2 ± 0.5
    """

    rival: str
    gap: float
    error: float
    n_divisions: int

    @property
    def mark(self) -> str:
        """▼ where it is worse by more than two standard errors, and ▼ where by over a point."""
        return "▼" * ((self.gap < -ERRORS * self.error) + (self.gap < -POINTS))

    def __str__(self) -> str:
        spread = "" if np.isnan(self.error) else f" ± {self.error:.1f}"
        return f"{self.gap:+.1f}{spread}" + (f" {self.mark}" if self.mark else "")


def paired(runs: dict[str, list[Record]], measure: str) -> Paired | None:
    """Compare the default with the best rival on the divisions that both were run on.

    Parameters
    ----------
    runs : dict
        System → its records, with ``division``.
    measure : str
        ``"accuracy"`` or ``"area_under_curve"``; more is better.

    Returns
    -------
    Paired or None
        None where there are no runs of ours or none of a rival.
    """
    ours = by_division(runs.get(OURS, []), measure)
    others = {rival: by_division(runs.get(rival, []), measure) for rival in RIVALS}
    means = {
        rival: float(np.mean([found[name] for name in found]))
        for rival, found in others.items()
        if found and set(found) >= set(ours)
    }
    if not ours or not means:
        return None
    best = max(means, key=lambda rival: means[rival])
    gaps = 100 * np.array([ours[name] - others[best][name] for name in ours])
    return Paired(best, float(gaps.mean()), standard_error(gaps), len(gaps))


def by_division(records: Sequence[Record], measure: str) -> dict[str, float]:
    """Return a measure by the name of the division, where it was measured."""
    return {
        record["division"]: record[measure] for record in records if record.get(measure) is not None
    }


def standard_error(values: Sequence[float] | Array) -> float:
    """Return the standard error of a mean, NaN of fewer than two values.

    Examples
    --------
    >>> standard_error([1.0, 3.0])
    1.0
    """
    if len(values) < 2:
        return float("nan")
    return float(np.std(values, ddof=1) / np.sqrt(len(values)))
