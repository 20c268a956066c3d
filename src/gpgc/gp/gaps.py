"""Targets that are not known at the same nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpgc._typing import Array, Integers


class GapGroup(NamedTuple):
    """Targets that are known at the same labelled nodes.

    Attributes
    ----------
    labels : int array of shape (n,)
        Where they are known, as sorted indices of the D labelled nodes.
    columns : int array
        Which of the k targets they are.
    """

    labels: Integers
    columns: Integers


def gap_groups(targets: Array) -> list[GapGroup]:
    """Return targets of shape (D, k), NaN where one is not known, grouped by where they are.

    Examples
    --------
    >>> nan = np.nan
    >>> for group in gap_groups(np.array([[1.0, nan, 2.0], [3.0, 4.0, 5.0], [nan, 6.0, nan]])):
    ...     print(group.columns, "known at", group.labels)
    [0 2] known at [0 1]
    [1] known at [1 2]
    """
    known = ~np.isnan(targets)
    if known.all():
        return [GapGroup(np.arange(len(targets)), np.arange(targets.shape[1]))]
    patterns: dict[bytes, list[int]] = {}
    for column in range(targets.shape[1]):
        patterns.setdefault(known[:, column].tobytes(), []).append(column)
    return [
        GapGroup(np.flatnonzero(known[:, columns[0]]), np.array(columns))
        for columns in patterns.values()
    ]
