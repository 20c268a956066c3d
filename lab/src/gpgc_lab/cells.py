"""Cells of tables that are records: numbers, and what is known of them, until they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

HIGHER, LOWER = "▲", "▼"


@dataclass(frozen=True)
class Measured:
    """A measured mean in per cent, its spread over runs, and the published number.

    Attributes
    ----------
    mean, std : float or None
        Of the runs; None where there is no run, or only one.
    n_runs : int
        Number of runs.
    published : float, optional
        The paper's number.
    decimals : int
        Of mean and spread where they are shown.
    mark : {"", "▲", "▼"}
        Which way the runs differ from the published number by more than they explain.

    Examples
    --------
    >>> print(Measured.of([50.0, 52.0], 51.3, decimals=2), Measured.of([50.0]), Measured.of([]))
    51.00 ± 1.41 (51.3) 50.0 –
    """

    mean: float | None
    std: float | None = None
    n_runs: int = 1
    published: float | None = None
    decimals: int = 1
    mark: str = ""

    @classmethod
    def of(
        cls,
        values: Sequence[float],
        published: float | None = None,
        *,
        decimals: int = 1,
        ddof: int = 1,
    ) -> Measured:
        """Return the mean of values in per cent and their standard deviation."""
        mean = float(np.mean(values)) if len(values) else None
        std = float(np.std(values, ddof=ddof)) if len(values) > 1 else None
        return cls(mean, std, len(values), published, decimals)

    def __str__(self) -> str:
        ours = "–" if self.mean is None else f"{self.mean:.{self.decimals}f}"
        spread = "" if self.std is None else f" ± {self.std:.{self.decimals}f}"
        paper = "" if self.published is None else f" ({self.published})"
        return ours + spread + paper + (f" {self.mark}" if self.mark else "")


@dataclass(frozen=True)
class Difference:
    """Measured minus published, in percentage points, with its mark.

    Examples
    --------
    >>> print(Difference(-2.1, "▼"))
    -2.1 ▼
    """

    gap: float
    mark: str = ""

    def __str__(self) -> str:
        return f"{round(self.gap, 1) + 0.0:+.1f}" + (f" {self.mark}" if self.mark else "")


def to_json(cell: Any) -> Any:
    """Return a cell as JSON can hold it; the mark of a measurement follows from the rest."""
    if isinstance(cell, Measured):
        return {name: value for name, value in asdict(cell).items() if name != "mark"}
    return asdict(cell) if isinstance(cell, Difference) else cell


def from_json(cell: Any) -> Any:
    """Return a cell that :func:`to_json` made; text of version 0.1 stays text."""
    if not isinstance(cell, dict):
        return cell
    return Difference(**cell) if "gap" in cell else Measured(**cell)
