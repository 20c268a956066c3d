"""One part of the report: tables and pictures, and where they come from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpgc.errors import DataError
from gpgc_lab.cells import from_json
from gpgc_lab.origin import describe
from gpgc_lab.tables import Table


@dataclass(frozen=True)
class Section:
    """What the report shows of one study.

    Attributes
    ----------
    name, title, about : str
        Anchor, heading, and a sentence.
    tables, pictures : list
        With the paper's numbers beside ours; PNG files.
    origins : list of str
        Markdown, a line for rows that were made together.
    missing : str
        Why there is nothing to show, empty where there is.
    """

    name: str
    title: str
    about: str
    tables: list[Table] = field(default_factory=list)
    pictures: list[Path] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)
    missing: str = ""


def read_tables(path: Path) -> list[Table]:
    """Return the tables in a JSON file that ``write_tables`` wrote."""
    try:
        stored = json.loads(path.read_text())
        return [
            Table(
                name,
                table["title"],
                list(table["rows"][0]) if table["rows"] else [],
                [list(map(from_json, row.values())) for row in table["rows"]],
                table["notes"],
            )
            for name, table in stored.items()
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path}: expected tables that gpgc reproduce wrote: {error}") from error


def run_origins(runs: Sequence[dict[str, Any]], since: str) -> list[str]:
    """Return which rows were stored before the moment ``since`` and which made after it.

    Examples
    --------
    >>> where = {"processor": "Xeon", "cores": 2, "versions": {}}
    >>> run = {"system": "LP", "command": "gpgc compare cora", "machine": where}
    >>> run_origins([{**run, "date": "2030-01-01T00:00:00"}], since="2030-01-02")
    ['Stored: LP. `gpgc compare cora`, 2030-01-01, Xeon, 2 cores ()']
    """
    groups: dict[tuple[bool, str], dict[str, None]] = {}
    for run in runs:
        groups.setdefault((run["date"] >= since, describe(run)), {})[run["system"]] = None
    return [
        f"{'Fresh' if is_fresh else 'Stored'}: {', '.join(systems)}. {known}"
        for (is_fresh, known), systems in groups.items()
    ]
