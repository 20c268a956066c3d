"""Which views of the nodes the default took, and how much it gave them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gpgc_lab.journal import Record


def rounded(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of views that were taken, for a record."""
    return {name: round(float(weight), 4) for name, weight in weights.items() if weight > 0}


def describe_views(records: Sequence[Record]) -> str | None:
    """Return each view with its mean weight where it was taken, and in how many runs that was.

    Examples
    --------
    >>> describe_views([{"views": {"graph": 1.0}}, {"views": {"graph": 0.5, "features": 0.5}}])
    'graph 0.75 (2), features 0.50 (1)'
    """
    taken: dict[str, list[float]] = {}
    for record in records:
        for name, weight in record.get("views", {}).items():
            taken.setdefault(name, []).append(weight)
    listed = [f"{name} {np.mean(values):.2f} ({len(values)})" for name, values in taken.items()]
    return ", ".join(listed) or None
