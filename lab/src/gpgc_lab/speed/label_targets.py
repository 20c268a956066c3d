"""What many labels and many nodes may cost: ratios of rows that were measured in one run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from gpgc_lab.journal import Record
from gpgc_lab.tables import Table


class Target(NamedTuple):
    """A ratio of two rows, or a number of one row, and what it may be at most.

    Attributes
    ----------
    what : str
        In words.
    above : row
        What is measured.
    most : float
        What it may be.
    below : row, optional
        What it is compared with; the number itself is the target when not given.
    of : {"seconds", "peak", "calibration_error", "peak over features"}
        Of what.
    unit : float
        By what a number that is not compared is divided.
    """

    what: str
    above: Any
    most: float
    below: Any = None
    of: str = "seconds"
    unit: float = 1.0


def target_table(targets: list[Target], found: Mapping[Any, Record]) -> Table:
    """Return each target with what was found; “–” where a row did not finish or was not asked for.

    Parameters
    ----------
    targets : list of Target
        What to look at.
    found : mapping
        Row → what was measured.
    """
    table = Table(
        "label_targets",
        "Many labels: what was wanted",
        ["what", "found", "by processor seconds", "to reach, at most"],
        notes=[
            "Ratios of the rows above. Seconds of the clock count on a quiet machine; processor "
            "seconds, of all threads, compare where others use it too."
        ],
    )
    for target in targets:
        used = "processor_seconds" if target.of == "seconds" else None
        row = [target.what, _value(target, target.of, found)]
        row.append(None if used is None else _value(target, used, found))
        table.rows.append([*row, target.most])
    return table


def _value(target: Target, name: str, found: Mapping[Any, Record]) -> float | None:
    above = _number(found.get(target.above), name)
    if target.below is None:
        return None if above is None else above / target.unit
    below = _number(found.get(target.below), name)
    return None if above is None or not below else above / below


def _number(record: Record | None, name: str) -> float | None:
    if record is None:
        return None
    if name == "peak over features":
        return record["peak"] / record["feature_bytes"] if "peak" in record else None
    return None if record.get(name) is None else float(record[name])
